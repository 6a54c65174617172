import { randomBytes } from "node:crypto";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { test } from "./bucket.ts";
import { type Backups, expect } from "./fixtures.ts";
import {
  configurationRow,
  expectAccessible,
  expectAccessibleInBoth,
  expectNoSidewaysScroll,
  expectRow,
  expectToast,
} from "./helpers.ts";
import { listOf, newestOf } from "./backup-helpers.ts";

const press = (page: Page, action: string, name: string) =>
  page.getByRole("button", { name: `${action}: ${name}`, exact: true }).click();

/** Returns the files that a configuration has in the storage, at any depth of its folder. */
const storedFiles = ({ provider }: Backups, directory: string): Promise<string[]> =>
  readdir(join(provider.folder, directory), { recursive: true }).catch(() => []);

test.describe("running a backup now", () => {
  test("shows the finished backup with its size in the list, and marks a nearly empty one as needing attention", async ({
    connected: page,
    service,
    backups,
  }) => {
    const { directory } = await backups.createConfiguration({
      directory: `run-${backups.server.id}`,
    });
    await page.goto(service.url + listOf(backups));
    const row = configurationRow(page, "Orders, nightly");
    await expectRow(row, "unprotected", "Never");
    await press(page, "Run now", "Orders, nightly");
    await expectRow(row, "finished", "needs attention");
    await expect(row).toContainText("Nearly empty");
    await expect(row.getByText("protected", { exact: true })).toBeHidden();
    await expect(row.getByText(/^[\d.]+ (bytes|kB)$/).filter({ visible: true })).toBeVisible();
    await expect(page.getByRole("button", { name: "Run now: Orders, nightly" })).toBeFocused();
    expect((await storedFiles(backups, directory)).join()).toMatch(/\.sqlite/);
    await expectAccessible(page);
  });

  test("reports a refusal of the service, and keeps the list @long", async ({
    connected: page,
    service,
    backups,
    expected,
  }) => {
    expected.push(/404 \(Not Found\)/);
    await backups.createConfiguration({ name: "Stays" });
    const { id } = await backups.createConfiguration();
    await page.goto(service.url + listOf(backups));
    await expectRow(configurationRow(page, "Orders, nightly"), "unprotected");
    await service.call("DELETE", `/api/backup-configuration/${id}`);
    await press(page, "Run now", "Orders, nightly");
    await expectToast(page, "alert", "Couldn't run “Orders, nightly”.");
    await expect(configurationRow(page, "Orders, nightly")).toBeHidden();
    await expect(configurationRow(page, "Stays")).toBeVisible();
  });
});

test.describe("a run in its list row", () => {
  test("shows its progress and is canceled there, after a confirmation that says what is kept", async ({
    connected: page,
    service,
    backups,
    bucket,
  }) => {
    const { id, name } = await bucket.createConfiguration();
    bucket.hold();
    await page.goto(service.url + listOf(backups));
    const row = configurationRow(page, name);
    await press(page, "Run now", name);
    await expect(row.getByRole("progressbar", { name: "Run: progress" })).toBeVisible();
    await expect(
      row.getByText(/^[\d.]+ (bytes|[kM]B) read$/).filter({ visible: true }),
    ).toBeVisible();
    // The pressed button has become the cancel button, and still has the focus.
    const cancel = page.getByRole("button", { name: `Cancel run: ${name}` });
    await expect(cancel).toBeFocused();
    await cancel.click();
    const dialog = page.getByRole("alertdialog");
    await expect(dialog).toContainText("The partial file is deleted");
    await dialog.getByRole("button", { name: "Cancel run" }).click();
    await expectRow(row, "failed");
    await expect(page.getByRole("button", { name: `Run now: ${name}` })).toBeEnabled();
    expect(newestOf(await backups.configuration(id)).status_reason).toMatch(
      /^Canceled by .+\. Nothing was stored\.$/,
    );
  });

  test("is canceled in the configuration's history, too, and the focus is not lost with its button @long", async ({
    connected: page,
    service,
    backups,
    bucket,
  }) => {
    const { id } = await bucket.createConfiguration();
    bucket.hold();
    await service.call("POST", `/api/backup/${id}`);
    const { id: backupId } = newestOf(await backups.configuration(id));
    await page.goto(`${service.url}/backup-configurations/${id}`);
    const cancel = page.getByRole("button", { name: `Cancel backup ${backupId}` });
    await cancel.press("Enter");
    await page.getByRole("alertdialog").getByRole("button", { name: "Cancel run" }).press("Enter");
    await expect(cancel).toBeHidden();
    await expect(page.getByRole("heading", { level: 1 })).toBeFocused();
  });

  test("shows a restore, too, which leaves the data unchanged when canceled @long", async ({
    connected: page,
    service,
    backups,
    bucket,
  }) => {
    const { id, name } = await bucket.createConfiguration();
    const backup = newestOf(await backups.run(id));
    await writeFile(join(backups.site.root, "later.txt"), "newer than the backup");
    bucket.hold();
    await service.call("PUT", `/api/backup/${backup.id}`);
    await page.goto(service.url + listOf(backups));
    const row = configurationRow(page, name);
    await page.getByRole("button", { name: `Cancel restore: ${name}` }).click();
    const dialog = page.getByRole("alertdialog");
    await expect(dialog).toContainText("Current data stays unchanged");
    await expectRow(row, `Restore of backup ${backup.id} running`);
    await dialog.getByRole("button", { name: "Cancel restore" }).click();
    await expect(page.getByRole("button", { name: `Run now: ${name}` })).toBeEnabled();
    await page.goto(`${service.url}/backups/${backup.id}`);
    await expect(page.getByRole("log", { name: "Restore output" })).toContainText(
      /Canceled by .+\. Nothing was changed\./,
    );
    expect(await readdir(backups.site.root)).toContain("later.txt");
  });

  test("that ends before the confirmation closes it, and says so @long", async ({
    connected: page,
    service,
    backups,
    bucket,
  }) => {
    const { id, name } = await bucket.createConfiguration();
    const release = bucket.hold();
    await service.call("POST", `/api/backup/${id}`);
    await page.goto(service.url + listOf(backups));
    await page.getByRole("button", { name: `Cancel run: ${name}` }).click();
    const dialog = page.getByRole("alertdialog");
    await expect(dialog).toBeVisible();
    await expectAccessible(page);
    release();
    await expect(dialog).toBeHidden();
    const { id: backupId, status } = newestOf(await backups.configuration(id));
    expect(status).toBe("finished");
    await expectToast(
      page,
      "status",
      `Nothing to cancel: the run of backup ${backupId} has ended.`,
    );
  });
});

test.describe("deleting a backup", () => {
  test("does nothing while the typed name is wrong or after Cancel, and keeps or deletes the stored files as selected", async ({
    connected: page,
    service,
    backups,
  }) => {
    const hasCopies = async (directory: string) =>
      (await storedFiles(backups, directory)).some((file) => file.endsWith(".zst"));
    const cases = [
      {
        name: "Orders, kept",
        directory: `keep-${backups.server.id}`,
        choice: "Keep stored files",
        isKept: true,
      },
      {
        name: "Orders, deleted",
        directory: `delete-${backups.server.id}`,
        choice: "Delete stored files",
        isKept: false,
      },
    ];
    for (const { name, directory } of cases) {
      const { id } = await backups.createConfiguration({ name, directory });
      await backups.run(id);
      expect(await hasCopies(directory)).toBe(true);
    }
    await page.goto(service.url + listOf(backups));
    const dialog = page.getByRole("alertdialog");
    const field = dialog.getByRole("textbox");
    const confirm = dialog.getByRole("button", { name: "Delete" });
    await press(page, "Delete", "Orders, kept");
    await field.fill("orders");
    await expect(confirm).toHaveAccessibleDescription(/Type “Orders, kept” first/);
    await confirm.click({ force: true });
    await field.press("Enter");
    await expect(dialog).toBeVisible();
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await expect(dialog).toBeHidden();

    for (const { name, directory, choice, isKept } of cases) {
      await press(page, "Delete", name);
      await expect(dialog).toContainText(directory);
      await expect(confirm).toBeDisabled();
      await dialog.getByRole("radio", { name: choice }).check();
      await field.fill(name);
      await field.press("Enter");
      await expect(configurationRow(page, name)).toBeHidden();
      await expect.poll(() => hasCopies(directory)).toBe(isKept);
    }
  });
});

test("a failed configuration shows why, in the list and in its form", async ({
  connected: page,
  service,
  backups,
}) => {
  await rm(backups.database.file);
  const { status_reason: reason } = await backups.createConfiguration();
  expect(reason).toContain(backups.database.file);
  await page.goto(service.url + listOf(backups));
  const row = configurationRow(page, "Orders, nightly");
  await expectRow(row, "failed", reason ?? "");
  await press(page, "Run now", "Orders, nightly");
  // One badge for the configuration, one for its run.
  await expect(row.getByText("failed", { exact: true }).filter({ visible: true })).toHaveCount(2);
});

test("a server's backups are linked from its name in the navigation, and an unknown server has none @long", async ({
  connected: page,
  service,
  expected,
}) => {
  await page.goto(service.url);
  const mine = page
    .getByRole("navigation", { name: "Main" })
    .getByRole("link", { name: "web-1", exact: true });
  await mine.click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Backups");
  await expect(page).toHaveURL(`${service.url}/servers/1/backups`);
  await expect(mine).toHaveAttribute("aria-current", "true");

  expected.push(/404 \(Not Found\)/);
  await page.goto(`${service.url}/servers/999/backups`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Not found");
  await expectAccessible(page);
});

test("every page is accessible and fits 360 px, light and dark @long", async ({
  connected: page,
  service,
  backups,
}) => {
  // There are three pages and a run, and axe is slow.
  test.slow();
  await page.setViewportSize({ width: 360, height: 740 });
  const { id } = await backups.createConfiguration({
    name: "a-rather-long-name-that-nobody-would-break-into-parts-by-hand",
    frequency: "*/15 9-17 * * 1-5",
  });
  await backups.run(id);
  for (const path of [
    listOf(backups),
    `${listOf(backups)}/new`,
    `/backup-configurations/${id}/edit`,
  ]) {
    await page.goto(service.url + path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expectNoSidewaysScroll(page);
    await expectAccessibleInBoth(page);
  }
});

test("a long comparison with the usual size covers and cuts off nothing at any width @long", async ({
  connected: page,
  service,
  backups,
}) => {
  const { id, name } = await backups.createConfiguration({
    name: "Blog files",
    frequency: "* * * * *",
    incremental: true,
    backupable_type: "site",
    backupable_id: backups.site.id,
  });
  for (const length of [100_000, 250_000]) {
    await writeFile(join(backups.site.root, `upload-${length}`), randomBytes(length));
    await backups.run(id);
  }
  await page.goto(service.url + listOf(backups));
  const row = configurationRow(page, name);
  const rightOf = (one: Locator) => one.evaluate((part) => part.getBoundingClientRect().right);
  for (const width of [1440, 1092, 836, 768, 740, 360]) {
    await page.setViewportSize({ width, height: 740 });
    const trend = row.getByText(/^usually about .+ before compression$/).filter({ visible: true });
    await expect(trend).toBeVisible();
    const right = await rightOf(trend.locator("xpath=.."));
    expect(await rightOf(trend), `${width} px`).toBeLessThanOrEqual(right);
    const frame = page.getByRole("table", { name: "Backups" }).locator("xpath=..");
    const remove = page.getByRole("button", { name: `Delete: ${name}` });
    expect(await rightOf(remove), `${width} px`).toBeLessThanOrEqual(await rightOf(frame));
  }
});
