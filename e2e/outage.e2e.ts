// Tests an outage of the service: what pages show meanwhile, and that they recover when it is back on the same port.
import { mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { startService, type ServiceProcess } from "../server/testing/service-process.ts";
import { patientArtisan } from "../server/testing/artisan.ts";
import { makeMemoryFolder } from "../server/testing/memory-folder.ts";
import { ownUser } from "../server/testing/own-user.ts";
import { workerBody } from "../server/testing/worker-body.ts";
import { runOnce } from "./backup-helpers.ts";
import { expect, test as base } from "./fixtures.ts";
import { connectAs, expectAccessible, listPollMs } from "./helpers.ts";
import { test as testInstallation } from "./installation.ts";
import { bar, box } from "./list-helpers.ts";

type Moody = { url: string; stop(): Promise<void>; start(): Promise<void> };

/** Starts a separate service with one worker, which can be stopped and started again on the same port. */
const test = base.extend<{ moody: Moody }>({
  moody: async ({ context, expected }, provide) => {
    expected.push(
      /ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|status of 503|^503 /,
    );
    const folder = await realpath(await makeMemoryFolder("quarterdeck-outage-"));
    const root = join(folder, "shop");
    await mkdir(root);
    await writeFile(join(root, "artisan"), patientArtisan);
    const inventory = join(folder, "inventory.yaml");
    await writeFile(
      inventory,
      `servers:\n  - { id: 1, name: web-1, connection: local, time_zone: UTC }\nsites:\n  - { id: 1, server: 1, name: shop.example.com, root: ${root}, user: ${ownUser}, artisan: [sh, artisan] }\n`,
    );
    const data = join(folder, "data");
    const environment = { QUARTERDECK_INVENTORY: inventory, QUARTERDECK_WORKERS: "keep" };
    let service: ServiceProcess = await startService(data, environment);
    const { url } = service;
    const { port } = new URL(url);
    await expect
      .poll(async () => (await service.call("POST", "/api/site/1/worker", workerBody)).status)
      .toBe(201);
    await provide({
      url,
      stop: () => service.end("SIGTERM"),
      async start() {
        service = await startService(data, { ...environment, PORT: port });
      },
    });
    for (const page of context.pages()) await page.goto("about:blank");
    await service.call("DELETE", "/api/worker/1");
    // The service keeps workers running when it ends, so the worker has to be gone before.
    const status = async () => (await service.call("GET", "/api/worker/1")).status;
    await expect.poll(status).toBe(404);
    await service.end("SIGINT");
    await rm(folder, { recursive: true, force: true });
  },
});

const banner = (page: Page) => page.getByRole("status", { name: "Service status" });
const unreachable = /Unreachable since \d\d:\d\d, showing the last known state/;
// Each row contains the state twice, for wide and for narrow screens.
const stateOf = (page: Page) =>
  page.getByRole("table").getByText("installed", { exact: true }).filter({ visible: true });
const colorOf = (page: Page) =>
  stateOf(page)
    .locator("svg")
    .first()
    .evaluate((dot) => getComputedStyle(dot).color);

/** Waits for the code of the overlays, which is loaded last. */
const settle = (page: Page) =>
  expect(page.getByRole("log", { name: "Changes" })).toBeAttached({ timeout: 15_000 });

/** @param away takes the service at the URL down, runs its argument, and brings the service back */
async function expectOutageShown(
  page: Page,
  url: string,
  siteId: number,
  away: (meanwhile: () => Promise<void>) => Promise<void>,
): Promise<void> {
  await page.clock.install();
  await connectAs(page, url);
  await page.goto(`${url}/sites/${siteId}/workers`);
  await expect(stateOf(page)).toBeVisible();
  await settle(page);
  await expect(banner(page)).toBeEmpty();
  const color = await colorOf(page);
  const place = await stateOf(page).boundingBox();

  await away(async () => {
    await page.clock.runFor(listPollMs);
    await expect(banner(page)).toContainText(unreachable, { timeout: 30_000 });
    expect(await colorOf(page)).not.toBe(color);
    expect(await stateOf(page).boundingBox()).toEqual(place);
    await expectAccessible(page);
  });
  await page.clock.runFor(listPollMs);
  await expect(banner(page)).toBeEmpty({ timeout: 30_000 });
  await expect.poll(() => colorOf(page)).toBe(color);
  await expect(page.getByText("Quarterdeck was updated.")).toBeHidden();
}

testInstallation(
  "during an outage a page shows its start, and keeps its states without their color and its layout",
  async ({ page, site, installation }) => {
    await site.createWorker({ startsecs: 0 });
    await expectOutageShown(page, installation.url, site.id, installation.restart);
  },
);

test("shows a restart of the service, and keeps the states @long", async ({ page, moody }) => {
  await expectOutageShown(page, moody.url, 1, async (meanwhile) => {
    await moody.stop();
    await meanwhile();
    await moody.start();
  });
});

testInstallation(
  "reports a service that accepts requests and never responds as unreachable, on pages and on forms",
  async ({ page, site, installation, expected }) => {
    // The proxy passes on reading requests only.
    expected.push(/405/);
    await site.createWorker({ startsecs: 0 });
    await page.clock.install();
    await connectAs(page, installation.url);
    await page.goto(`${installation.url}/sites/${site.id}/workers`);
    await expect(stateOf(page)).toBeVisible();
    await settle(page);
    const hung = async () => {
      await page.clock.runFor(listPollMs);
      await expect(banner(page)).toContainText(unreachable, { timeout: 1_000 });
    };
    const create = page.getByRole("button", { name: "Create worker" });
    for (const isAsked of [true, false]) {
      const release = installation.hold();
      if (!isAsked) await create.click();
      await expect(hung).toPass();
      release();
      await page.clock.runFor(listPollMs);
      await expect(banner(page)).toBeEmpty();
      if (!isAsked) continue;
      await page.getByRole("link", { name: "New worker" }).first().click();
      // The form needs responses of its own, which `hold` would delay.
      await expect(create).toBeVisible();
    }
  },
);

test("a page whose code cannot be loaded during an outage says so, and opens afterwards @long", async ({
  page,
  moody,
}) => {
  await connectAs(page, moody.url);
  await page.goto(`${moody.url}/sites/1/workers`);
  await expect(stateOf(page)).toBeVisible();
  await settle(page);
  await moody.stop();
  await page.getByRole("link", { name: "Settings" }).first().click();
  await expect(
    page.getByRole("heading", { name: "The service is not responding", level: 1 }),
  ).toBeVisible();
  await expect(page.getByText(/was updated|newer version/)).toBeHidden();
  await moody.start();
  await expect(page.getByRole("heading", { name: "Settings", level: 1 })).toBeVisible({
    timeout: 30_000,
  });
  await expect(banner(page)).toBeEmpty();
});

testInstallation(
  "a dialog opened during an outage says so, and keeps the page and its selection @long",
  async ({ page, site, installation }) => {
    const { id } = await site.createWorker({ startsecs: 0 });
    await connectAs(page, installation.url);
    await page.goto(`${installation.url}/sites/${site.id}/workers`);
    await expect(stateOf(page)).toBeVisible();
    await settle(page);
    const said = (text: string) => expect(page.getByRole("alert").getByText(text)).toBeVisible();
    const keys = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await installation.restart(async () => {
      await page.keyboard.press("?");
      await said("Couldn't load the keyboard shortcuts.");
      await expect(keys).toBeHidden();
      // The code of bulk actions is loaded when the first row is selected.
      await box(page, id).check();
      await expect(banner(page)).toContainText(unreachable, { timeout: 30_000 });
      await expect(box(page, id)).toBeChecked();
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("Workers");
    });
    await expect(bar(page)).toContainText("1 selected", { timeout: 30_000 });
    await page.keyboard.press("?");
    await expect(keys).toBeVisible();
    await page.keyboard.press("Escape");

    // The dialog opens only once the code that reports the outcome is loaded.
    await installation.restart(async () => {
      await bar(page).getByRole("button", { name: "Stop: 1 selected" }).click();
      await said("Couldn't load what the action needs.");
      await expect(page.getByRole("alertdialog")).toBeHidden();
      await expect(bar(page)).toContainText("1 selected");
    });
    await bar(page).getByRole("button", { name: "Stop: 1 selected" }).click();
    await expect(page.getByRole("alertdialog", { name: "Stop 1 worker?" })).toBeVisible();
  },
);

testInstallation(
  "a form keeps its input when a part of it loads late @long",
  async ({ page, backups, installation }) => {
    await connectAs(page, installation.url);
    await page.goto(`${installation.url}/servers/${backups.server.id}/backups/new`);
    const name = page.getByLabel("Name", { exact: true });
    await name.fill("typed before");
    const runs = page.getByRole("region", { name: "Next runs" });
    await expect(runs.getByRole("table")).toBeVisible();
    await settle(page);
    await installation.restart(async () => {
      // Describing a custom schedule needs code that no preset needs.
      await page.getByLabel("Schedule").selectOption("Custom");
      await page.getByLabel("Cron expression").fill("5 4 * * 0");
      await expect(banner(page)).toContainText(unreachable, { timeout: 30_000 });
      await expect(name).toHaveValue("typed before");
    });
    await expect(runs).toContainText("At 04:05, only on Sunday", { timeout: 30_000 });
    await expect(name).toHaveValue("typed before");
  },
);

testInstallation(
  "a confirmation whose code cannot be loaded says what to do, and opens the next time",
  async ({ page, backups, installation }) => {
    const { id, name } = await backups.createConfiguration();
    await connectAs(page, installation.url);
    await page.goto(`${installation.url}/backup-configurations/${id}`);
    const remove = page.getByRole("button", { name: `Delete: ${name}` });
    await expect(remove).toBeVisible();
    await settle(page);
    await installation.restart(async () => {
      await remove.click();
      await expect(
        page.getByRole("alert").filter({ hasText: "Couldn't open the confirmation." }),
      ).toContainText("Try again in a moment.");
    });
    await remove.click();
    await expect(page.getByRole("alertdialog")).toBeVisible();
  },
);

testInstallation(
  "loads the examples of a webhook after an outage @long",
  async ({ page, site, service, installation }) => {
    const made = await service.call("POST", `/api/site/${site.id}/webhook`, {
      url: "http://127.0.0.1:9/",
    });
    expect(made.status).toBe(201);
    const { id }: { id: number } = await made.json();
    await connectAs(page, installation.url);
    await page.goto(`${installation.url}/webhooks/${id}`);
    const summary = page.getByText("Verify signatures");
    await expect(summary).toBeVisible();
    await settle(page);
    await installation.restart(async () => {
      await summary.click();
      await expect(banner(page)).toContainText(unreachable, { timeout: 30_000 });
    });
    await expect(page.getByRole("figure", { name: "Verify signatures" })).toContainText(
      "WEBHOOK_SECRET",
      { timeout: 30_000 },
    );
  },
);

testInstallation(
  "shows the content that a restore elsewhere would replace as unknown during an outage @long",
  async ({ page, service, backups, installation }) => {
    const { server, database } = backups;
    const other = { id: database.id + 7000, name: `other-${database.id}` };
    const backup = await runOnce(backups);
    await service.changeInventory(({ databases }) =>
      databases.push(
        `{ id: ${other.id}, server: ${server.id}, name: ${other.name}, engine: sqlite, path: ${database.file}, user: ${ownUser} }`,
      ),
    );
    const contents = `/api/database/${other.id}/contents`;
    await expect.poll(async () => (await service.call("GET", contents)).status).toBe(200);
    await connectAs(page, installation.url);
    await page.goto(`${installation.url}/backups/${backup.id}/restore`);
    const target = page.getByRole("combobox", { name: "Database" });
    await expect(target.getByRole("option", { name: other.name })).toBeAttached();
    await settle(page);
    const compared = page.getByRole("region", { name: "Backup and current data" });
    await installation.restart(async () => {
      await target.selectOption(other.name);
      await expect(compared.getByRole("alert")).toContainText("The service is not responding.");
      await expect(compared.getByRole("button", { name: "Try again" })).toBeVisible();
      await expectAccessible(page);
    });
    await expect(compared.getByRole("columnheader", { name: "Now" })).toBeVisible({
      timeout: 30_000,
    });
    await expect(compared.getByRole("alert")).toBeHidden();
  },
);
