import { expect, test } from "./fixtures.ts";
import { configurationRow, expectAccessible, expectRow, expectToast } from "./helpers.ts";
import { listOf } from "./backup-helpers.ts";

test.describe("making a backup", () => {
  test("leads from the empty list over a preset to a backup that works", async ({
    connected: page,
    service,
    backups,
  }) => {
    await page.goto(service.url + listOf(backups));
    await expect(page.getByText("No backups yet")).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("link", { name: "New backup" }).first().click();

    await page.getByLabel("Name").fill("Orders by the hour");
    await page
      .getByRole("combobox", { name: "Database" })
      .selectOption(String(backups.database.id));
    await page.getByLabel("Preset").selectOption("Every hour");
    await expect(page.getByText("Every hour", { exact: true }).last()).toBeVisible();
    const runs = page.getByRole("table", { name: "Next runs" });
    await expect(runs.getByRole("row")).toHaveCount(6);
    await expect(runs).toContainText("America/New_York");
    await expect(runs).toContainText("Europe/Berlin");
    await page.getByLabel("Storage provider").selectOption(String(backups.provider.id));
    await page.getByRole("button", { name: "Create backup" }).click();

    await expectToast(page, "status", /Orders by the hour/);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Orders by the hour");
    await page.getByRole("link", { name: `${backups.server.name} backups` }).click();
    const row = configurationRow(page, "Orders by the hour");
    await expectRow(row, "Every hour", "unprotected", "Never");
    await expect(row).toContainText(`database ${backups.database.name}`);
  });

  test("a schedule that no calendar has is refused at its field, and nothing is made", async ({
    connected: page,
    service,
    backups,
  }) => {
    await page.goto(`${service.url}${listOf(backups)}/new`);
    const frequency = page.getByLabel("Frequency");
    await page.getByLabel("Preset").selectOption("Custom");
    await expect(frequency).toBeFocused();
    await frequency.fill("0 0 31 2 *");
    await page.getByRole("button", { name: "Create backup" }).click();
    // The first field that is wrong has the focus, and each says what is wrong with it.
    await expect(page.getByLabel("Name")).toBeFocused();
    await expect(page.getByLabel("Name")).toHaveAccessibleDescription(/Name is required\./);
    await expect(frequency).toHaveAccessibleDescription(/The day must be 1 to 29/);
    await expect(page.getByLabel("Storage provider")).toHaveAccessibleDescription(
      /Choose where to store backups\./,
    );
    await expectAccessible(page);
    const list = await service.call("GET", `/api/server/${backups.server.id}/backups`);
    expect(await list.json()).toMatchObject({ meta: { total: 0 } });
  });

  test("another kind is chosen from its own list, and nothing of the first one stays", async ({
    connected: page,
    service,
    backups,
  }) => {
    await page.goto(`${service.url}${listOf(backups)}/new?type=site&id=${backups.site.id}`);
    await page.getByLabel("Name").fill("Orders");
    await page.getByLabel("Kind").selectOption("Database");
    const database = page.getByRole("combobox", { name: "Database" });
    await expect(database.getByRole("option", { selected: true })).toHaveText("Choose a database");
    await page.getByRole("button", { name: "Create backup" }).click();
    // It stands before the storage provider, which is missing too.
    await expect(database).toBeFocused();
    await expect(database).toHaveAccessibleDescription(/Choose a database\./);
  });

  test("what only the service can know is shown at its field too", async ({
    connected: page,
    service,
    backups,
    expected,
  }) => {
    expected.push(/422 \(Unprocessable/);
    await page.goto(`${service.url}${listOf(backups)}/new?type=site&id=${backups.site.id}`);
    const site = page.getByRole("combobox", { name: "Site" });
    await expect(site).toHaveValue(String(backups.site.id));
    await page.getByLabel("Name").fill("Blog");
    await page.getByLabel("Storage provider").selectOption(String(backups.provider.id));
    // Somebody takes the site out of the inventory while the form is being filled in.
    await service.changeInventory(({ sites }) =>
      sites.splice(0, Infinity, ...sites.filter((line) => !line.includes(backups.site.name))),
    );
    await expect
      .poll(async () => (await service.call("GET", `/api/site/${backups.site.id}`)).status)
      .toBe(404);
    await page.getByRole("button", { name: "Create backup" }).click();
    await expect(site).toHaveAccessibleDescription(/Choose a valid site\./);
    await expect(site).toBeFocused();
  });
});

test.describe("changing a backup", () => {
  test("keeps what it backs up, says so, and brings the rest", async ({
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
    await page.getByLabel("Preset").selectOption("30 2 * * 0");
    await page.getByLabel("Keep last").fill("4");
    await expect(page.getByText("4 backups cover about 4 weeks")).toBeVisible();
    await page.getByLabel("Restore drill").fill("30");
    await page.getByRole("button", { name: "Save changes" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Orders, weekly");
    expect(await backups.configuration(id)).toMatchObject({
      name: "Orders, weekly",
      frequency: "30 2 * * 0",
      hold: 4,
      drill: 30,
      directory: `edit-${backups.server.id}`,
      backupable: { id: backups.database.id },
    });
  });

  test("says of an emptied number what saving keeps: the one that is stored", async ({
    connected: page,
    service,
    backups,
  }) => {
    const { id } = await backups.createConfiguration({ hold: 30 });
    await page.goto(`${service.url}/backup-configurations/${id}/edit`);
    const keep = page.getByLabel("Keep last");
    await keep.fill("");
    await expect(keep).toHaveAttribute("placeholder", "30");
    await expect(page.getByText(/^30 backups cover/)).toBeVisible();
    await page.getByRole("button", { name: "Save changes" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Orders, nightly");
    expect((await backups.configuration(id)).hold).toBe(30);
  });

  test("asks before what was changed is lost, and changes nothing then", async ({
    connected: page,
    service,
    backups,
  }) => {
    const { id } = await backups.createConfiguration();
    await page.goto(`${service.url}/backup-configurations/${id}/edit`);
    await page.getByLabel("Keep last").fill("99");
    await page.getByRole("link", { name: "Cancel" }).click();
    const question = page.getByRole("alertdialog");
    await question.getByRole("button", { name: "Keep editing" }).click();
    await expect(page.getByLabel("Keep last")).toHaveValue("99");
    await page.getByRole("link", { name: "Cancel" }).click();
    await question.getByRole("button", { name: "Discard changes" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Orders, nightly");
    expect((await backups.configuration(id)).hold).toBe(7);
  });
});
