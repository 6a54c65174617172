// From a server to a first finished backup, with what is found on it.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./helpers.ts";

test("a site that is found is added, and its database backed up, in a few clicks", async ({
  connected: page,
  service,
  site,
}) => {
  // Beside a site that the inventory has.
  const root = join(service.folder, "found.example.com");
  await mkdir(join(root, "database"), { recursive: true });
  await writeFile(join(root, "artisan"), "#!/usr/bin/env php\n");
  const database = new DatabaseSync(join(root, "database/database.sqlite"));
  database.exec("create table orders (id integer primary key)");
  database.close();

  await page.goto(`${service.url}/servers/1`);
  await page.getByRole("button", { name: "Look for things on this server" }).click();
  const sites = page.getByRole("list", { name: "Sites found" });
  const known = sites.getByRole("listitem").filter({ hasText: site.name });
  await expect(known).toContainText("In the inventory");
  await expect(sites).toContainText(root);
  await expectAccessible(page);

  const files = page.getByRole("list", { name: "SQLite files found" });
  const file = files.getByRole("listitem").filter({ hasText: root });
  await file.getByRole("button", { name: "Add found.example.com" }).click();
  await file.getByRole("link", { name: "Set up backup: found.example.com" }).click();
  // Other tests of the same service may have added one.
  await page.getByLabel("Storage").selectOption("1");
  await page.getByRole("button", { name: "Create backup" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("found.example.com");
  await page.getByRole("button", { name: "Run now" }).click();
  await expect(page.getByText("finished", { exact: true }).first()).toBeVisible();

  // Only what was chosen is in the file, and its comments and order are as they were.
  const inventory = await service.call("GET", "/api/inventory");
  const { databases, sites: entries } = await inventory.json();
  expect(databases).toContainEqual(
    expect.objectContaining({ name: "found.example.com", engine: "sqlite" }),
  );
  expect(entries).not.toContainEqual(expect.objectContaining({ root }));

  // The other tests' inventory does not have it, and is refused while something uses it.
  const configuration = page.url().split("/").at(-1);
  await service.call("DELETE", `/api/backup-configuration/${configuration}`);
  await expect
    .poll(
      async () => (await service.call("GET", `/api/backup-configuration/${configuration}`)).status,
    )
    .toBe(404);
});

test("a token for reading sees why it may not look", async ({ page, service }) => {
  const { token } = await (
    await service.call("POST", "/api/tokens", { name: "reader", abilities: ["read"] })
  ).json();
  await page.goto(`${service.url}/#token=${token}`);
  await page.getByRole("link", { name: "web-1" }).first().waitFor();
  await page.goto(`${service.url}/servers/1`);
  await expect(page.getByRole("heading", { name: "Connection" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Look for things on this server" })).toBeHidden();
});
