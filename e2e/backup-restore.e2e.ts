import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Locator } from "@playwright/test";
import { type Backups, expect, test } from "./fixtures.ts";
import {
  configurationRow,
  expectAccessible,
  expectRow,
  expectToast,
  openWithin,
} from "./helpers.ts";
import {
  action,
  breakDatabase,
  damage,
  newestOf,
  pathOf,
  runOnce,
  showBackup,
} from "./backup-helpers.ts";

/** Returns the rows of the database, read over a connection of its own. */
function notesIn({ database }: Backups): unknown[] {
  const connection = new DatabaseSync(database.file, { readOnly: true });
  try {
    return connection
      .prepare("select note from orders order by id")
      .all()
      .map(({ note }) => note);
  } finally {
    connection.close();
  }
}

function change({ database }: Backups, statement: string): void {
  const connection = new DatabaseSync(database.file);
  connection.exec(statement);
  connection.close();
}

test.describe("a restore drill", () => {
  test("shows on the backup and on its configuration that it can be restored", async ({
    connected: page,
    service,
    backups,
  }) => {
    const { id, name } = await backups.createConfiguration({ drill: 7 });
    const backup = newestOf(await backups.run(id));
    await page.goto(`${service.url}/backups/${backup.id}`);
    await action(page, "Restore drill", backup.id).click();
    await expect(page.getByText(/^Restore drill passed/)).toBeVisible();
    await expect(page.getByRole("log", { name: "Drill output" })).toContainText(
      "50 rows restored exactly",
    );
    await expectAccessible(page);
    await page.getByRole("link", { name, exact: true }).click();
    await expect(page.getByRole("row").filter({ hasText: "drill passed" })).toHaveCount(1);
  });

  test("is followed to its end, even if the rest of the page shows its start late @long", async ({
    connected: page,
    service,
    backups,
  }) => {
    test.slow();
    // Large enough for the page to see the running state, and small enough to end soon on a busy disk.
    await writeFile(join(backups.site.root, "video.bin"), randomBytes(40_000_000));
    const { id } = await backups.createConfiguration({
      backupable_type: "site",
      backupable_id: backups.site.id,
    });
    const backup = newestOf(await backups.run(id));
    await page.goto(`${service.url}/backups/${backup.id}`);
    await expect(action(page, "Restore drill", backup.id)).toBeEnabled();
    await page.route(`**/api/backup-configuration/${id}`, async (route) => {
      const status = async () => (await showBackup(service, backup.id)).drill_status;
      await expect.poll(status, { timeout: 20_000 }).toBe("finished");
      await route.continue();
    });
    await action(page, "Restore drill", backup.id).click();
    await expect(page.getByText(/^Restore drill passed/)).toBeVisible({ timeout: 30_000 });
  });

  test("detects a damaged backup, and shows the failure in red", async ({
    connected: page,
    service,
    backups,
  }) => {
    const { id } = await backups.createConfiguration();
    const backup = newestOf(await backups.run(id));
    await damage(pathOf(backups, backup));
    await page.goto(`${service.url}/backups/${backup.id}`);
    await action(page, "Restore drill", backup.id).click();
    await expect(page.getByText(/^Restore drill failed/)).toBeVisible();
    await expect(page.getByText(/^The stored file is damaged/)).toBeVisible();
    await openWithin(page, `/backup-configurations/${id}`);
    await expect(page.getByRole("link", { name: /^Backup \d+: .*damaged/ })).toBeVisible();
    await expect(page.getByText("Every stored backup is damaged.")).toBeVisible();
    await expect(page.getByText(`Backup ${backup.id} failed its restore drill`)).toBeVisible();
    await page.getByRole("link", { name: `Open backup ${backup.id}` }).click();
    await expect(page.getByText(/^Restore drill failed/)).toBeVisible();
  });
});

test.describe("a restore", () => {
  test("asks for a separate confirmation when the broken source cannot be backed up first", async ({
    connected: page,
    service,
    backups,
  }) => {
    const { id, name } = await backups.createConfiguration();
    const backup = newestOf(await backups.run(id));
    await breakDatabase(backups);
    await page.goto(`${service.url}/backups/${backup.id}`);
    await action(page, "Restore", backup.id).click();
    const dialog = page.getByRole("alertdialog");
    const yes = dialog.getByRole("button", { name: "Restore" });
    await dialog.getByRole("textbox").fill(backups.database.name);
    await yes.click();
    await expect(page.getByText("restore again without a backup")).toBeVisible();
    // The failed backup was a safety backup, not a scheduled run.
    await openWithin(page, `/servers/${backups.server.id}/backups`);
    await expectRow(configurationRow(page, name), "failed", "before restore");

    await openWithin(page, `/backups/${backup.id}`);
    await action(page, "Restore", backup.id).click();
    await dialog.getByRole("radio", { name: "Restore without a backup" }).check();
    await expect(dialog).toContainText("the restore can't be undone");
    await dialog.getByRole("textbox").fill(backups.database.name);
    await expect(yes).toHaveAccessibleDescription("Type “discard” first.");
    await expectAccessible(page);
    await dialog.getByRole("textbox").fill("discard");
    await yes.click();
    await expect(page.getByText(/^Restore finished/)).toBeVisible({ timeout: 20_000 });
    expect(notesIn(backups)).toHaveLength(50);
  });

  test("restores the old rows, and can be undone", async ({
    connected: page,
    service,
    backups,
  }) => {
    const { id } = await backups.createConfiguration();
    const backup = newestOf(await backups.run(id));
    change(backups, "delete from orders where id > 3; insert into orders (note) values ('late')");
    const before = notesIn(backups);
    expect(before).toHaveLength(4);

    const restore = async (button: Locator) => {
      await button.click();
      const dialog = page.getByRole("alertdialog");
      await expect(dialog.getByText("Restoring", { exact: true })).toBeVisible();
      await expect(dialog.getByText("Replacing", { exact: true })).toBeVisible();
      await dialog.getByRole("textbox").fill(backups.database.name);
      await dialog.getByRole("button", { name: "Restore" }).click();
      await expect(dialog).toBeHidden();
    };
    // The restore takes a safety backup first and verifies, which is slow on a busy disk.
    const expectRestored = () =>
      expect(page.getByText(/^Restore finished/)).toBeVisible({ timeout: 20_000 });
    await page.goto(`${service.url}/backups/${backup.id}`);
    await restore(action(page, "Restore", backup.id));
    await expectRestored();
    await expect(page.getByRole("log", { name: "Restore output" })).toContainText("Restored.");
    expect(notesIn(backups)).toHaveLength(50);
    expect(notesIn(backups)).toContain("order 49");

    // The safety backup is a backup of its own.
    const safety = newestOf(await backups.configuration(id));
    expect(safety.trigger).toBe("safety");
    await expect(page.getByRole("main")).toContainText(
      `Previous data saved as backup ${safety.id}.`,
    );
    await restore(page.getByRole("button", { name: "Undo restore" }));
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(`Backup ${safety.id}`);
    await expect(page.getByRole("main")).toContainText("Before restore");
    await expect(page.getByText("To be deleted", { exact: true })).toBeVisible();
    await expectRestored();
    expect(notesIn(backups)).toEqual(before);
    // The undo can be undone; the first restore cannot be undone a second time.
    await expect(page.getByRole("button", { name: "Undo restore" })).toBeEnabled();
    await openWithin(page, `/backups/${backup.id}`);
    await expect(page.getByRole("main")).toContainText(
      `Previous data saved as backup ${safety.id}.`,
    );
    await expect(page.getByRole("button", { name: "Undo restore" })).toHaveCount(0);
  });

  test("that ends while the user is on another page shows a toast with the undo @long", async ({
    connected: page,
    service,
    backups,
  }) => {
    const { id, name } = await backups.createConfiguration();
    const backup = newestOf(await backups.run(id));
    change(backups, "delete from orders where id > 3");
    const before = notesIn(backups);
    await page.goto(`${service.url}/backup-configurations/${id}`);
    await action(page, "Restore", backup.id).click();
    const dialog = page.getByRole("alertdialog");
    await dialog.getByRole("textbox").fill(backups.database.name);
    await dialog.getByRole("button", { name: "Restore" }).click();
    await page.getByRole("link", { name: `${backups.server.name} backups` }).click();
    await expect(configurationRow(page, name)).toBeVisible();
    const undo = page.getByRole("status").getByRole("button", { name: "Undo restore" });
    await expect(undo).toBeVisible({ timeout: 30_000 });
    await expectToast(page, "status", `Backup ${backup.id} restored.`);
    expect(notesIn(backups)).toHaveLength(50);
    await undo.click();
    await expect(dialog).toContainText(`Undo the restore of backup ${backup.id}?`);
    const yes = dialog.getByRole("button", { name: "Undo restore" });
    await expect(yes).toBeDisabled();
    await expectAccessible(page);
    await dialog.getByRole("textbox").fill(backups.database.name);
    await yes.click();
    await expect.poll(() => notesIn(backups), { timeout: 30_000 }).toEqual(before);
  });

  test("that was undone before its end was shown on another page offers no undo there @long", async ({
    connected: page,
    service,
    backups,
  }) => {
    const { id, name } = await backups.createConfiguration();
    const backup = newestOf(await backups.run(id));
    await page.goto(`${service.url}/backup-configurations/${id}`);
    await action(page, "Restore", backup.id).click();
    const dialog = page.getByRole("alertdialog");
    await dialog.getByRole("textbox").fill(backups.database.name);
    const held = Promise.withResolvers<void>();
    await page.route(`**/api/backup/${backup.id}`, async (route) => {
      if (route.request().method() === "GET") await held.promise;
      await route.continue();
    });
    await dialog.getByRole("button", { name: "Restore" }).click();
    await expect(dialog).toBeHidden();
    const expectRestored = (backupId: number) =>
      expect
        .poll(async () => (await showBackup(service, backupId)).restore_status)
        .toBe("finished");
    await expectRestored(backup.id);
    const safety = newestOf(await backups.configuration(id));
    await service.call("PUT", `/api/backup/${safety.id}`, {});
    await expectRestored(safety.id);
    await page.getByRole("link", { name: `${backups.server.name} backups` }).click();
    await expect(configurationRow(page, name)).toBeVisible();
    held.resolve();
    await expectToast(page, "status", `Backup ${backup.id} restored.`);
    // Checks at once, not after the toast has closed by itself.
    expect(await page.getByRole("button", { name: "Undo restore" }).count()).toBe(0);
  });

  test("does not start while the typed name differs from the target's, nor after Escape @long", async ({
    connected: page,
    service,
    backups,
  }) => {
    const { id, name } = await backups.createConfiguration();
    const backup = newestOf(await backups.run(id));
    await page.goto(`${service.url}/backups/${backup.id}`);
    await action(page, "Restore", backup.id).click();
    const dialog = page.getByRole("alertdialog");
    const yes = dialog.getByRole("button", { name: "Restore" });
    await expect(yes).toBeDisabled();
    // The dialog asks for the name of what would be overwritten, not for the configuration's.
    await dialog.getByRole("textbox").fill(name);
    await expect(yes).toBeDisabled();
    await expect(yes).toHaveAccessibleDescription(`Type “${backups.database.name}” first.`);
    await yes.click({ force: true });
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    await expect(dialog).toBeHidden();
    await expect(action(page, "Restore", backup.id)).toBeFocused();
    expect((await showBackup(service, backup.id)).restore_status).toBeNull();
  });

  test("of a damaged backup fails, says why, and leaves the database unchanged @long", async ({
    connected: page,
    service,
    backups,
  }) => {
    const backup = await runOnce(backups);
    await damage(pathOf(backups, backup));
    change(backups, "insert into orders (note) values ('newer than the backup')");
    await page.goto(`${service.url}/backups/${backup.id}`);
    await action(page, "Restore", backup.id).click();
    const dialog = page.getByRole("alertdialog");
    await dialog.getByRole("textbox").fill(backups.database.name);
    await dialog.getByRole("button", { name: "Restore" }).click();
    await expect(page.getByText(/^Restore failed/)).toBeVisible();
    await expect(page.getByText(/^The stored file is damaged/)).toBeVisible();
    expect(notesIn(backups)).toContain("newer than the backup");
  });
});
