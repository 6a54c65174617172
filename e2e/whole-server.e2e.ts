// Tests a whole database server: its inventory entry, the contents of its backup, and restores of single databases.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { serverKinds } from "../server/backups/testing/database-servers.ts";
import { newestOf } from "./backup-helpers.ts";
import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./helpers.ts";

// The dashboard treats both kinds alike; `server/backups/whole-server.test.ts` tests each in depth.
for (const kind of serverKinds)
  test(`a backup of a whole ${kind.name} server shows its databases, and restores one of them @long`, async ({
    connected: page,
    service,
    backups,
  }) => {
    const server = await kind.start();
    const orders = kind.tableIn("orders");
    try {
      await server.sql(null, kind.makesAccount);
      await server.createDatabase("shop", "app");
      await server.createDatabase("staging", "app");
      await server.sql("shop", kind.makesOrders);
      const url = join(service.folder, `whole-${backups.database.id}`);
      const at = { server: backups.server.id, id: 7000 + 2 * backups.database.id };
      await writeFile(url, server.url(kind.ownDatabases[0] ?? ""));
      await writeFile(`${url}-staging`, server.url("staging"));
      const name = `db-${at.id}`;
      const staging = `staging-${at.id}`;
      await service.changeInventory(({ databases }) =>
        databases.push(
          `{ id: ${at.id}, server: ${at.server}, name: ${name}, engine: ${kind.engine}, url: "file:${url}", scope: server }`,
          `{ id: ${at.id + 1}, server: ${at.server}, name: ${staging}, engine: ${kind.engine}, url: "file:${url}-staging" }`,
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
      await server.sql("shop", "delete from orders where id > 10");
      await page.goto(`${service.url}/backups/${backup.id}/contents`);
      const databases = page.getByRole("table", { name: "Databases" });
      await expect(databases.getByRole("row").filter({ hasText: "shop" })).toContainText("50");
      await expect(page.getByRole("table", { name: "Tables" })).toContainText(`shop.${orders}`);
      await expectAccessible(page);
      await page.getByRole("button", { name: "Restore shop", exact: true }).click();
      const dialog = page.getByRole("alertdialog");
      await expect(dialog).toContainText(`Replaces shop in ${name}`);
      await dialog.getByRole("textbox").fill(name);
      await dialog.getByRole("button", { name: "Restore" }).click();
      await expect(page.getByText(/^Restore of shop in .* finished/)).toBeVisible();
      const count = "select count(*) from orders";
      expect(await server.sql("shop", count)).toBe("50");

      await server.sql("shop", "delete from orders where id > 10");
      await page.goto(`${service.url}/backups/${backup.id}/contents`);
      await page.getByRole("button", { name: `Restore shop.${orders}`, exact: true }).click();
      await expect(dialog).toContainText(`Replaces shop.${orders} in ${name}`);
      await dialog.getByRole("textbox").fill(name);
      await dialog.getByRole("button", { name: "Restore" }).click();
      await expect(
        page.getByText(new RegExp(`^Restore of shop\\.${RegExp.escape(orders)} in .* finished`)),
      ).toBeVisible();
      expect(await server.sql("shop", count)).toBe("50");

      // All databases can be restored to another whole server only; one of them to a single database, too.
      await page.goto(`${service.url}/backups/${backup.id}/restore`);
      const target = page.getByLabel("Database", { exact: true });
      await expect(target).toHaveText("None on this server");
      await page.getByLabel("Restore", { exact: true }).selectOption("shop");
      await target.selectOption(staging);
      await expect(page.getByText(`${staging} is empty.`)).toBeVisible();
      await expect(page.getByRole("row").filter({ hasText: orders })).toContainText("50");
      await expectAccessible(page);
      await page.getByRole("button", { name: "Restore…" }).click();
      await expect(dialog).toContainText(`Replaces everything in ${staging}`);
      await dialog.getByRole("textbox").fill(staging);
      await dialog.getByRole("button", { name: "Restore" }).click();
      await expect(page.getByText(new RegExp(`^Restore into ${staging} finished`))).toBeVisible();
      expect(await server.sql("staging", count)).toBe("50");
    } finally {
      await server.stop();
    }
  });
