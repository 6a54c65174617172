import { rename } from "node:fs/promises";
import { expect, test } from "./fixtures.ts";
import { listOf } from "./backup-helpers.ts";
import { expectAccessible } from "./helpers.ts";

test("sets up a backup of everything unprotected on a server in one go", async ({
  connected: page,
  service,
  backups,
}) => {
  const { server, database, site } = backups;
  await page.goto(service.url + listOf(backups));
  await expect(page.getByText("2 databases and sites have no backup.")).toBeVisible();
  await page.getByRole("button", { name: "Protect all" }).click();
  const dialog = page.getByRole("dialog", { name: `Protect everything on ${server.name}` });
  await expect(dialog.getByText("Time zone: America/New_York.")).toBeVisible();
  await expect(dialog.getByRole("listitem").filter({ hasText: database.name })).toContainText(
    "At 01:00, every day",
  );
  await expect(dialog.getByRole("listitem").filter({ hasText: site.name })).toContainText(
    "At 03:00, every day",
  );
  await expectAccessible(page);

  // Deselected targets free their time slots for the others; with none selected, nothing can be created.
  await dialog.getByRole("checkbox", { name: database.name }).uncheck();
  await expect(dialog.getByRole("listitem").filter({ hasText: site.name })).toContainText(
    "At 01:00, every day",
  );
  await dialog.getByRole("checkbox", { name: site.name }).uncheck();
  await expect(dialog.getByRole("button", { name: "Create 0 backups" })).toBeDisabled();
  await dialog.getByRole("checkbox", { name: database.name }).check();
  await dialog.getByRole("checkbox", { name: site.name }).check();

  // Other tests on the same service may have added storages.
  await dialog.getByLabel("Storage").selectOption("1");
  await dialog.getByLabel("Keep last").fill("0");
  await dialog.getByRole("button", { name: "Create 2 backups" }).click();
  await expect(dialog.getByLabel("Keep last")).toHaveAttribute("aria-invalid", "true");
  await dialog.getByLabel("Keep last").fill("5");
  await dialog.getByLabel("Restore drill").fill("30");
  await rename(database.file, `${database.file}.away`);
  await dialog.getByRole("button", { name: "Create 2 backups" }).click();
  const result = page.getByRole("dialog", { name: "Create 2 backups" });
  await expect(result.getByText("1 done, 1 failed", { exact: true })).toBeVisible();
  // A retry tests the configuration that exists, instead of creating another one.
  await rename(`${database.file}.away`, database.file);
  await result.getByRole("button", { name: "Retry failed" }).click();
  await expect(result.getByText("2 done", { exact: true })).toBeVisible();
  await expect(result.getByText("installed", { exact: true })).toHaveCount(2);
  await result.getByRole("button", { name: "Close" }).click();
  await expect(page.getByText("have no backup")).toBeHidden();
  await expect(page.getByRole("row").filter({ hasText: site.name })).toBeVisible();

  const list = await service.call("GET", `/api/server/${server.id}/backups?sort=name`);
  expect(await list.json()).toMatchObject({
    meta: { total: 2 },
    data: [
      { name: site.name, frequency: "0 3 * * *", hold: 5, drill: 30 },
      { name: database.name, frequency: "0 1 * * *", hold: 5, drill: 30 },
    ],
  });
});

test("says why one target cannot be protected, and protects the others @long", async ({
  connected: page,
  service,
  backups,
  expected,
}) => {
  expected.push(/409|422|404/);
  const { database, site } = backups;
  await page.goto(service.url + listOf(backups));
  await page.getByRole("button", { name: "Protect all" }).click();
  await expect(page.getByRole("checkbox", { name: site.name })).toBeVisible();
  // The database is removed from the inventory meanwhile.
  await service.changeInventory(({ databases }) => {
    const index = databases.findIndex((entry) => entry.includes(database.name));
    databases.splice(index, 1);
  });
  await expect
    .poll(async () => {
      const list = await service.call("GET", `/api/server/${backups.server.id}/databases`);
      return (await list.json()).data.length;
    })
    .toBe(0);
  await page.getByLabel("Storage").selectOption("1");
  await page.getByRole("button", { name: "Create 2 backups" }).click();
  const result = page.getByRole("dialog", { name: "Create 2 backups" });
  await expect(result.getByText("1 done, 1 refused", { exact: true })).toBeVisible();
  await expect(result.getByRole("listitem").filter({ hasText: database.name })).toContainText(
    "refused",
  );
  await expect(result.getByRole("button", { name: "Retry failed" })).toBeVisible();
});
