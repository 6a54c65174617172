import type { Locator, Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import {
  configurationRow,
  expectAccessible,
  expectRow,
  expectToast,
  openWithin,
} from "./helpers.ts";
import { listOf, newestOf } from "./backup-helpers.ts";

const source = (page: Page): Locator => page.getByRole("combobox", { name: "Source" });

const advanced = (page: Page): Locator =>
  page.getByRole("group").getByText("Advanced").locator("xpath=..");

test.describe("creating a configuration", () => {
  test("leads from the empty list and a preset to a finished backup", async ({
    connected: page,
    service,
    backups,
  }) => {
    await page.goto(service.url + listOf(backups));
    await expect(page.getByText("No backups yet")).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("link", { name: "New backup" }).first().click();

    await expect(page.getByLabel("Name")).toHaveValue("");
    // Like the palette's “New backup” of a database.
    await openWithin(page, `${listOf(backups)}/new?type=site&id=${backups.site.id}`);
    await expect(page.getByLabel("Name")).toHaveValue(backups.site.name);
    await page.goBack();
    await expect(page.getByLabel("Name")).toHaveValue("");
    await source(page).selectOption(`database ${backups.database.id}`);
    await page.getByLabel("Name").fill("Orders by the hour");
    await page.getByLabel("Schedule").selectOption("Every hour");
    await expect(page.getByText("Every hour", { exact: true }).last()).toBeVisible();
    const runs = page.getByRole("table", { name: "Next runs" });
    await expect(runs.getByRole("row")).toHaveCount(6);
    await expect(runs).toContainText("America/New_York");
    await expect(runs).toContainText("Europe/Berlin");
    await page.getByRole("button", { name: "Create backup" }).click();

    await expectToast(page, "status", /Orders by the hour/);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Orders by the hour");
    await page.goBack();
    await expect(page).toHaveURL(service.url + listOf(backups));
    const row = configurationRow(page, "Orders by the hour");
    await expectRow(row, "Every hour", "unprotected", "Never");
    await expect(row).toContainText(`database ${backups.database.name}`);
  });

  test("can be saved at once when the URL names the source, with defaults that are shown @long", async ({
    connected: page,
    service,
    backups,
  }) => {
    await page.goto(`${service.url}${listOf(backups)}/new?type=database&id=${backups.database.id}`);
    await expect(page.getByLabel("Name")).toHaveValue(backups.database.name);
    await expect(page.getByLabel("Storage")).toHaveValue(String(backups.provider.id));
    await expect(advanced(page)).toContainText(
      `Keeps the last 7 backups in ${backups.database.name}. No restore drills.`,
    );
    await expect(page.getByLabel("Keep last")).toBeHidden();
    await page.getByRole("button", { name: "Create backup" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(backups.database.name);
    const list = await service.call("GET", `/api/server/${backups.server.id}/backups`);
    expect(await list.json()).toMatchObject({
      data: [
        {
          name: backups.database.name,
          frequency: "30 2 * * *",
          hold: 7,
          directory: backups.database.name,
          storage_provider_id: backups.provider.id,
          backupable: { id: backups.database.id },
          drill: null,
        },
      ],
    });
  });

  test("refuses an invalid schedule at its field without creating anything, and derives the name from the source until it is edited @long", async ({
    connected: page,
    service,
    backups,
  }) => {
    await page.goto(`${service.url}${listOf(backups)}/new`);
    const list = async () =>
      (await service.call("GET", `/api/server/${backups.server.id}/backups`)).json();
    const frequency = page.getByLabel("Cron expression");
    await expect(frequency).toBeHidden();
    await page.getByLabel("Schedule").selectOption("Custom");
    await expect(frequency).toBeFocused();
    await frequency.fill("0 0 31 2 *");
    await page.getByRole("button", { name: "Create backup" }).click();
    // The first invalid field has the focus, and each invalid field shows its error.
    await expect(source(page)).toBeFocused();
    await expect(source(page)).toHaveAccessibleDescription(/Choose a source\./);
    await expect(page.getByLabel("Name")).toHaveAccessibleDescription(/Name is required\./);
    await expect(frequency).toHaveAccessibleDescription(/The day must be 1 to 29/);
    await expectAccessible(page);
    expect(await list()).toMatchObject({ meta: { total: 0 } });

    const name = page.getByLabel("Name");
    await expect(name).toHaveValue("");
    await page.getByLabel("Schedule").selectOption("Every hour");
    await source(page).selectOption(`site ${backups.site.id}`);
    await expect(name).toHaveValue(backups.site.name);
    await source(page).selectOption(`database ${backups.database.id}`);
    await expect(name).toHaveValue(backups.database.name);
    await name.fill("Mine");
    await source(page).selectOption(`site ${backups.site.id}`);
    await expect(name).toHaveValue("Mine");
    await page.getByRole("button", { name: "Create backup" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Mine");
    expect(await list()).toMatchObject({
      data: [{ type: "site", backupable: { id: backups.site.id } }],
    });
  });

  test("refuses a directory outside the storage during typing, expands sections with errors, and shows errors of the service at their fields @long", async ({
    connected: page,
    service,
    backups,
    expected,
  }) => {
    await page.goto(`${service.url}${listOf(backups)}/new?type=site&id=${backups.site.id}`);
    await advanced(page).click();
    const directory = page.getByLabel("Directory");
    await directory.pressSequentially("shop/..");
    await expect(directory).toBeFocused();
    await expect(directory).toHaveAccessibleDescription(
      /Directory must be a relative path without/,
    );
    await expectAccessible(page);
    await directory.pressSequentially("/");
    await directory.fill("shop");
    await expect(directory).not.toHaveAttribute("aria-invalid");
    await directory.fill("/etc");
    await expect(directory).toHaveAttribute("aria-invalid", "true");
    await page.getByLabel("Keep last").fill("0");
    // A section with an invalid field stays open.
    await advanced(page).click();
    await expect(directory).toBeVisible();
    await page.getByRole("button", { name: "Create backup" }).click();
    await expect(page.getByLabel("Keep last")).toBeFocused();
    const list = await service.call("GET", `/api/server/${backups.server.id}/backups`);
    expect(await list.json()).toMatchObject({ meta: { total: 0 } });

    await directory.fill("shop");
    await page.getByLabel("Keep last").fill("7");
    expected.push(/422 \(Unprocessable/);
    await expect(source(page)).toHaveValue(`site ${backups.site.id}`);
    // The site is removed from the inventory while the form is being filled in.
    await service.changeInventory(({ sites }) =>
      sites.splice(0, Infinity, ...sites.filter((line) => !line.includes(backups.site.name))),
    );
    await expect
      .poll(async () => (await service.call("GET", `/api/site/${backups.site.id}`)).status)
      .toBe(404);
    await page.getByRole("button", { name: "Create backup" }).click();
    await expect(source(page)).toHaveAccessibleDescription(/Choose a valid source\./);
    await expect(source(page)).toBeFocused();
  });

  test("asks where to store backups if there are several storages @long", async ({
    connected: page,
    service,
    backups,
  }) => {
    const second = backups.server.id;
    await service.changeInventory(({ storage_providers: providers }) =>
      providers.push(`{ id: ${second}, name: tape, type: local, path: ${service.folder} }`),
    );
    const count = async () =>
      (await (await service.call("GET", "/api/storage-providers")).json()).meta.total;
    await expect.poll(count).toBe(2);
    await page.goto(`${service.url}${listOf(backups)}/new?type=site&id=${backups.site.id}`);
    await page.getByRole("button", { name: "Create backup" }).click();
    const storage = page.getByLabel("Storage");
    await expect(storage).toBeFocused();
    await expect(storage).toHaveAccessibleDescription(/Choose where to store backups\./);
    await service.changeInventory(({ storage_providers: providers }) => providers.splice(1));
    await expect.poll(count).toBe(1);
  });
});

test.describe("changing a configuration", () => {
  test("says that the source can't be changed, and saves all other fields", async ({
    connected: page,
    service,
    backups,
  }) => {
    const { id } = await backups.createConfiguration({ directory: `edit-${backups.server.id}` });
    await page.goto(service.url + listOf(backups));
    await page.getByRole("link", { name: "Edit: Orders, nightly" }).click();
    await expect(page.getByText("The source can't be changed")).toBeVisible();
    await expect(page.getByText(`${backups.database.name} (database)`)).toBeVisible();
    await page.getByLabel("Name").fill("Orders, weekly");
    await page.getByLabel("Schedule").selectOption("30 2 * * 0");
    await advanced(page).click();
    await page.getByLabel("Keep last").fill("4");
    await expect(page.getByText("4 backups cover about 4 weeks")).toBeVisible();
    await page.getByLabel("Monthly").fill("0");
    await page.getByLabel("Yearly").fill("2");
    await page.getByRole("button", { name: "Save changes" }).click();
    await expect(page.getByLabel("Monthly")).toHaveAttribute("aria-invalid", "true");
    await page.getByLabel("Monthly").fill("12");
    const year = page.getByRole("table", { name: "Backups kept after a year" });
    await expect(year.getByRole("row", { name: /^12 monthly 12 1[01] months/ })).toBeVisible();
    await expect(year.getByRole("row", { name: /^Together 1[45] 1[01] months/ })).toBeVisible();
    await page.getByLabel("Restore drill").fill("30");
    await page.getByLabel("Compression level").fill("20");
    await page.getByLabel("Bandwidth limit").fill("0.001");
    await page.getByRole("button", { name: "Save changes" }).click();
    await expect(page.getByLabel("Compression level")).toHaveAttribute("aria-invalid", "true");
    await page.getByLabel("Compression level").fill("9");
    await expect(page.getByLabel("Bandwidth limit")).toHaveAccessibleDescription(/0\.01 or more/);
    await page.getByLabel("Bandwidth limit").fill("2.5");
    await page.getByRole("button", { name: "Save changes" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Orders, weekly");
    await expect(page.getByText("2.5 MB a second")).toBeVisible();
    expect(await backups.configuration(id)).toMatchObject({
      name: "Orders, weekly",
      frequency: "30 2 * * 0",
      hold: 4,
      keep: { monthly: 12, yearly: 2 },
      drill: 30,
      compression_level: 9,
      bytes_per_second: 2_500_000,
      directory: `edit-${backups.server.id}`,
      backupable: { id: backups.database.id },
    });
  });

  test("keeps changes that others have made since the form was opened", async ({
    connected: page,
    service,
    backups,
  }) => {
    const { id } = await backups.createConfiguration({ drill: 7 });
    await page.goto(`${service.url}/backup-configurations/${id}/edit`);
    await advanced(page).click();
    await page.getByLabel("Restore drill").fill("30");
    const elsewhere = await service.call("PUT", `/api/backup-configuration/${id}`, {
      name: "Orders, hourly",
      frequency: "0 * * * *",
      storage_provider_id: 1,
      hold: 48,
    });
    expect(elsewhere.status).toBe(200);
    await page.getByRole("button", { name: "Save changes" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Orders, hourly");
    expect(await backups.configuration(id)).toMatchObject({
      name: "Orders, hourly",
      frequency: "0 * * * *",
      hold: 48,
      drill: 30,
    });
  });

  test("excludes files of a site by patterns, and a restore says that they are kept @long", async ({
    connected: page,
    service,
    backups,
  }) => {
    const { id } = await backups.createConfiguration({
      backupable_type: "site",
      backupable_id: backups.site.id,
    });
    await page.goto(`${service.url}/backup-configurations/${id}/edit`);
    await advanced(page).click();
    const exclude = page.getByLabel("Exclude", { exact: true });
    await exclude.fill("*.tmp\na**b");
    await page.getByRole("button", { name: "Save changes" }).click();
    await expect(exclude).toHaveAttribute("aria-invalid", "true");
    await expect(exclude).toHaveAccessibleDescription(/must be a whole part of the path/);
    await exclude.fill("*.tmp");
    await page.getByRole("button", { name: "Add Laravel patterns" }).click();
    await expect(exclude).toHaveValue(/^\*\.tmp\n\/vendor\/\n/);
    await page.getByLabel("Exclude caches").check();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Save changes" }).click();
    await expect(page.getByRole("definition").filter({ hasText: "/vendor/" })).toContainText(
      "Folders with a CACHEDIR.TAG",
    );
    await expect.poll(async () => (await backups.configuration(id)).status).toBe("installed");
    await backups.run(id);
    await page
      .getByRole("link", { name: /^Backup \d+$/ })
      .first()
      .click();
    await expect(page.getByRole("definition").filter({ hasText: "/vendor/" })).toBeVisible();
    await page.getByRole("button", { name: /^Restore backup/ }).click();
    await expect(page.getByRole("alertdialog")).toContainText(
      "Files that the backup leaves out stay as they are now.",
    );
  });

  test("makes backups incremental, and each backup names the full one that it needs @long", async ({
    connected: page,
    service,
    backups,
  }) => {
    const { id } = await backups.createConfiguration();
    await page.goto(`${service.url}/backup-configurations/${id}/edit`);
    await advanced(page).click();
    await page.getByLabel("Incremental").check();
    await page.getByRole("button", { name: "Save changes" }).click();
    await expect(page).toHaveURL(/backup-configurations\/\d+$/);
    await expect.poll(async () => (await backups.configuration(id)).status).toBe("installed");
    const full = newestOf(await backups.run(id));
    const patch = newestOf(await backups.run(id));
    const row = (backup: number) =>
      page
        .getByRole("row")
        .filter({ has: page.getByRole("link", { name: `Backup ${backup}`, exact: true }) });
    await expect(row(full.id)).toContainText("full");
    await expect(row(patch.id)).toContainText("incremental");
    await page.getByRole("link", { name: `Backup ${patch.id}`, exact: true }).click();
    const kind = page.getByRole("definition").filter({ hasText: "Incremental, needs" });
    await kind.getByRole("link", { name: `backup ${full.id}` }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(`Backup ${full.id}`);
    await expect(page.getByRole("definition").filter({ hasText: /^Full$/ })).toBeVisible();
  });

  test("asks before changes are discarded, and shows the stored value as the placeholder of a cleared number @long", async ({
    connected: page,
    service,
    backups,
  }) => {
    const { id } = await backups.createConfiguration({ hold: 30 });
    await page.goto(`${service.url}/backup-configurations/${id}/edit`);
    await advanced(page).click();
    const keep = page.getByLabel("Keep last");
    await keep.fill("99");
    await page.getByRole("link", { name: "Cancel" }).click();
    const question = page.getByRole("alertdialog");
    await question.getByRole("button", { name: "Keep editing" }).click();
    await expect(keep).toHaveValue("99");
    await page.getByRole("link", { name: "Cancel" }).click();
    await question.getByRole("button", { name: "Discard changes" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Orders, nightly");
    expect((await backups.configuration(id)).hold).toBe(30);

    await page.goto(`${service.url}/backup-configurations/${id}/edit`);
    await advanced(page).click();
    await keep.fill("");
    await expect(keep).toHaveAttribute("placeholder", "30");
    await expect(page.getByText(/^30 backups cover/)).toBeVisible();
    await page.getByRole("button", { name: "Save changes" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Orders, nightly");
    expect((await backups.configuration(id)).hold).toBe(30);
  });
});
