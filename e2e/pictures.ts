// Takes the screenshots of docs/ again, of a real service with real data: node e2e/pictures.ts
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { chromium, expect } from "@playwright/test";
import { launchOptions } from "../server/setup/browser.ts";
import { buildDashboard } from "../server/setup/build.ts";
import { serviceToken, startService } from "../server/testing/service-process.ts";
import { workerBody } from "../server/testing/worker-body.ts";
import { ownUser } from "../server/testing/own-user.ts";
import { portOf } from "../server/testing/port-of.ts";

const docs = fileURLToPath(new URL("../docs", import.meta.url));
// The screenshots show its paths, so it has a fixed name instead of a random one, and must not exist yet.
const folder = join(tmpdir(), "srv");

const artisan = `case "$*" in *exports*) echo "SQLSTATE[HY000] [2002] Connection refused"; exit 1;; esac
trap "exit 0" TERM; while :; do echo "App\\\\Jobs\\\\SendInvoice ... DONE"; sleep 0.5; done\n`;

const siteNames = ["shop.example.com", "blog.example.com"];

async function writeInventory(): Promise<string> {
  await mkdir(folder, { mode: 0o711 });
  for (const name of [...siteNames, "backups"]) await mkdir(join(folder, name));
  for (const name of siteNames) await writeFile(join(folder, name, "artisan"), artisan);
  const database = new DatabaseSync(join(folder, "orders.sqlite"));
  database.exec("create table orders (id integer primary key, note text)");
  database.close();
  const file = join(folder, "inventory.yaml");
  await writeFile(
    file,
    `servers:
  - { id: 1, name: web-1, connection: local, time_zone: Europe/Berlin }
sites:
  - { id: 1, server: 1, name: shop.example.com, root: ${join(folder, "shop.example.com")}, user: ${ownUser}, artisan: [sh, artisan], databases: [1] }
  - { id: 2, server: 1, name: blog.example.com, root: ${join(folder, "blog.example.com")}, user: ${ownUser}, artisan: [sh, artisan] }
databases:
  - { id: 1, server: 1, name: orders, engine: sqlite, path: ${join(folder, "orders.sqlite")}, user: ${ownUser} }
storage_providers:
  - { id: 1, name: backup disk, type: local, path: ${join(folder, "backups")} }
`,
  );
  return file;
}

/** Adds rows between backups, so that their sizes grow as those of a real shop do. */
function addOrders(count: number): void {
  const database = new DatabaseSync(join(folder, "orders.sqlite"));
  const row = database.prepare("insert into orders (note) values (hex(randomblob(40)))");
  database.exec("begin");
  for (let index = 0; index < count; index++) row.run();
  database.exec("commit");
  database.close();
}

await buildDashboard();
const inventory = await writeInventory();
let isStockDown = false;
const receiver = createServer((request, response) => {
  const isBroken = isStockDown && request.url === "/hooks/stock";
  request.resume().on("end", () => response.writeHead(isBroken ? 503 : 204).end());
}).listen(0, "127.0.0.1");
const service = await startService(join(folder, "data"), {
  QUARTERDECK_INVENTORY: inventory,
  QUARTERDECK_ALLOW: "127.0.0.0/8, ::1",
});
const browser = await chromium.launch(launchOptions());
try {
  const make = async (path: string, body: unknown): Promise<number> => {
    const { id }: { id: number } = await (await service.call("POST", path, body)).json();
    return id;
  };
  const nightly = { frequency: "30 2 * * *", hold: 14, storage_provider_id: 1 };
  const orders = { name: "Orders, nightly", backupable_type: "database", backupable_id: 1 };
  const files = { name: "Shop files", backupable_type: "site", backupable_id: 1 };
  const configuration = await make("/api/server/1/backup-configuration", { ...nightly, ...orders });
  const shop = await make("/api/server/1/backup-configuration", { ...nightly, ...files });
  for (const [queue, processes, startretries] of [
    ["default", 3, 3],
    ["emails,notifications", 2, 3],
    ["exports", 1, 0],
    ["reports", 1, 3],
  ])
    await make("/api/site/1/worker", {
      ...workerBody,
      queue,
      processes,
      startretries,
      startsecs: 1,
    });
  const hooks = `http://localhost:${portOf(receiver)}/hooks`;
  for (const name of ["deployments", "stock"])
    await make("/api/site/1/webhook", { url: `${hooks}/${name}` });
  const run = (id: number) =>
    expect
      .poll(async () => (await service.call("POST", `/api/backup/${id}`)).status, {
        intervals: [200],
        timeout: 60_000,
      })
      .toBe(202);
  await run(shop);
  addOrders(20_000);
  for (let night = 0; night < 12; night++) {
    addOrders(800 + 150 * night);
    await run(configuration);
  }
  isStockDown = true;
  await run(configuration);
  await service.call("DELETE", "/api/worker/4/stop");
  await service.call("POST", "/api/site/1/deployment", { status: "finished" });

  const page = await browser.newPage({ viewport: { width: 1440, height: 640 } });
  await page.goto(`${service.url}/#token=${encodeURIComponent(serviceToken)}`);
  await page.getByRole("button", { name: "Not now" }).click();
  const firstSteps = page.getByRole("region", { name: "First steps" });
  await firstSteps.getByRole("button", { name: "Dismiss" }).click();
  const take = async (name: string, path: string, sign: string) => {
    await page.goto(service.url + path);
    await expect(page.getByText(sign).first()).toBeVisible();
    await page.waitForLoadState("networkidle");
    await page.screenshot({ path: join(docs, `${name}.png`), animations: "disabled" });
  };
  await take("overview", "/", "Worker exports on database failed");
  await take("backups", `/backup-configurations/${configuration}`, "Next runs");
  await take("workers", "/sites/1/workers", "failed");
  await page.goto(`${service.url}/webhooks/2`);
  await page
    .getByRole("row", { name: /retrying/ })
    .last()
    .getByRole("link")
    .click();
  await page.waitForURL(/delivery=/);
  await take("webhooks", page.url().slice(service.url.length), "Attempt 1");
} finally {
  await browser.close();
  await service.end("SIGINT");
  receiver.closeAllConnections();
  receiver.close();
  await chmod(folder, 0o700);
  await rm(folder, { recursive: true });
}
