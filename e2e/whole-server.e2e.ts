import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  hasPostgresServer,
  startPostgresServer,
} from "../server/backups/testing/postgres-server.ts";
import { newestOf } from "./backup-helpers.ts";
import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./helpers.ts";

test("a backup of a whole PostgreSQL server shows its databases, and gives one of them back", async ({
  connected: page,
  service,
  backups,
}) => {
  test.skip(!hasPostgresServer, "PostgreSQL is not installed.");
  const postgres = await startPostgresServer();
  try {
    await postgres.createDatabase("shop");
    await postgres.createDatabase("staging");
    await postgres.query("shop", "create table orders as select generate_series(1, 40) as id");
    const url = join(service.folder, `whole-${backups.database.id}`);
    const at = { server: backups.server.id, id: backups.database.id + 7000 };
    await writeFile(url, postgres.url("postgres"));
    await writeFile(`${url}-staging`, postgres.url("staging"));
    const name = `db-${at.id}`;
    const staging = `staging-${at.id}`;
    await service.changeInventory(({ databases }) =>
      databases.push(
        `{ id: ${at.id}, server: ${at.server}, name: ${name}, engine: postgres, url: "file:${url}", scope: server }`,
        `{ id: ${at.id + 1}, server: ${at.server}, name: ${staging}, engine: postgres, url: "file:${url}-staging" }`,
      ),
    );
    const entries = async () =>
      (await service.call("GET", `/api/server/${at.server}/databases?per_page=100`)).text();
    await expect.poll(entries).toContain(staging);
    await page.goto(`${service.url}/settings/inventory/databases/${at.id}/edit`);
    await expect(page.getByLabel("Scope")).toHaveValue("server");
    await expectAccessible(page);

    const { id } = await backups.createConfiguration({ backupable_id: at.id });
    const backup = newestOf(await backups.run(id));
    await postgres.query("shop", "delete from orders where id > 10");
    await page.goto(`${service.url}/backups/${backup.id}/contents`);
    const databases = page.getByRole("table", { name: "Databases" });
    await expect(databases.getByRole("row").filter({ hasText: "shop" })).toContainText("40");
    await expect(page.getByRole("table", { name: "Tables" })).toContainText("shop.public.orders");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Restore shop", exact: true }).click();
    const dialog = page.getByRole("alertdialog");
    await expect(dialog).toContainText(`Replaces shop in ${name}`);
    await dialog.getByRole("textbox").fill(name);
    await dialog.getByRole("button", { name: "Restore" }).click();
    await expect(page.getByText(/^Restore of shop in .* finished/)).toBeVisible();
    const count = "select count(*)::int as n from orders";
    expect(await postgres.query("shop", count)).toEqual([{ n: 40 }]);

    await postgres.query("shop", "delete from orders where id > 10");
    await page.goto(`${service.url}/backups/${backup.id}/contents`);
    await page.getByRole("button", { name: "Restore shop.public.orders", exact: true }).click();
    await expect(dialog).toContainText(`Replaces shop.public.orders in ${name}`);
    await dialog.getByRole("textbox").fill(name);
    await dialog.getByRole("button", { name: "Restore" }).click();
    await expect(page.getByText(/^Restore of shop\.public\.orders in .* finished/)).toBeVisible();
    expect(await postgres.query("shop", count)).toEqual([{ n: 40 }]);

    // All of them go to another whole server only; one of them goes into a single database, too.
    await page.goto(`${service.url}/backups/${backup.id}/restore`);
    const target = page.getByLabel("Database", { exact: true });
    await expect(target).toHaveText("None on this server");
    await page.getByLabel("Restore", { exact: true }).selectOption("shop");
    await target.selectOption(staging);
    await expect(page.getByText(`${staging} is empty.`)).toBeVisible();
    await expect(page.getByRole("row").filter({ hasText: "public.orders" })).toContainText("40");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Restore…" }).click();
    await expect(dialog).toContainText(`Replaces everything in ${staging}`);
    await dialog.getByRole("textbox").fill(staging);
    await dialog.getByRole("button", { name: "Restore" }).click();
    await expect(page.getByText(new RegExp(`^Restore into ${staging} finished`))).toBeVisible();
    expect(await postgres.query("staging", count)).toEqual([{ n: 40 }]);
  } finally {
    await postgres.stop();
  }
});
