import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  hasPostgresServer,
  startPostgresServer,
} from "../server/backups/testing/postgres-server.ts";
import { newestOf, pathOf, runOnce } from "./backup-helpers.ts";
import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./helpers.ts";

test("lists the tables of a database's backup with their rows, and restores one", async ({
  connected: page,
  service,
  backups,
}) => {
  const file = new DatabaseSync(backups.database.file);
  const long = "a_table_".repeat(30);
  file.exec(`create table ${long} (x); create table "two\nlines" (x)`);
  const backup = await runOnce(backups);
  await page.goto(`${service.url}/backups/${backup.id}`);
  await page.getByRole("link", { name: "Contents", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(
    `Contents of backup ${backup.id}`,
  );
  await expect(page.getByRole("heading", { name: "3 tables, 50 rows" })).toBeVisible();
  await expect(page.getByRole("row").filter({ hasText: "orders" })).toContainText("50");
  // A truncated name could not be read without a pointer.
  const name = page.getByText(long);
  expect(await name.evaluate((cell) => cell.scrollWidth - cell.clientWidth)).toBe(0);
  // A request cannot contain this name.
  const misnamed = page.getByRole("button", { name: "Restore two lines" });
  await expect(misnamed).toBeDisabled();
  await expect(misnamed).toHaveAccessibleDescription(/control characters.*whole database/);
  await page.getByLabel("Find a table").fill("users");
  await expect(page.getByText("No results for “users”")).toBeVisible();
  await expectAccessible(page);

  // Drops the table, and creates one that the backup does not contain.
  file.exec("drop table orders; create table later (x); insert into later values (1)");
  await page.getByLabel("Find a table").fill("orders");
  await page.getByRole("button", { name: "Restore orders" }).click();
  const dialog = page.getByRole("alertdialog");
  await expect(dialog).toContainText("Everything else stays as it is.");
  await dialog.getByRole("textbox").fill(backups.database.name);
  await dialog.getByRole("button", { name: "Restore", exact: true }).click();
  await expect(page.getByText(/^Restore of orders in .* finished/)).toBeVisible();
  expect(file.prepare("select count(*) as n from orders").get()).toEqual({ n: 50 });
  expect(file.prepare("select count(*) as n from later").get()).toEqual({ n: 1 });
  file.close();
});

test("lists the other objects of a PostgreSQL backup by kind @long", async ({
  connected: page,
  service,
  backups,
  expected,
}) => {
  test.skip(!hasPostgresServer, "needs a PostgreSQL server");
  const postgres = await startPostgresServer();
  try {
    await postgres.createDatabase("shop");
    await postgres.query(
      "shop",
      "create table orders (id serial primary key); create view shown as select * from orders; create function twice(int) returns int language sql as 'select $1 * 2'",
    );
    const secret = join(service.folder, "shop-url");
    await writeFile(secret, postgres.url("shop"), { mode: 0o600 });
    const id = backups.database.id + 5000;
    await service.changeInventory(({ databases }) => {
      databases.push(
        `{ id: ${id}, server: ${backups.server.id}, name: shop-${id}, engine: postgres, url: "file:${secret}" }`,
      );
    });
    await expect
      .poll(async () => (await service.call("GET", `/api/database/${id}/contents`)).status)
      .toBe(200);
    const configuration = await backups.createConfiguration({ backupable_id: id });
    const backup = newestOf(await backups.run(configuration.id));
    await page.goto(`${service.url}/backups/${backup.id}/contents`);
    const row = (name: string) => page.getByRole("row").filter({ hasText: name });
    await expect(row("public.shown")).toContainText("view");
    await page.getByLabel("Kind").selectOption({ label: "function (1)" });
    await expect(row("public.twice(integer)")).toBeVisible();
    await expect(row("public.shown")).toHaveCount(0);
    // Longer than the service accepts: the text stays in the field, and can be shortened.
    expected.push(/422 \(Unprocessable/);
    await page.getByLabel("Find an object").fill("shown".repeat(60));
    await expect(page.getByRole("main").getByRole("alert")).toBeVisible();
    await page.getByLabel("Find an object").fill("shown");
    await expect(page.getByText("No results for “shown”")).toBeVisible();
    await expectAccessible(page);
  } finally {
    await postgres.stop();
  }
});

test("browses a site's backup folder by folder, and searches it", async ({
  connected: page,
  service,
  backups,
}) => {
  const { root } = backups.site;
  await mkdir(join(root, "public/images"), { recursive: true });
  await writeFile(join(root, "public/images/logo.svg"), "<svg/>");
  await mkdir(join(root, "many"));
  for (let n = 100; n < 310; n++) await writeFile(join(root, `many/${n}.txt`), "");
  const { id } = await backups.createConfiguration({
    backupable_type: "site",
    backupable_id: backups.site.id,
  });
  const backup = newestOf(await backups.run(id));
  await page.goto(`${service.url}/backups/${backup.id}/contents`);
  const row = (name: string) => page.getByRole("row").filter({ hasText: name });
  await expect(row("index.html")).toContainText("1.4 kB");
  await page.getByRole("link", { name: "public/" }).click();
  await page.getByRole("link", { name: "images/" }).click();
  await expect(row("logo.svg")).toContainText("6 bytes");
  await expectAccessible(page);
  await page.getByRole("navigation", { name: "Folder" }).getByText("Site folder").click();
  await page.getByRole("link", { name: "many/" }).click();
  await expect(page.getByText("1–200 of 210")).toBeVisible();
  await page.getByRole("link", { name: "Next" }).click();
  await expect(row("309.txt")).toBeVisible();
  await expect(page.getByRole("link", { name: "Next" })).toBeFocused();
  await page.getByRole("navigation", { name: "Folder" }).getByText("Site folder").click();
  await expect(row("index.html")).toBeVisible();
  await page.getByLabel("Find a file").fill("LOGO");
  await page.getByLabel("Find a file").press("Enter");
  await expect(row("public/images/logo.svg")).toBeVisible();
  await expect(page.getByLabel("Find a file")).toBeFocused();
  await page.goBack();
  await expect(page.getByLabel("Find a file")).toHaveValue("");
  await page.goForward();
  await expect(page.getByLabel("Find a file")).toHaveValue("LOGO");

  // A folder in an old URL may no longer exist, which differs from an empty one.
  await mkdir(join(root, "nothing"));
  const later = newestOf(await backups.run(id));
  await page.goto(`${service.url}/backups/${later.id}/contents?folder=nothing`);
  await expect(page.getByText("This folder is empty.")).toBeVisible();
  await page.goto(`${service.url}/backups/${later.id}/contents?folder=public/old&q=logo`);
  await expect(page.getByText("This backup has no folder “public/old”.")).toBeVisible();
  // While the next folder is loading, no text describes it.
  const said = await page.evaluateHandle(() => {
    const texts: string[] = [];
    new MutationObserver(() => texts.push(document.body.innerText)).observe(document.body, {
      subtree: true,
      childList: true,
      characterData: true,
    });
    return texts;
  });
  await page.getByRole("link", { name: "Show the site folder" }).click();
  await expect(row("index.html")).toBeVisible();
  expect(await said.evaluate((texts) => texts.filter((text) => text.includes("“”")))).toEqual([]);
  await page.getByLabel("Find a file").fill("LOGO");
  await page.getByLabel("Find a file").press("Enter");

  // Restores one file, while all others stay.
  await writeFile(join(root, "public/images/logo.svg"), "spoiled");
  await writeFile(join(root, "public/images/later.svg"), "later");
  await page.getByRole("button", { name: "Restore public/images/logo.svg" }).click();
  const dialog = page.getByRole("alertdialog");
  await expect(dialog).toContainText("Everything else stays as it is.");
  await expectAccessible(page);
  await dialog.getByRole("textbox").fill(backups.site.name);
  await dialog.getByRole("button", { name: "Restore", exact: true }).click();
  await expect(
    page.getByText(/^Restore of public\/images\/logo\.svg in .* finished/),
  ).toBeVisible();
  expect(await readFile(join(root, "public/images/logo.svg"), "utf8")).toBe("<svg/>");
  expect(await readFile(join(root, "public/images/later.svg"), "utf8")).toBe("later");
});

test("restores a file whose name no request can contain together with its folder @long", async ({
  connected: page,
  service,
  backups,
}) => {
  const odd = join(backups.site.root, "odd");
  await mkdir(odd);
  await writeFile(join(odd, "two\nlines.txt"), "kept");
  await writeFile(Buffer.from(`${odd}/caf\xe9.txt`, "latin1"), "kept");
  const { id } = await backups.createConfiguration({
    backupable_type: "site",
    backupable_id: backups.site.id,
  });
  const backup = newestOf(await backups.run(id));
  await rm(odd, { recursive: true });
  await page.goto(`${service.url}/backups/${backup.id}/contents?folder=odd`);
  const expectRefused = async (name: RegExp, reason: RegExp) => {
    const button = page.getByRole("button", { name });
    await expect(button).toBeDisabled();
    await expect(button).toHaveAccessibleDescription(reason);
  };
  await expectRefused(/two lines\.txt/, /control characters.*a folder above it/);
  await expectRefused(/caf.\.txt/, /not UTF-8.*a folder above it/);
  await expectAccessible(page);

  await page.getByRole("navigation", { name: "Folder" }).getByText("Site folder").click();
  await page.getByRole("button", { name: "Restore odd", exact: true }).click();
  const dialog = page.getByRole("alertdialog");
  await dialog.getByRole("textbox").fill(backups.site.name);
  await dialog.getByRole("button", { name: "Restore", exact: true }).click();
  await expect(page.getByText(/^Restore of odd in .* finished/)).toBeVisible();
  expect(await readFile(join(odd, "two\nlines.txt"), "utf8")).toBe("kept");
  expect(await readFile(Buffer.from(`${odd}/caf\xe9.txt`, "latin1"), "utf8")).toBe("kept");
});

test("lists a backup whose file was unavailable after another try @long", async ({
  connected: page,
  service,
  backups,
  expected,
}) => {
  expected.push(/409 \(Conflict/);
  const { id } = await backups.createConfiguration({
    backupable_type: "site",
    backupable_id: backups.site.id,
  });
  const backup = newestOf(await backups.run(id));
  const path = pathOf(backups, backup);
  await rename(path, `${path}.away`);
  await page.goto(`${service.url}/backups/${backup.id}/contents`);
  const alert = page.getByRole("main").getByRole("alert");
  await expect(alert).toBeVisible();
  await expectAccessible(page);
  await rename(`${path}.away`, path);
  await alert.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("row").filter({ hasText: "index.html" })).toBeVisible();
  await expect(alert).toBeHidden();
  // The button no longer exists.
  await expect(page.getByRole("heading", { level: 1 })).toBeFocused();
});
