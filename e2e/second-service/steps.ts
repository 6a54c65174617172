// Connects a page to the second service, and provides the steps that its tests share.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { interfaceOperations } from "../../contract/operations.ts";
import { startService } from "../../server/testing/service-process.ts";
import { makeMemoryFolder } from "../../server/testing/memory-folder.ts";
import { expect, test as base } from "../fixtures.ts";
import { clickRowAction, expectToast, workerRow } from "../helpers.ts";
import {
  type SecondService,
  secondToken,
  serverId,
  siteId,
  startSecondService,
} from "./second-service.ts";

type Ways = { "base address": string; upstream: string };

/** Expected console errors with such a service: missing extras, rate limits and refused fields. */
const usual = /status of (404|429|422|400)/;

type Row = { method: string; pattern: RegExp };

const rows = Object.values(interfaceOperations).map(({ method, path }): Row => ({
  method,
  pattern: new RegExp(`/api${path.slice(4).replaceAll(/\{\w+\}/g, "\\d+")}$`),
}));

export const test = base.extend<{
  second: SecondService;
  open: (way: keyof Ways) => Promise<void>;
}>({
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of the fixtures needed from this pattern
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
      // A pending poll may have requested the deleted object a moment before.
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
      const folder = await makeMemoryFolder("quarterdeck-any-");
      const front = await startService(join(folder, "data"), { QUARTERDECK_UPSTREAM: second.url });
      closers.push(async () => {
        await front.end("SIGTERM");
        await rm(folder, { recursive: true });
      });
      return connect(front.url, "");
    });
    // The page would request the service that stops.
    await page.goto("about:blank");
    for (const close of closers) await close();
    expect(missing, "nothing of the interface was asked for that is not there").toEqual([]);
  },
});

export async function openPlace(page: Page, kind: "site" | "server"): Promise<void> {
  const [label, action, id] =
    kind === "site"
      ? (["Site id", "Open site", siteId] as const)
      : (["Server id", "Open backups", serverId] as const);
  await page.getByLabel(label).fill(String(id));
  await page.getByRole("button", { name: action }).click();
}

/** Expects the badge of a state that is neither good nor bad nor in transit. */
export const expectWord = (place: Page | Locator, word: string) =>
  expect(place.getByText(word, { exact: true }).filter({ visible: true }).first()).toBeVisible();

/** Creates a worker by the form, and follows it through a state in transit that the dashboard does not know. */
export async function createWorker(page: Page, { move }: SecondService): Promise<number> {
  const connection = page.getByRole("textbox", { name: "Connection", exact: true });
  await connection.fill("nowhere");
  await page.getByRole("button", { name: "Create worker" }).click();
  await expect(connection).toHaveAccessibleDescription(/No connection of that name/);
  await expect(connection).toBeFocused();
  await connection.fill("redis");
  await page.getByRole("button", { name: "Create worker" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("default on redis");
  move();
  await expectWord(page, "provisioning");
  move();
  await expectWord(page, "active");
  return Number(/\d+$/.exec(page.url())?.[0]);
}

/**
 * Presses a button of a worker's row. Resolves once the service has received the request, while it still shows the old
 * state.
 */
export async function pressAction(page: Page, second: SecondService, id: number, action: string) {
  await clickRowAction(page, id, action);
  const path = `/api/worker/${id}/${action.toLowerCase()}`;
  await expect.poll(() => second.asked.some((one) => one.endsWith(path))).toBe(true);
  await expectWord(workerRow(page, id), action === "Start" ? "halted" : "active");
}

export async function deleteWorker(page: Page, id: number): Promise<void> {
  await clickRowAction(page, id, "Delete");
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete worker" }).click();
  await expect(page.getByText("No workers yet")).toBeVisible();
}

export async function chooseChannels(page: Page): Promise<void> {
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
