import { createHash, randomBytes } from "node:crypto";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Locator, Page } from "@playwright/test";
import type { Backup, BackupConfiguration } from "../contract/backups/backup.ts";
import { defaultPerPage, maxPerPage } from "../contract/paging.ts";
import { serviceToken, type ServiceProcess } from "../server/testing/service-process.ts";
import { type Backups, expect, test } from "./fixtures.ts";
import {
  configurationRow,
  connectAs,
  expectAccessible,
  expectAccessibleInBoth,
  expectNoSidewaysScroll,
  expectRow,
  expectToast,
} from "./helpers.ts";

const action = (page: Page, name: string, id: number): Locator =>
  page.getByRole("button", { name: `${name} backup ${id}`, exact: true });

/** The newest backup of a configuration; there is one. */
function newestOf({ last_backup: last }: BackupConfiguration): Backup {
  if (last === null) throw new Error("There is no backup yet.");
  return last;
}

const pathOf = ({ provider }: Backups, { path }: Backup) => join(provider.folder, path);

const showBackup = async (service: ServiceProcess, id: number): Promise<Backup> =>
  (await service.call("GET", `/api/backup/${id}`)).json();

/** The rows of the database, read as any other program would. */
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

/** Other bytes, as many as before, so that only reading them shows it. */
const damage = async (file: string) => writeFile(file, randomBytes((await stat(file)).size));

test.describe("a configuration's page", () => {
  test("leads to a run that can be watched until it is finished, with its checksum", async ({
    connected: page,
    service,
    backups,
    context,
  }) => {
    test.slow();
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    // Enough that it takes a while, and nothing that could be made smaller.
    await writeFile(join(backups.site.root, "video.bin"), randomBytes(300_000_000));
    const { id, name } = await backups.createConfiguration({
      name: "Blog files",
      backupable_type: "site",
      backupable_id: backups.site.id,
    });
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

    await expect(main.getByText("finished", { exact: true })).toBeVisible({ timeout: 60_000 });
    await expect(page.getByRole("log", { name: "Output" })).toContainText(
      "verified by reading back",
    );
    await expect(page.getByRole("progressbar")).toBeHidden();
    await expect(main).toContainText("300 MB");
    const backup = newestOf(await backups.configuration(id));
    await page.getByRole("button", { name: "Copy checksum" }).click();
    const stored = await readFile(pathOf(backups, backup));
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      createHash("sha256").update(stored).digest("hex"),
    );
  });

  test("shows its history, the next runs in both zones, and what retention removes next", async ({
    connected: page,
    service,
    backups,
  }) => {
    const { id } = await backups.createConfiguration({ hold: 2 });
    const first = newestOf(await backups.run(id));
    const second = newestOf(await backups.run(id));
    const content = await readFile(backups.database.file);
    await writeFile(backups.database.file, "no database at all\n".repeat(500));
    const third = newestOf(await backups.run(id));
    await writeFile(backups.database.file, content);

    await page.goto(`${service.url}/backup-configurations/${id}`);
    const strip = page.getByRole("list", { name: "Last runs, oldest first" });
    await expect(strip.getByRole("link")).toHaveText(["", "", ""]);
    const said = (backup: Backup, end: RegExp) =>
      expect(
        strip.getByRole("link", { name: new RegExp(`^Backup ${backup.id}: .*${end.source}$`) }),
      ).toBeVisible();
    await said(first, /finished, [\d.]+ (bytes|kB)/);
    await said(second, /finished, [\d.]+ (bytes|kB)/);
    await said(third, /failed/);
    for (const measure of ["Size", "Duration"])
      await expect(
        page.getByRole("img", { name: `${measure} of the last 2 finished runs` }),
      ).toBeVisible();

    const next = page.getByRole("region", { name: "Upcoming" });
    await expect(next).toContainText("America/New_York");
    await expect(next).toContainText("Europe/Berlin");
    await expect(next.getByText(/, 02:30$/)).toHaveCount(5);
    await expect(next.getByRole("link")).toHaveText([`Backup ${first.id}`]);
    await expect(page.getByText("The last run failed.")).toBeVisible();
    await expectAccessible(page);

    // What is looked at stays true: after the run that removes it, another one is next.
    await page.getByRole("button", { name: "Run now: Orders, nightly" }).click();
    await expect(next.getByRole("link")).toHaveText([`Backup ${second.id}`]);
    await expect(page.getByText("The newest backup is good and on time.")).toBeVisible();
  });

  test("pages through its backups, and the page is in the address", async ({
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

test("a run that failed says why, and has nothing to restore or download", async ({
  connected: page,
  service,
  backups,
}) => {
  const { id } = await backups.createConfiguration();
  await writeFile(backups.database.file, "no database at all\n".repeat(500));
  const backup = newestOf(await backups.run(id));
  await page.goto(`${service.url}/backups/${backup.id}`);
  const main = page.getByRole("main");
  await expect(main.getByText("failed", { exact: true })).toBeVisible();
  await expect(main.getByText("It is no SQLite database.").first()).toBeVisible();
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
  /** Enough that it takes a while, and nothing that could be made smaller. */
  const startLongRun = async (service: ServiceProcess, backups: Backups): Promise<Backup> => {
    await writeFile(join(backups.site.root, "video.bin"), randomBytes(300_000_000));
    const { id } = await backups.createConfiguration({
      backupable_type: "site",
      backupable_id: backups.site.id,
    });
    return (await service.call("POST", `/api/backup/${id}`)).json();
  };

  test("is cancelled after a question that says what stays, and then cannot be cancelled again", async ({
    connected: page,
    service,
    backups,
  }) => {
    test.slow();
    const { id } = await startLongRun(service, backups);
    await page.goto(`${service.url}/backups/${id}`);
    await expect(action(page, "Cancel", id)).toBeEnabled();
    await expect(page.locator("[popover]")).toBeAttached();
    // The key selects rows elsewhere; here it is the button's.
    await page.keyboard.press("x");
    const dialog = page.getByRole("alertdialog");
    await expect(dialog).toContainText("The partial file is deleted");
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Cancel run" }).click();
    await expectToast(page, "status", `Cancelling backup ${id}.`);
    const main = page.getByRole("main");
    await expect(main.getByText("failed", { exact: true })).toBeVisible();
    await expect(main.getByText(/^Cancelled by .+\.$/).first()).toBeVisible();
    await expect(action(page, "Cancel", id)).toHaveAccessibleDescription(
      "Can't cancel: nothing is running.",
    );
  });

  test("is not cancelled by a token that may only read", async ({
    page,
    service,
    backups,
    expected,
  }) => {
    test.slow();
    expected.push(/403 \(Forbidden\)/);
    const made = await service.call("POST", "/api/tokens", { name: "viewer", abilities: ["read"] });
    const { token }: { token: string } = await made.json();
    const { id } = await startLongRun(service, backups);
    await connectAs(page, service.url, token);
    await page.goto(`${service.url}/backups/${id}`);
    await action(page, "Cancel", id).click();
    const dialog = page.getByRole("alertdialog");
    await dialog.getByRole("button", { name: "Cancel run" }).click();
    await expect(dialog.getByRole("alert")).toBeVisible();
    await expect
      .poll(async () => (await showBackup(service, id)).status, { timeout: 30_000 })
      .toBe("finished");
  });
});

test.describe("a restore drill", () => {
  test("proves a backup restorable, here and on its configuration", async ({
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

  test("is followed to its end, however late the rest of the page learns of its beginning", async ({
    connected: page,
    service,
    backups,
  }) => {
    test.slow();
    // Enough that the page learns of its beginning, and so little that a busy disk ends it soon.
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

  test("finds a stored copy that went bad, and says so in red", async ({
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
    await page.goto(`${service.url}/backup-configurations/${id}`);
    await expect(page.getByRole("link", { name: /^Backup \d+: .*damaged/ })).toBeVisible();
    await expect(page.getByText("Every stored backup is damaged.")).toBeVisible();
  });
});

test.describe("a restore", () => {
  test("over what is too broken to be saved asks for a word of its own", async ({
    connected: page,
    service,
    backups,
  }) => {
    const { id, name } = await backups.createConfiguration();
    const backup = newestOf(await backups.run(id));
    await writeFile(backups.database.file, "no database at all\n".repeat(500));
    await page.goto(`${service.url}/backups/${backup.id}`);
    await action(page, "Restore", backup.id).click();
    const dialog = page.getByRole("alertdialog");
    const yes = dialog.getByRole("button", { name: "Restore" });
    await dialog.getByRole("textbox").fill(backups.database.name);
    await yes.click();
    await expect(page.getByText("restore again without a backup")).toBeVisible();
    // The failed backup was a safety backup, not a scheduled run.
    await page.goto(`${service.url}/servers/${backups.server.id}/backups`);
    await expectRow(configurationRow(page, name), "failed", "before restore");

    await page.goto(`${service.url}/backups/${backup.id}`);
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

  test("brings the old rows back, and what it replaced can be put back", async ({
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
    // It saves what is there, checks and restores: a busy disk takes its time.
    const expectRestored = () =>
      expect(page.getByText(/^Restore finished/)).toBeVisible({ timeout: 20_000 });
    await page.goto(`${service.url}/backups/${backup.id}`);
    await restore(action(page, "Restore", backup.id));
    await expectRestored();
    await expect(page.getByRole("log", { name: "Restore output" })).toContainText("Restored.");
    expect(notesIn(backups)).toHaveLength(50);
    expect(notesIn(backups)).toContain("order 49");

    // The way back is a backup of its own.
    const safety = newestOf(await backups.configuration(id));
    expect(safety.trigger).toBe("safety");
    await expect(page.getByRole("main")).toContainText(
      `Previous data saved as backup ${safety.id}.`,
    );
    await restore(page.getByRole("button", { name: "Undo restore" }));
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(`Backup ${safety.id}`);
    await expect(page.getByRole("main")).toContainText("Before restore");
    await expect(page.getByText("Kept until", { exact: true })).toBeVisible();
    await expectRestored();
    expect(notesIn(backups)).toEqual(before);
  });

  test("is not done while the typed name is not the target's, nor after Escape", async ({
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
    // The configuration's name is not the name of what would be overwritten.
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

  test("of a copy that went bad fails, says why, and leaves the database as it is", async ({
    connected: page,
    service,
    backups,
  }) => {
    const { id } = await backups.createConfiguration();
    const backup = newestOf(await backups.run(id));
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

test.describe("a download", () => {
  test("is the stored file, under its own name, by an address without the token that works once", async ({
    connected: page,
    service,
    backups,
  }) => {
    const { id } = await backups.createConfiguration();
    const backup = newestOf(await backups.run(id));
    const addresses: string[] = [];
    page.on("request", (request) => addresses.push(request.url()));
    await page.goto(`${service.url}/backups/${backup.id}`);
    const arriving = page.waitForEvent("download");
    await action(page, "Download", backup.id).click();
    const download = await arriving;
    expect(download.suggestedFilename()).toBe(basename(backup.path));
    expect(await readFile(await download.path())).toEqual(await readFile(pathOf(backups, backup)));
    await expectToast(page, "status", `Download of backup ${backup.id} started.`);
    await expect(page).toHaveURL(`${service.url}/backups/${backup.id}`);
    expect(download.url()).toMatch(/\/file\?code=\w+$/);
    expect((await fetch(download.url())).status).toBe(401);
    for (const address of [...addresses, download.url()])
      expect(decodeURIComponent(address)).not.toContain(serviceToken);
  });

  test("comes from the service's own address, where the dashboard is another origin's", async ({
    page,
    service,
    backups,
  }) => {
    const { id } = await backups.createConfiguration();
    const backup = newestOf(await backups.run(id));
    const address = service.url.replace("localhost", "127.0.0.1");
    await page.goto(`${service.url}/connect`);
    await page.getByLabel("Token").fill(serviceToken);
    await page.getByLabel("Address").fill(address);
    await page.getByRole("button", { name: "Connect" }).click();
    await expect(page.getByRole("navigation").first()).toBeVisible();
    await page.goto(`${service.url}/backups/${backup.id}`);
    const arriving = page.waitForEvent("download");
    await action(page, "Download", backup.id).click();
    const download = await arriving;
    expect(new URL(download.url()).origin).toBe(address);
    expect(await readFile(await download.path())).toEqual(await readFile(pathOf(backups, backup)));
    await expect(page).toHaveURL(`${service.url}/backups/${backup.id}`);
  });

  test("fails in the browser where the copy went bad", async ({
    connected: page,
    service,
    backups,
  }) => {
    const { id } = await backups.createConfiguration();
    const backup = newestOf(await backups.run(id));
    await damage(pathOf(backups, backup));
    await page.goto(`${service.url}/backups/${backup.id}`);
    const arriving = page.waitForEvent("download");
    await action(page, "Download", backup.id).click();
    expect(await (await arriving).failure()).not.toBeNull();
  });

  test("of a file that is gone says so, and begins none", async ({
    connected: page,
    service,
    backups,
    expected,
  }) => {
    expected.push(/409/);
    const { id } = await backups.createConfiguration();
    const backup = newestOf(await backups.run(id));
    await rm(pathOf(backups, backup));
    let hasBegun = false;
    page.on("download", () => (hasBegun = true));
    await page.goto(`${service.url}/backups/${backup.id}`);
    await action(page, "Download", backup.id).click();
    await expectToast(page, "alert", /The stored file is missing/);
    expect(hasBegun).toBe(false);
  });
});

test("deleting a backup removes its file and leads back to its configuration", async ({
  connected: page,
  service,
  backups,
}) => {
  const { id, name } = await backups.createConfiguration();
  const backup = newestOf(await backups.run(id));
  const file = pathOf(backups, backup);
  expect((await stat(file)).size).toBe(backup.size);
  await page.goto(`${service.url}/backups/${backup.id}`);
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

test.describe("the overview", () => {
  const overviewOf = (page: Page, { server }: Backups) =>
    page.getByRole("region", { name: server.name, exact: true });

  /** Opens the page of the overview that lists the server; earlier tests add servers before it. */
  const openOverview = async (page: Page, service: ServiceProcess, { server }: Backups) => {
    const response = await service.call("GET", `/api/servers?per_page=${maxPerPage}`);
    const { data }: { data: { id: number }[] } = await response.json();
    const before = data.findIndex(({ id }) => id === server.id);
    expect(before).not.toBe(-1);
    await page.goto(`${service.url}/?page=${Math.floor(before / defaultPerPage) + 1}`);
  };

  test("says what nothing backs up, leads to the cure, and is calm once all is protected", async ({
    connected: page,
    service,
    backups,
  }) => {
    const overview = overviewOf(page, backups);
    const problem = (name: string) =>
      overview
        .getByRole("listitem")
        .filter({ hasText: name })
        .filter({ hasText: "No backup configured." });
    await openOverview(page, service, backups);
    await expect(problem(backups.database.name)).toBeVisible();
    await expect(problem(backups.site.name)).toBeVisible();
    await expectAccessible(page);
    await problem(backups.site.name).getByRole("link", { name: "Set up backup" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("New backup");
    await expect(page.getByRole("combobox", { name: "Site" })).toHaveValue(String(backups.site.id));

    const database = await backups.createConfiguration();
    const site = await backups.createConfiguration({
      backupable_type: "site",
      backupable_id: backups.site.id,
    });
    await openOverview(page, service, backups);
    await expect(overview.getByText("No backup yet.")).toHaveCount(2);
    await backups.run(database.id);
    await backups.run(site.id);
    await openOverview(page, service, backups);
    const calm = overview.getByText("All protected: 2 databases and sites");
    await expect(calm).toBeVisible();
    await calm.click();
    await overview
      .getByRole("listitem")
      .filter({ hasText: backups.database.name })
      .getByRole("link", { name: database.name })
      .click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(database.name);
  });

  test("says what wants a look although there is a good backup", async ({
    connected: page,
    service,
    backups,
  }) => {
    const { id, name } = await backups.createConfiguration();
    await backups.run(id);
    await writeFile(backups.database.file, "no database at all\n".repeat(500));
    await backups.run(id);
    await openOverview(page, service, backups);
    const row = overviewOf(page, backups)
      .getByRole("listitem")
      .filter({ hasText: backups.database.name });
    await expect(row).toContainText("The last run failed.");
    await row.getByRole("link", { name }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(name);
  });
});

test("a configuration, a backup and the overview are accessible and fit 360 px, light and dark", async ({
  connected: page,
  service,
  backups,
}) => {
  // Many pages, and axe takes its time with each.
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
