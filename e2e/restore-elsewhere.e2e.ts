import { access, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ownUser } from "../server/testing/own-user.ts";
import { action, newestOf, runOnce, showBackup } from "./backup-helpers.ts";
import { type Backups, expect, test } from "./fixtures.ts";
import { expectAccessible } from "./helpers.ts";

type Service = Parameters<Parameters<typeof test>[2]>[0]["service"];

/** Adds a database on another server; its file is created only if `rows` is given. */
async function addTarget(service: Service, { database }: Backups, rows: number | null) {
  const target = {
    id: database.id + 5000,
    name: `staging-${database.id}`,
    server: { id: database.id + 6000, name: `staging-server-${database.id}` },
    file: join(service.folder, `staging-${database.id}.sqlite`),
  };
  if (rows !== null) {
    const content = new DatabaseSync(target.file);
    content.exec("create table orders (id integer primary key, note text)");
    for (let row = 0; row < rows; row++)
      content.prepare("insert into orders (note) values (?)").run(`staged ${row}`);
    content.close();
  }
  await service.changeInventory(({ servers, databases }) => {
    servers.push(`{ id: ${target.server.id}, name: ${target.server.name}, connection: local }`);
    databases.push(
      `{ id: ${target.id}, server: ${target.server.id}, name: ${target.name}, engine: sqlite, path: ${target.file}, user: ${ownUser} }`,
    );
  });
  const path = `/api/server/${target.server.id}`;
  await expect.poll(async () => (await service.call("GET", path)).status).toBe(200);
  return target;
}

const countIn = (file: string): unknown => {
  const content = new DatabaseSync(file, { readOnly: true });
  try {
    return content.prepare("select count(*) as n from orders").get()?.["n"];
  } finally {
    content.close();
  }
};

test("restores a backup into another database, after comparing the rows of both", async ({
  connected: page,
  service,
  backups,
  expected,
}) => {
  expected.push(/status of 409/);
  const backup = await runOnce(backups);
  const target = await addTarget(service, backups, 7);
  await page.goto(`${service.url}/backups/${backup.id}`);
  await action(page, "Restore elsewhere", backup.id).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(
    `Restore backup ${backup.id} elsewhere`,
  );
  // The backup's own source is not among the options.
  await expect(page.getByLabel("Database", { exact: true })).toHaveText("None on this server");
  await expect(page.getByLabel("Database", { exact: true })).toHaveAccessibleDescription(
    "This server has no other database of the same kind. Add one to the inventory to restore into it.",
  );
  await page.getByLabel("Server", { exact: true }).selectOption(target.server.name);
  await page.getByRole("button", { name: "Restore…" }).click();
  await expect(page.getByText("Choose a database", { exact: true }).last()).toBeVisible();
  await expect(page.getByLabel("Database", { exact: true })).toBeFocused();
  await page.getByLabel("Database", { exact: true }).selectOption(target.name);
  const row = page.getByRole("row").filter({ hasText: "orders" });
  await expect(row).toContainText("50");
  await expect(row).toContainText("7");
  await expect(page.getByText("no backup configuration saves it first")).toBeVisible();
  await expectAccessible(page);

  await page.getByRole("button", { name: "Restore…" }).click();
  const dialog = page.getByRole("alertdialog");
  const yes = dialog.getByRole("button", { name: "Restore" });
  await expect(yes).toBeDisabled();
  await dialog.getByRole("textbox").fill(target.name);
  await yes.click();
  await expect(dialog.getByRole("alert")).toContainText("no backup configuration saves it");
  expect(countIn(target.file)).toBe(7);

  // With a configuration, the present data is saved first, and the page links to the undo.
  const made = await service.call("POST", `/api/server/${target.server.id}/backup-configuration`, {
    name: "Staging, nightly",
    frequency: "30 2 * * *",
    storage_provider_id: 1,
    backupable_type: "database",
    backupable_id: target.id,
  });
  const { id }: { id: number } = await made.json();
  await expect.poll(async () => (await backups.configuration(id)).status).toBe("installed");
  await yes.click();
  await expect(page.getByText(new RegExp(`^Restore into ${target.name} finished`))).toBeVisible();
  expect(countIn(target.file)).toBe(50);
  expect(countIn(backups.database.file)).toBe(50);
  const safety = newestOf(await backups.configuration(id));
  await expectAccessible(page);
  await page.getByRole("link", { name: `backup ${safety.id}`, exact: true }).click();
  await expect(page.getByRole("main")).toContainText("Before restore");
  await action(page, "Restore", safety.id).click();
  await dialog.getByRole("textbox").fill(target.name);
  await dialog.getByRole("button", { name: "Restore" }).click();
  await expect(page.getByText(/^Restore finished/)).toBeVisible();
  expect(countIn(target.file)).toBe(7);
});

test("says which backup is gone, and leads back, if it was deleted meanwhile @long", async ({
  connected: page,
  service,
  backups,
  expected,
}) => {
  expected.push(/status of (?:404|422)/, /ApiError: Not found/);
  const backup = await runOnce(backups);
  const target = await addTarget(service, backups, 7);
  await page.goto(`${service.url}/backups/${backup.id}/restore`);
  await page.getByLabel("Server", { exact: true }).selectOption(target.server.name);
  await page.getByLabel("Database", { exact: true }).selectOption(target.name);
  await page.getByRole("button", { name: "Restore…" }).click();
  const dialog = page.getByRole("alertdialog");
  await dialog.getByRole("textbox").fill(target.name);
  const path = `/api/backup/${backup.id}`;
  await service.call("DELETE", path);
  await expect.poll(async () => (await service.call("GET", path)).status).toBe(404);
  await dialog.getByRole("button", { name: "Restore" }).click();
  await expect(dialog.getByRole("alert")).toHaveText(
    `Backup ${backup.id} doesn't exist. It may have been deleted.`,
  );
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByLabel("Server", { exact: true }).selectOption({ index: 0 });
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Not found");
  await expect(page.getByText(`Backup ${backup.id} doesn't exist. It may have been`)).toBeVisible();
  await page.getByRole("link", { name: "Backup configuration" }).click();
  await expect(page).toHaveURL(/\/backup-configurations\/\d+$/);
  expect(countIn(target.file)).toBe(7);
});

test("creates a missing database, and restores a site into another folder @long", async ({
  connected: page,
  service,
  backups,
}) => {
  const backup = await runOnce(backups);
  const target = await addTarget(service, backups, null);
  await page.goto(`${service.url}/backups/${backup.id}/restore`);
  await page.getByLabel("Server", { exact: true }).selectOption(target.server.name);
  await page.getByLabel("Database", { exact: true }).selectOption(target.name);
  await expect(page.getByText(`${target.name} is empty.`)).toBeVisible();
  await page.getByRole("button", { name: "Restore…" }).click();
  const dialog = page.getByRole("alertdialog");
  await dialog.getByRole("textbox").fill(target.name);
  await dialog.getByRole("button", { name: "Restore" }).click();
  await expect(page.getByText(/^Restore into .* finished/)).toBeVisible();
  expect(countIn(target.file)).toBe(50);

  const copy = join(service.folder, `copy-${backups.site.id}`);
  await mkdir(copy);
  await service.changeInventory(({ sites }) =>
    sites.push(
      `{ id: ${target.id}, server: ${target.server.id}, name: copy-${backups.site.id}, root: ${copy}, user: ${ownUser} }`,
    ),
  );
  const path = `/api/site/${target.id}`;
  await expect.poll(async () => (await service.call("GET", path)).status).toBe(200);
  const { id } = await backups.createConfiguration({
    backupable_type: "site",
    backupable_id: backups.site.id,
  });
  const folder = newestOf(await backups.run(id));
  await page.goto(`${service.url}/backups/${folder.id}/restore`);
  await page.getByLabel("Server", { exact: true }).selectOption(target.server.name);
  await page.getByLabel("Site", { exact: true }).selectOption(`copy-${backups.site.id}`);
  await expect(page.getByText(/The backup contains \d+ files and folders/)).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Restore…" }).click();
  await dialog.getByRole("textbox").fill(`copy-${backups.site.id}`);
  await dialog.getByRole("button", { name: "Restore" }).click();
  await expect(page.getByText(/^Restore into .* finished/)).toBeVisible();
  await access(join(copy, "index.html"));
  expect((await showBackup(service, folder.id)).restore_target?.name).toBe(
    `copy-${backups.site.id}`,
  );
});
