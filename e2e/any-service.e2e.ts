// The dashboard in front of a service that is not ours: everything the interface offers works, whatever words it is said
// in, and nothing on screen promises what only ours has.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { interfaceOperations } from "../contract/operations.ts";
import { startService } from "../server/testing/service-process.ts";
import { workerBody } from "../server/testing/worker-body.ts";
import { expect, test as base } from "./fixtures.ts";
import {
  clickRowAction,
  configurationRow,
  expectAccessible,
  expectRow,
  expectToast,
  workerRow,
} from "./helpers.ts";
import {
  type SecondService,
  secondToken,
  serverId,
  siteId,
  startSecondService,
} from "./second-service/second-service.ts";

type Ways = { "base address": string; upstream: string };

/** What a user of such a service sees in the console: that it lacks our extras, asks for pauses and refuses fields. */
const usual = /status of (404|429|422|400)/;

type Row = { method: string; pattern: RegExp };

const rows = Object.values(interfaceOperations).map(({ method, path }): Row => ({
  method,
  pattern: new RegExp(`/api${path.slice(4).replaceAll(/\{\w+\}/g, "\\d+")}$`),
}));

const test = base.extend<{ second: SecondService; open: (way: keyof Ways) => Promise<void> }>({
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what a fixture needs here
  second: async ({}, provide) => {
    const second = await startSecondService();
    await provide(second);
    await second.close();
  },

  open: async ({ page, service, second, expected }, provide) => {
    expected.push(usual);
    const missing: string[] = [];
    page.on("response", (response) => {
      const { pathname } = new URL(response.url());
      const method = response.request().method();
      // What was just deleted may have been asked for a moment before.
      if (second.asked.includes(`DELETE ${pathname}`)) return;
      if (
        response.status() === 404 &&
        rows.some((row) => row.method === method && row.pattern.test(pathname))
      )
        missing.push(`${method} ${pathname}`);
    });
    const closers: (() => Promise<void>)[] = [];
    await provide(async (way) => {
      const connect = async (url: string, address: string) => {
        await page.goto(`${url}/connect`);
        await page.getByLabel("Token").fill(secondToken);
        await page.getByLabel("Address").fill(address);
        await page.getByRole("button", { name: "Connect" }).click();
        await expect(page.getByRole("heading", { level: 1 })).toHaveText("Sites and servers");
      };
      if (way === "base address") return connect(service.url, second.url);
      const folder = await mkdtemp(join(tmpdir(), "quarterdeck-any-"));
      const front = await startService(join(folder, "data"), { QUARTERDECK_UPSTREAM: second.url });
      closers.push(async () => {
        await front.end("SIGTERM");
        await rm(folder, { recursive: true });
      });
      return connect(front.url, "");
    });
    for (const close of closers) await close();
    expect(missing, "nothing of the interface was asked for that is not there").toEqual([]);
  },
});

async function openPlace(page: Page, kind: "site" | "server"): Promise<void> {
  const [label, action, id] =
    kind === "site"
      ? (["Site id", "Open site", siteId] as const)
      : (["Server id", "Open backups", serverId] as const);
  await page.getByLabel(label).fill(String(id));
  await page.getByRole("button", { name: action }).click();
}

/** A badge of a word that is no news either way: neither good nor bad nor under way. */
const expectWord = (place: Page | Locator, word: string) =>
  expect(place.getByText(word, { exact: true }).filter({ visible: true }).first()).toBeVisible();

/** Fills in the form of a new worker, and sees it through a word of transit that the dashboard does not know. */
async function createWorker(page: Page, { move }: SecondService): Promise<number> {
  const connection = page.getByLabel("Connection", { exact: true });
  await connection.fill("nowhere");
  await page.getByRole("button", { name: "Create worker" }).click();
  await expect(connection).toHaveAccessibleDescription(/No connection of that name/);
  await expect(connection).toBeFocused();
  await connection.fill("redis");
  await page.getByRole("button", { name: "Create worker" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(/Worker \d{16}/);
  move();
  await expectWord(page, "provisioning");
  move();
  await expectWord(page, "active");
  return Number(/\d+$/.exec(page.url())?.[0]);
}

/** Presses a button of a worker's row; comes back when the service has heard of it, and shows nothing of it yet. */
async function order(page: Page, second: SecondService, id: number, action: string) {
  await clickRowAction(page, id, action);
  const path = `/api/worker/${id}/${action.toLowerCase()}`;
  await expect.poll(() => second.asked.some((one) => one.endsWith(path))).toBe(true);
  await expectWord(workerRow(page, id), action === "Start" ? "halted" : "active");
}

async function deleteWorker(page: Page, id: number): Promise<void> {
  await clickRowAction(page, id, "Delete");
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete worker" }).click();
  await expect(page.getByText("No workers yet")).toBeVisible();
}

async function chooseChannels(page: Page): Promise<void> {
  const onCall = page.getByRole("checkbox", { name: "On call" });
  await expect(onCall).toBeChecked();
  await expect(
    page.getByText("Selected channels are notified when this site is deployed."),
  ).toBeVisible();
  const id = page.getByLabel("Channel id");
  await id.fill("99");
  await page.getByRole("button", { name: "Add channel" }).click();
  await expect(id).toHaveAccessibleDescription(/Couldn't add channel 99: No such channel/);
  await id.fill("8000000000082");
  await page.getByRole("button", { name: "Add channel" }).click();
  await expect(page.getByRole("checkbox", { name: "Post room" })).toBeChecked();
  await onCall.uncheck();
  await expectToast(page, "status", /On call will no longer be notified/);
  await page.reload();
  await expect(page.getByRole("checkbox", { name: "Post room" })).toBeChecked();
  await expect(onCall).toBeHidden();
}

test.describe("by its address, another service's", () => {
  test("worker is made, refused at its field first, and followed until it is there", async ({
    page,
    second,
    open,
  }) => {
    await open("base address");
    await openPlace(page, "site");
    await expect(page.getByText("No workers yet")).toBeVisible();
    await page.getByRole("link", { name: "New worker" }).first().click();
    const id = await createWorker(page, second);
    await expect(page.getByText("This service doesn't provide worker logs")).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("button", { name: `Delete worker ${id}` }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete worker" }).click();
    await expect(page.getByText("No workers yet")).toBeVisible();
    // What is not there is not asked for again and again.
    expect(second.asked.filter((one) => one.endsWith(`/${id}/log`)).length).toBeLessThan(3);
  });

  test("workers are stopped, started, restarted and deleted", async ({ page, second, open }) => {
    await open("base address");
    const id = await second.make(`/api/site/${siteId}/worker`, workerBody);
    second.move();
    second.move();
    await openPlace(page, "site");
    const row = workerRow(page, id);
    await expectRow(row, "active", "database");
    await order(page, second, id, "Stop");
    second.move();
    await expectWord(row, "halted");
    await order(page, second, id, "Start");
    second.move();
    await expectWord(row, "warming");
    second.move();
    await expectWord(row, "active");
    await order(page, second, id, "Restart");
    second.move();
    await expectWord(row, "recycling");
    second.move();
    await expectWord(row, "active");
    await expectAccessible(page);
    await deleteWorker(page, id);
  });

  test("webhooks can be made and deleted, and nothing is claimed of what they are sent", async ({
    page,
    open,
  }) => {
    await open("base address");
    await openPlace(page, "site");
    await page.getByRole("link", { name: "Webhooks" }).click();
    await expect(page.getByText("No webhooks yet")).toBeVisible();
    await page.getByRole("link", { name: "New webhook" }).first().click();
    const url = page.getByLabel("URL");
    await url.fill("http://example.com/hook");
    await expect(page.getByRole("heading", { name: "Events" })).toBeHidden();
    await page.getByRole("button", { name: "Create webhook" }).click();
    await expect(url).toHaveAccessibleDescription(/Only https is called/);
    await expectAccessible(page);
    await url.fill("https://example.com/hook");
    await page.getByRole("button", { name: "Create webhook" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(/Webhook \d{16}/);
    await expect(page.getByText("This service doesn't report deliveries")).toBeVisible();
    await expectWord(page, "live");
    await expectAccessible(page);
    await page.getByRole("link", { name: `Site ${siteId} webhooks` }).click();
    await expect(page.getByRole("link", { name: "https://example.com/hook" })).toBeVisible();
    await expect(page.getByRole("button", { name: /^(Ping|Rotate)/ })).toHaveCount(0);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Delete: https://example.com/hook" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete webhook" }).click();
    await expect(page.getByText("No webhooks yet")).toBeVisible();
  });

  test("channels are chosen by their ids", async ({ page, open }) => {
    await open("base address");
    await expectAccessible(page);
    await openPlace(page, "site");
    await page.getByRole("link", { name: "Notifications" }).click();
    await chooseChannels(page);
    await expectAccessible(page);
  });

  test("backups are configured, refused at a field first, changed and deleted", async ({
    page,
    second: { move },
    open,
  }) => {
    await open("base address");
    await openPlace(page, "server");
    await expect(page.getByText("No backups yet")).toBeVisible();
    await page.getByRole("link", { name: "New backup" }).first().click();
    await page.getByLabel("Name").fill("Orders");
    await page.getByLabel("Database").fill("9000000000123");
    const provider = page.getByLabel("Storage provider");
    await provider.fill("13");
    await expect(page.getByLabel("Restore drill")).toBeHidden();
    await page.getByRole("button", { name: "Create backup" }).click();
    await expect(provider).toHaveAccessibleDescription(/No such vault/);
    await expect(provider).toBeFocused();
    await expectAccessible(page);
    await provider.fill("5000000000");
    await page.getByRole("button", { name: "Create backup" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Orders");
    move();
    await expectWord(page, "provisioning");
    move();
    await expectWord(page, "active");

    await page.getByRole("link", { name: "Edit: Orders" }).click();
    await page.getByLabel("Name").fill("Orders, nightly");
    await page.getByRole("button", { name: "Save changes" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Orders, nightly");
    const place = page.getByRole("navigation", { name: "Breadcrumbs" });
    await place.getByRole("link", { name: `Server ${serverId} backups` }).click();
    await expectRow(configurationRow(page, "Orders, nightly"), "active", "Never");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Delete: Orders, nightly" }).click();
    const dialog = page.getByRole("alertdialog");
    await expect(dialog).toContainText("whether it keeps the stored files");
    await expect(dialog.getByRole("radio")).toHaveCount(0);
    await dialog.getByRole("textbox").fill("Orders, nightly");
    await dialog.getByRole("button", { name: "Delete" }).click();
    await expect(page.getByText("No backups yet")).toBeVisible();
  });

  test("backups are run, shown, restored and deleted", async ({ page, second, open }) => {
    const { move } = second;
    await open("base address");
    await second.make(`/api/server/${serverId}/backup-configuration`, {
      name: "Orders",
      frequency: "30 2 * * *",
      storage_provider_id: 5,
      backupable_type: "database",
      backupable_id: 12,
    });
    move();
    move();
    await openPlace(page, "server");
    await page.getByRole("link", { name: "Orders", exact: true }).click();
    await page.getByRole("button", { name: "Run now: Orders" }).click();
    const runs = page.getByRole("table", { name: "Backups" });
    await expectWord(runs, "queued");
    move();
    await expectWord(runs, "copying");
    move();
    await expectWord(runs, "finished");
    await expect(runs).toContainText("48.2 MB");
    await expect(runs.getByRole("button", { name: /^(Download|Restore drill) / })).toHaveCount(0);
    await expectAccessible(page);

    await runs.getByRole("link", { name: /^Backup \d+/ }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(/^Backup \d{16}/);
    const main = page.getByRole("main");
    await expect(main).toContainText("copied 12 files");
    await expect(main).not.toContainText("Last verified");
    await page.getByRole("button", { name: /^Restore backup/ }).click();
    const dialog = page.getByRole("alertdialog");
    await expect(dialog).toContainText("doesn't say whether it saves current data");
    await dialog.getByRole("textbox").fill("database-12");
    await dialog.getByRole("button", { name: "Restore" }).click();
    await expect(main).toContainText("Restore restoring");
    move();
    await expect(main).toContainText("Restore finished");
    await expectAccessible(page);
    await page.getByRole("button", { name: /^Delete backup/ }).click();
    await dialog.getByRole("button", { name: "Delete backup" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Orders");
    await expect(page.getByText("No backups yet")).toBeVisible();
  });

  test("refusal of a token is shown at its field, and what it lacks has no link", async ({
    page,
    service,
    second,
    open,
    expected,
  }) => {
    expected.push(/401/);
    await page.goto(`${service.url}/connect`);
    await page.getByLabel("Token").fill("another");
    await page.getByLabel("Address").fill(second.url);
    await page.getByRole("button", { name: "Connect" }).click();
    await expect(page.getByLabel("Token")).toHaveAccessibleDescription(/The token isn't valid/);
    await open("base address");
    await expect(page.getByRole("link", { name: "Activity" })).toHaveCount(0);
    await page.goto(`${service.url}/activity`);
    await expect(page.getByText("This service doesn't keep a timeline.")).toBeVisible();
  });
});

// From here to there everything is passed on, and the dashboard does not know: what goes another way are paths, methods,
// bodies, refusals and pauses, and one walk has them all.
test("through QUARTERDECK_UPSTREAM another service works the same", async ({
  page,
  second,
  open,
}) => {
  await open("upstream");
  await openPlace(page, "site");
  await page.getByRole("link", { name: "New worker" }).first().click();
  const id = await createWorker(page, second);
  await page.getByRole("link", { name: `Site ${siteId} workers` }).click();
  await order(page, second, id, "Stop");
  second.move();
  await expectWord(workerRow(page, id), "halted");
  await deleteWorker(page, id);
  await page.getByRole("link", { name: "Notifications" }).click();
  await chooseChannels(page);
});
