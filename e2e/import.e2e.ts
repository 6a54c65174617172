// Tests the import of files that Quarterdeck did not make: uploaded or chosen from a storage, then restored.
import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gzipSync } from "node:zlib";
import { action, listOf } from "./backup-helpers.ts";
import { sendSignal } from "../server/testing/signals.ts";
import { expect, test } from "./fixtures.ts";
import { expectAccessible, expectNoSidewaysScroll, expectToast } from "./helpers.ts";

test("uploads a file, selects another one from the storage, and makes a restorable backup of each", async ({
  connected: page,
  service,
  backups,
}) => {
  const { server, database, site, provider } = backups;
  const file = join(service.folder, `brought-${database.id}.sqlite`);
  const content = new DatabaseSync(file);
  content.exec("create table orders (id integer primary key); insert into orders values (1), (2)");
  content.close();
  const packed = gzipSync(await readFile(file));

  await page.goto(`${service.url}${listOf(backups)}`);
  await page.getByRole("link", { name: "Import a file" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Import a file");
  await expect(page.getByLabel("Server", { exact: true })).toHaveValue(String(server.id));
  await page.getByRole("button", { name: "Import" }).click();
  await expect(page.getByText("Choose what the file is a backup of.")).toBeVisible();
  await expect(page.getByText("Choose a file on this computer.")).toBeVisible();
  await expect(page.getByLabel("Database or site")).toBeFocused();
  await expectNoSidewaysScroll(page);
  await expectAccessible(page);
  await page.getByLabel("Database or site").selectOption(`${database.name} (database)`);
  await page
    .getByLabel("File to upload")
    .setInputFiles({ name: "orders.gz", mimeType: "application/gzip", buffer: packed });
  await page.getByRole("button", { name: "Import" }).click();
  await expectToast(page, "status", `Importing into “${database.name} (imported)”.`);
  await expect(page.getByRole("main")).toContainText("SQLite database, compressed by gzip");
  const id = Number(page.url().split("/").at(-1));
  await expect(page.getByRole("main")).toContainText(`${provider.name} (${provider.folder})`);
  await expect(action(page, "Restore", id)).toBeEnabled();
  await action(page, "Restore", id).click();
  await expect(page.getByRole("alertdialog")).toContainText(
    "Current data, no backup in this configuration",
  );
  await page.getByRole("button", { name: "Cancel", exact: true }).last().click();

  // The file's kind does not fit a site's folder: refused with a message.
  const folder = join(provider.folder, `brought-${database.id}`);
  await page.goto(`${service.url}/import?server=${server.id}&storage=${provider.id}`);
  await page.getByLabel("Database or site").selectOption(`${site.name} (site)`);
  await page.getByLabel("Path begins with").fill(`brought-${database.id}/`);
  await page.getByLabel("Path begins with").press("Enter");
  await expect(page.getByText(/Copy one into the storage, then list again\.$/)).toHaveText(
    /^No results for “brought-/,
  );
  await mkdir(folder);
  await writeFile(join(folder, "orders.gz"), packed);
  await page.getByRole("button", { name: "List" }).click();
  await expect(page.getByText("Choose a file in the storage.")).toHaveCount(0);
  await expectAccessible(page);
  const stored = page.getByRole("radio", { name: `brought-${database.id}/orders.gz` });
  const dot = () => stored.evaluate((radio) => getComputedStyle(radio, "::after").opacity);
  expect(await dot()).toBe("0");
  await stored.check();
  expect(await dot()).toBe("1");
  await page.getByRole("button", { name: "Import" }).click();
  await expect(page.getByRole("main")).toContainText(
    `A backup of ${site.name} needs a tar archive. Nothing was imported.`,
  );
  await page.getByRole("link", { name: "Import another file" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Import a file");
  await page.goto(`${service.url}${listOf(backups)}`);
  await expect(
    page.getByRole("row", { name: new RegExp(`${database.name} \\(imported\\)`) }),
  ).toContainText("imported");
});

test("asks before the page is left during an upload @long", async ({
  connected: page,
  service,
  backups,
}) => {
  await page.goto(`${service.url}/import?server=${backups.server.id}`);
  await page.getByLabel("Database or site").selectOption(`${backups.database.name} (database)`);
  await page.getByLabel("File to upload").setInputFiles({
    name: "orders.sqlite",
    mimeType: "application/octet-stream",
    buffer: randomBytes(4_000_000),
  });
  const browser = await page.context().newCDPSession(page);
  await browser.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: 10_000,
  });
  await page.getByRole("button", { name: "Import" }).click();
  await expect(page.getByText("Keep this page open.")).toBeVisible();
  await page.getByRole("button", { name: "Cancel upload" }).click();
  await expect(page.getByText("Keep this page open.")).toBeHidden();
  await expect(page.getByRole("heading", { level: 1 })).toBeFocused();
  await page.getByRole("button", { name: "Import" }).click();
  const overview = page.getByRole("link", { name: "Overview" }).first();
  await overview.click();
  const question = page.getByRole("alertdialog", { name: "Leave during the upload?" });
  await question.getByRole("button", { name: "Keep uploading" }).click();
  await expect(page.getByText("Keep this page open.")).toBeVisible();
  await overview.click();
  await question.getByRole("button", { name: "Cancel upload" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Overview");
  await browser.detach();
});

test("an upload that stands still says so, until it goes on @long", async ({
  connected: page,
  service,
  backups,
}) => {
  await page.clock.install();
  await page.goto(`${service.url}/import?server=${backups.server.id}`);
  await page.getByLabel("Database or site").selectOption(`${backups.database.name} (database)`);
  await page.getByLabel("File to upload").setInputFiles({
    name: "orders.sqlite",
    mimeType: "application/octet-stream",
    buffer: randomBytes(40_000_000),
  });
  sendSignal(service.pid, "SIGSTOP");
  try {
    await page.getByRole("button", { name: "Import" }).click();
    await expect(async () => {
      await page.clock.runFor(11_000);
      await expect(page.getByText(/^Nothing was sent for 10 seconds\./)).toBeVisible({
        timeout: 1,
      });
    }).toPass();
  } finally {
    sendSignal(service.pid, "SIGCONT");
  }
  await expect(page.getByText("Nothing was sent")).toBeHidden();
  await expectToast(page, "status", /^Importing into/);
});

test("accepts a file that is dropped beside the field, and stays on the page @long", async ({
  connected: page,
  service,
  backups,
}) => {
  const file = join(service.folder, "dropped.sql");
  await writeFile(file, "create table orders (id integer);");
  await page.goto(`${service.url}/import?server=${backups.server.id}`);
  const heading = page.getByRole("heading", { level: 1 });
  await expect(heading).toHaveText("Import a file");
  const { x, y } = (await heading.boundingBox()) ?? { x: 0, y: 0 };
  const browser = await page.context().newCDPSession(page);
  const drop = async (path: string) => {
    for (const type of ["dragEnter", "dragOver", "drop"] as const)
      await browser.send("Input.dispatchDragEvent", {
        type,
        x: x + 5,
        y: y + 5,
        data: { items: [], files: [path], dragOperationsMask: 1 },
      });
  };
  await drop(file);
  await expect(page.getByLabel("File to upload")).toHaveValue(/dropped\.sql$/);

  // This holds while a file of the storage is chosen, too.
  await page.getByLabel("Choose from the storage").check();
  await expect(page.getByLabel("File to upload")).toBeHidden();
  const other = join(service.folder, "other.sql");
  await writeFile(other, "create table orders (id integer);");
  await drop(other);
  await expect(page.getByLabel("Upload a file")).toBeChecked();
  await expect(page.getByLabel("File to upload")).toHaveValue(/other\.sql$/);
  await page.getByRole("button", { name: "Import" }).click();
  await expect(page.getByText("Choose what the file is a backup of.")).toBeVisible();
  await expect(page.getByText("Choose a file on this computer.")).toBeHidden();
});
