// Adopts the storage of an earlier installation: first the preview, then the result.
import { mkdir, readdir, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Page } from "@playwright/test";
import type { Backup, BackupConfiguration } from "../contract/backups/backup.ts";
import { makeMemoryFolder } from "../server/testing/memory-folder.ts";
import { ownUser } from "../server/testing/own-user.ts";
import { startService, type ServiceProcess } from "../server/testing/service-process.ts";
import { expect, test } from "./fixtures.ts";
import {
  connectAs,
  createReadingToken,
  expectAccessibleInBoth,
  expectNoSidewaysScroll,
  expectToast,
} from "./helpers.ts";

test.describe.configure({ mode: "serial" });

let folder: string;
let service: ServiceProcess;
const address = "/settings/inventory/storage-providers/1/adopt";
const storage = () => join(folder, "backups");

const json = async <Body>(method: string, path: string, body?: unknown): Promise<Body> =>
  (await service.call(method, path, body)).json();

/** Stores two backups and deletes their configuration, so that only the storage has them. */
async function leaveBackups(): Promise<void> {
  const { id } = await json<BackupConfiguration>("POST", "/api/server/1/backup-configuration", {
    name: "Orders",
    frequency: "30 2 * * *",
    storage_provider_id: 1,
    backupable_type: "database",
    backupable_id: 1,
  });
  const path = `/api/backup-configuration/${id}`;
  const status = async () => (await json<BackupConfiguration>("GET", path)).status;
  await expect.poll(status, { intervals: [50] }).toBe("installed");
  for (let run = 0; run < 2; run++) {
    const backup = await json<Backup>("POST", `/api/backup/${id}`);
    const ended = async () => (await json<Backup>("GET", `/api/backup/${backup.id}`)).status;
    await expect.poll(ended, { intervals: [50] }).toBe("finished");
  }
  await service.call("DELETE", path);
}

/** Copies the first stored file, with a changed manifest. */
async function plant(name: string, change: (text: string) => string): Promise<void> {
  const keys = await readdir(storage(), { recursive: true });
  const first = keys.find((key) => key.endsWith(".sqlite.zst")) ?? "";
  const own = first.split("/").at(-1) ?? "";
  const to = join(dirname(join(storage(), first)), name);
  await writeFile(to, await readFile(join(storage(), first)));
  const text = await readFile(join(storage(), `${first}.json`), "utf8");
  await writeFile(`${to}.json`, change(text.replace(own, name)));
}

test.beforeAll(async () => {
  folder = await realpath(await makeMemoryFolder("quarterdeck-e2e-"));
  await mkdir(storage());
  const database = new DatabaseSync(join(folder, "orders.sqlite"));
  database.exec("create table orders (id integer primary key)");
  database.close();
  await writeFile(
    join(folder, "inventory.yaml"),
    `servers:
  - { id: 1, name: web-1, connection: local }
databases:
  - { id: 1, server: 1, name: orders, engine: sqlite, path: ${folder}/orders.sqlite, user: ${ownUser} }
storage_providers:
  - { id: 1, name: old disk, type: local, path: ${storage()} }
`,
  );
  service = await startService(folder);
  await leaveBackups();
  await plant("1-20260101T000000Z-0.sqlite.zst", (text) =>
    text.replace(
      '"name": "orders"',
      '"name": "a-database-with-a-name-that-is-as-long-as-they-get"',
    ),
  );
  await plant("2-20260101T000000Z-0.sqlite.zst", (text) =>
    text.replace(/"size": \d+/, '"size": 1'),
  );
});
test.afterAll(async () => {
  await service.end("SIGINT");
  await rm(folder, { recursive: true, force: true });
});

async function open(page: Page): Promise<void> {
  await connectAs(page, service.url);
  await page.goto(service.url + address);
}
const panel = (page: Page, name: string | RegExp) => page.getByRole("region", { name });
const rowOf = (page: Page, name: RegExp) => page.getByRole("row", { name });

test("says that a storage is unavailable, and reads it again @long", async ({ page, expected }) => {
  expected.push(/409 \(Conflict\)/);
  await rename(storage(), `${storage()}-away`);
  await open(page);
  await expect(page.getByRole("main").getByRole("alert")).toContainText("is not there");
  await rename(`${storage()}-away`, storage());
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(panel(page, "To be adopted")).toBeVisible();
});

test("is linked from the inventory, previews what can and cannot be adopted on a phone and accessibly, and lists adopted backups without a schedule", async ({
  page,
}) => {
  await connectAs(page, service.url);
  await page.goto(`${service.url}/settings/inventory`);
  await page.getByRole("link", { name: "Adopt backups from old disk" }).click();
  await expect(page.getByRole("heading", { name: "Adopt backups", level: 1 })).toBeFocused();
  await page.setViewportSize({ width: 360, height: 740 });
  await expect(
    rowOf(page, /orders.*SQLite on web-1.*Restores to orders on web-1.*2 backups/),
  ).toBeVisible();
  await expect(panel(page, "Missing in the inventory")).toContainText(
    "The inventory has no SQLite database “a-database-with-a-name-that-is-as-long-as-they-get” on server “web-1”.",
  );
  await page.getByText("Newest files").click();
  await expect(page.getByText("1-20260101T000000Z-0.sqlite.zst")).toBeVisible();
  await expect(panel(page, "Not adoptable: 1 stored file")).toContainText(
    /The file is damaged: it has/,
  );
  await expectNoSidewaysScroll(page);
  await expectAccessibleInBoth(page);

  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole("button", { name: "Adopt 2 backups" }).click();
  await expectToast(page, "status", "2 backups adopted.");
  await expect(panel(page, "To be adopted")).toBeHidden();
  await expect(page.getByRole("heading", { name: "Adopt backups", level: 1 })).toBeFocused();
  await expectAccessibleInBoth(page);
  await panel(page, "Adopted").getByRole("link", { name: "orders" }).click();
  await expect(page.getByRole("heading", { name: "orders (adopted)" })).toBeVisible();
  await expect(page.getByText("No schedule, and retention deletes nothing.")).toBeVisible();
  await expect(page.getByRole("main")).toContainText("All, until you edit the backup");
  await expect(panel(page, "Upcoming")).toBeHidden();

  // Only backups with a schedule protect a database.
  await page.goto(`${service.url}/`);
  await expect(page.getByRole("main")).toContainText("orders has no backup");

  await page.goto(service.url + address);
  await expect(page.getByText("2 stored files are listed already.")).toBeVisible();
  await expect(page.getByRole("button", { name: /^Adopt/ })).toBeHidden();
});

test("editing an adopted configuration gives it a schedule, and describes the consequences @long", async ({
  page,
}) => {
  await connectAs(page, service.url);
  await page.goto(`${service.url}/servers/1/backups`);
  await page.getByRole("link", { name: "Edit: orders (adopted)" }).click();
  await expect(page.getByText(/retention then deletes backups beyond/)).toBeVisible();
  await page.getByRole("button", { name: "Save changes" }).click();
  await expect(page.getByText("At 02:30, every day")).toBeVisible();
  await expect(page.getByText("All, until you edit the backup")).toBeHidden();
});

test("is not offered to tokens that can only read or that are limited to one server @long", async ({
  page,
  expected,
}) => {
  expected.push(/403 \(Forbidden\)/, /404 \(Not Found\)/);
  const { token: narrowed } = await json<{ token: string }>("POST", "/api/tokens", {
    name: "narrowed",
    abilities: ["*"],
    server_ids: [1],
  });
  for (const token of [await createReadingToken(service), narrowed]) {
    await connectAs(page, service.url, token);
    await page.goto(service.url + address);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expect(page.getByRole("heading", { name: "Adopt backups" })).toBeHidden();
  }
});
