import { createHash } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import type { Backup } from "../contract/backups/backup.ts";
import type { ServiceProcess } from "../server/testing/service-process.ts";
import { type Bucket, test } from "./bucket.ts";
import { expect } from "./fixtures.ts";
import {
  connectAs,
  createReadingToken,
  expectAccessible,
  expectAccessibleInBoth,
  expectNoSidewaysScroll,
  expectToast,
} from "./helpers.ts";
import { action, breakDatabase, newestOf, pathOf, showBackup } from "./backup-helpers.ts";

test.describe("a configuration's page", () => {
  test("links to a run, which shows its progress until it is finished, with its checksum and lock", async ({
    connected: page,
    service,
    backups,
    bucket,
    context,
  }) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const { id, name } = await bucket.createConfiguration();
    bucket.lock(new Date("2999-01-02T03:04:05Z"));
    const release = bucket.hold();
    await page.goto(`${service.url}/backup-configurations/${id}`);
    await expect(page.getByText("No backup yet.")).toBeVisible();
    await page.getByRole("button", { name: `Run now: ${name}` }).click();
    await page.getByRole("link", { name: /^Backup \d+$/ }).click();

    await expect(page.getByRole("heading", { level: 1 })).toHaveText(/^Backup \d+$/);
    const main = page.getByRole("main");
    await expect(main.getByText("running", { exact: true })).toBeVisible();
    await expect(page.getByRole("progressbar", { name: "Progress" })).toBeVisible();
    await expect(main).toContainText(/[1-9][\d.]* MB read, [\d.]+ [kM]B stored/);
    await expect(page.getByRole("button", { name: /^Restore backup/ })).toHaveAccessibleDescription(
      "Can't restore while the status is running.",
    );

    release();
    await expect(main.getByText("finished", { exact: true })).toBeVisible();
    await expect(page.getByRole("log", { name: "Output" })).toContainText(
      "verified by the storage's checksums",
    );
    await expect(page.getByRole("progressbar")).toBeHidden();
    await expect(main).toContainText("20 MB");
    const backup = newestOf(await backups.configuration(id));
    await expect(main).toContainText("Its storage refuses to delete it before.");
    await expect(action(page, "Delete", backup.id)).toHaveAccessibleDescription(
      "Can't delete: the storage has locked the backup until 2999-01-02 03:04 UTC.",
    );
    expect((await service.call("DELETE", `/api/backup/${backup.id}`)).status).toBe(409);
    await page.getByRole("button", { name: "Copy checksum" }).click();
    const stored = await bucket.content(backup);
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      createHash("sha256").update(stored).digest("hex"),
    );
  });

  test("shows its history, the next runs in both time zones, and what retention removes next", async ({
    connected: page,
    service,
    backups,
  }) => {
    const { id } = await backups.createConfiguration({ hold: 2 });
    const first = newestOf(await backups.run(id));
    const second = newestOf(await backups.run(id));
    const content = await readFile(backups.database.file);
    await breakDatabase(backups);
    const third = newestOf(await backups.run(id));
    await writeFile(backups.database.file, content);

    await page.goto(`${service.url}/backup-configurations/${id}`);
    const strip = page.getByRole("list", { name: "Last runs, oldest first" });
    await expect(strip.getByRole("link")).toHaveText(["", "", ""]);
    const said = (backup: Backup, end: RegExp) =>
      expect(
        strip.getByRole("link", { name: new RegExp(`^Backup ${backup.id}: .*${end.source}$`) }),
      ).toBeVisible();
    await said(first, /finished, [\d.]+ (bytes|kB), [\d.]+ m?s/);
    await said(second, /finished, [\d.]+ (bytes|kB), [\d.]+ m?s/);
    await said(third, /failed, [\d.]+ m?s/);

    const next = page.getByRole("region", { name: "Upcoming" });
    await expect(next).toContainText("America/New_York");
    await expect(next).toContainText("Europe/Berlin");
    await expect(next.getByText(/, 02:30$/)).toHaveCount(5);
    await expect(next.getByRole("link")).toHaveText([`Backup ${first.id}`]);
    await expect(next.getByRole("region", { name: "Storage space" })).toContainText(
      /^Storage spaceAll backups in this storage take [\d.]+ (bytes|[kMG]B), and [\d.]+ [GT]B are free\./,
    );
    await expect(page.getByText("The last run failed.")).toBeVisible();
    await expectAccessible(page);

    // The page stays current: after the run that removes this backup, another one is next.
    await page.getByRole("button", { name: "Run now: Orders, nightly" }).click();
    await expect(next.getByRole("link")).toHaveText([`Backup ${second.id}`]);
    await expect(page.getByText("The newest backup is good and on time.")).toBeVisible();
  });

  test("shows a run of its history on hover and by keyboard, and links to it @long", async ({
    connected: page,
    service,
    backups,
  }) => {
    const { id } = await backups.createConfiguration();
    const good = newestOf(await backups.run(id));
    await breakDatabase(backups);
    const failed = newestOf(await backups.run(id));
    await page.goto(`${service.url}/backup-configurations/${id}`);
    const history = page.getByRole("region", { name: "History" });
    const run = (backup: Backup) =>
      history.getByRole("link", { name: new RegExp(`^Backup ${backup.id}: `) });
    await expect(history.getByText("Last run")).toBeVisible();
    await expect(history.getByText("failed", { exact: true })).toBeVisible();
    await run(good).hover();
    await expect(history.getByText("finished", { exact: true })).toBeVisible();
    await expect(history.getByText(/^[\d.]+ (bytes|kB)$/).first()).toBeVisible();
    await page.mouse.move(0, 0);
    await expect(history.getByText("failed", { exact: true })).toBeVisible();
    // The chart is one tab stop: the newest run, from which the arrow keys lead to the others.
    await expect(run(good)).toHaveAttribute("tabindex", "-1");
    await run(failed).focus();
    await page.keyboard.press("ArrowRight");
    await expect(run(failed)).toBeFocused();
    await page.keyboard.press("ArrowLeft");
    await expect(run(good)).toBeFocused();
    await expect(history.getByText("finished", { exact: true })).toBeVisible();
    await page.emulateMedia({ forcedColors: "active" });
    await expectAccessible(page, "main");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(`Backup ${good.id}`);
  });

  test("shows the number of rows of each table, and warns about one that lost many", async ({
    connected: page,
    service,
    backups,
  }) => {
    const content = new DatabaseSync(backups.database.file);
    content.exec("create table visits (id integer primary key)");
    const fill = content.prepare("insert into visits default values");
    for (let count = 0; count < 50; count++) fill.run();
    const { id } = await backups.createConfiguration();
    for (let count = 0; count < 3; count++) await backups.run(id);
    content.exec("delete from visits where id > 20");
    content.close();
    await backups.run(id);
    await page.goto(`${service.url}/backup-configurations/${id}`);
    await expect(page.getByText(/visits −60% \(20, before 50\)/).first()).toBeVisible();
    const row = page
      .getByRole("table", { name: "Table history" })
      .getByRole("row")
      .filter({ hasText: "visits" });
    await expect(row.getByRole("cell")).toContainText(["visits", "20", "−30 (−60%)", ""]);
    const chart = row.getByRole("slider", { name: "History of visits" });
    await expect(chart).toHaveAttribute("aria-valuetext", /^20 at /);
    await chart.focus();
    await page.keyboard.press("Home");
    await expect(chart).toHaveAttribute("aria-valuetext", /^50 at /);
    await expectAccessible(page);
  });

  test("pages through its backups, with the page in the URL @long", async ({
    connected: page,
    service,
    backups,
  }) => {
    test.slow();
    const { id } = await backups.createConfiguration({ hold: 30 });
    for (let count = 0; count < 21; count++) await backups.run(id);
    await page.goto(`${service.url}/backup-configurations/${id}`);
    const rows = page.getByRole("table", { name: "Backups" }).getByRole("row");
    await expect(rows).toHaveCount(21);
    await page.getByRole("link", { name: "Next" }).click();
    await expect(page).toHaveURL(/page=2/);
    await expect(rows).toHaveCount(2);
  });
});

test("a failed run shows why, and offers neither restore nor download @long", async ({
  connected: page,
  service,
  backups,
}) => {
  const { id } = await backups.createConfiguration();
  await breakDatabase(backups);
  const backup = newestOf(await backups.run(id));
  await page.goto(`${service.url}/backups/${backup.id}`);
  const main = page.getByRole("main");
  await expect(main.getByText("failed", { exact: true })).toBeVisible();
  await expect(main.getByText("It isn't a SQLite database.").first()).toBeVisible();
  for (const [name, verb] of [
    ["Restore", "restore"],
    ["Download", "download"],
    ["Restore drill", "run a drill"],
  ] as const)
    await expect(action(page, name, backup.id)).toHaveAccessibleDescription(
      `Can't ${verb} while the status is failed.`,
    );
  await expectAccessible(page);
});

test.describe("a run", () => {
  /** Starts a run that continues once the bucket lets it. */
  const startRun = async (service: ServiceProcess, bucket: Bucket) => {
    const configuration = await bucket.createConfiguration();
    const release = bucket.hold();
    const answer = await service.call("POST", `/api/backup/${configuration.id}`);
    const { id }: Backup = await answer.json();
    return { id, release };
  };

  test("is canceled after a confirmation that says what is kept, and cannot be canceled again @long", async ({
    connected: page,
    service,
    bucket,
  }) => {
    const { id } = await startRun(service, bucket);
    await page.goto(`${service.url}/backups/${id}`);
    await expect(action(page, "Cancel", id)).toBeEnabled();
    await expect(page.locator("[popover]")).toBeAttached();
    // On lists the key selects rows; here it presses the button.
    await page.keyboard.press("x");
    const dialog = page.getByRole("alertdialog");
    await expect(dialog).toContainText("The partial file is deleted");
    await dialog.getByRole("button", { name: "Cancel run" }).click();
    await expectToast(page, "status", `Canceling backup ${id}.`);
    const main = page.getByRole("main");
    await expect(main.getByText("failed", { exact: true })).toBeVisible();
    await expect(main.getByText(/^Canceled by .+\.$/).first()).toBeVisible();
    await expect(action(page, "Cancel", id)).toHaveAccessibleDescription(
      "Can't cancel: nothing is running.",
    );
  });

  test("cannot be canceled by a read-only token @long", async ({ page, service, bucket }) => {
    const token = await createReadingToken(service);
    const { id, release } = await startRun(service, bucket);
    await connectAs(page, service.url, token);
    await page.goto(`${service.url}/backups/${id}`);
    await expect(action(page, "Cancel", id)).toBeDisabled();
    await expect(action(page, "Cancel", id)).toHaveAccessibleDescription(/read/);
    release();
    await expect.poll(async () => (await showBackup(service, id)).status).toBe("finished");
  });
});

test("a pinned backup can't be deleted until it is unpinned, and deleting it removes its file and returns to its configuration @long", async ({
  connected: page,
  service,
  backups,
}) => {
  const { id, name } = await backups.createConfiguration();
  const backup = newestOf(await backups.run(id));
  const file = pathOf(backups, backup);
  expect((await stat(file)).size).toBe(backup.size);
  await page.goto(`${service.url}/backups/${backup.id}`);
  await action(page, "Pin", backup.id).click();
  await expectToast(page, "status", `Backup ${backup.id} pinned.`);
  await expect(page.getByText(/Not deleted until it is unpinned\.$/)).toBeVisible();
  await expect(action(page, "Unpin", backup.id)).toBeFocused();
  await expect(action(page, "Delete", backup.id)).toHaveAccessibleDescription(
    "Can't delete: the backup is pinned. Unpin it first.",
  );
  await expectAccessible(page);

  await page.getByRole("link", { name, exact: true }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(name);
  const link = page.getByRole("link", { name: `Backup ${backup.id}`, exact: true });
  await expect(page.getByRole("row").filter({ has: link })).toContainText("pinned");
  await expect(action(page, "Delete", backup.id)).toHaveAccessibleDescription(/Unpin it first/);
  await link.click();
  await action(page, "Unpin", backup.id).click();
  await expectToast(page, "status", `Backup ${backup.id} unpinned.`);

  await action(page, "Delete", backup.id).click();
  const dialog = page.getByRole("alertdialog");
  await expect(dialog).toContainText(backup.path);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  expect((await showBackup(service, backup.id)).status).toBe("finished");

  await action(page, "Delete", backup.id).click();
  await dialog.getByRole("button", { name: "Delete backup" }).click();
  await expectToast(page, "status", `Deleting backup ${backup.id}.`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(name);
  await expect(page.getByText("No backups yet")).toBeVisible();
  await expect.poll(() => stat(file).catch(() => null)).toBeNull();
});

test("a configuration, a backup and the overview are accessible and fit 360 px, light and dark @long", async ({
  connected: page,
  service,
  backups,
}) => {
  // There are many pages, and axe is slow.
  test.slow();
  await page.setViewportSize({ width: 360, height: 740 });
  const { id } = await backups.createConfiguration({
    name: "a-rather-long-name-that-nobody-would-break-into-parts-by-hand",
    frequency: "*/15 9-17 * * 1-5",
    drill: 7,
  });
  await backups.run(id);
  const backup = newestOf(await backups.run(id));
  for (const path of ["/", `/backup-configurations/${id}`, `/backups/${backup.id}`]) {
    await page.goto(service.url + path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expectNoSidewaysScroll(page);
    await expectAccessibleInBoth(page);
  }
  await action(page, "Restore", backup.id).click();
  await expect(page.getByRole("alertdialog")).toBeVisible();
  await expectNoSidewaysScroll(page);
  await expectAccessibleInBoth(page);
});
