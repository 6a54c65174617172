// Tests keys that work everywhere: before all code is loaded, and Esc.
import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { clickRowAction, expectRow, workerRow } from "./helpers.ts";

const keysDialog = (page: Page) => page.getByRole("dialog", { name: "Keyboard shortcuts" });

test("a key that is pressed before its code has loaded takes effect afterwards @long", async ({
  connected: page,
  service,
  site,
}) => {
  // The browser is never idle, so it does not load the code that the first page does not need.
  await page.addInitScript(() => (globalThis.requestIdleCallback = () => 0));
  await page.goto(`${service.url}/sites/${site.id}/workers/new`);
  const queue = page.getByLabel("Queue", { exact: true });
  await expect(queue).toBeVisible();
  // In a field, the key types its character.
  await queue.press("?");
  await expect(page.getByRole("log", { name: "Changes" })).toBeAttached();
  await expect(queue).toHaveValue(/\?/);
  await expect(keysDialog(page)).toBeHidden();

  await page.goto(`${service.url}/activity`);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(page.getByRole("log", { name: "Changes" })).not.toBeAttached();
  await page.keyboard.press("?");
  await expect(keysDialog(page)).toBeVisible();
});

test("a confirmation with a pending request stays open, however often Esc is pressed @long", async ({
  connected: page,
  service,
  site,
}) => {
  const { id } = await site.createWorker();
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await expectRow(workerRow(page, id), "installed");
  await clickRowAction(page, id, "Delete");
  const question = page.getByRole("alertdialog");
  await expect(question).toBeVisible();
  const browser = await page.context().newCDPSession(page);
  await browser.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 60_000,
    downloadThroughput: -1,
    uploadThroughput: -1,
  });
  await question.getByRole("button", { name: "Delete" }).click();
  await expect(question.getByRole("button", { name: "Delete" })).toBeDisabled();
  // When Esc is pressed repeatedly, Chromium lets a page prevent only the first close of the dialog.
  for (let count = 0; count < 3; count++) await page.keyboard.press("Escape");
  await expect(question).toBeVisible();
});

test("Esc closes what the list of shortcuts says, the innermost first @long", async ({
  connected: page,
  service,
  site,
}) => {
  const { id } = await site.createWorker();
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await expectRow(workerRow(page, id), "installed");
  await page.keyboard.press("?");
  await expect(keysDialog(page)).toContainText("Close dialog, menu or message");
  await page.keyboard.press("Escape");
  await expect(keysDialog(page)).toBeHidden();

  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog", { name: "Command palette" });
  await expect(palette).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(palette).toBeHidden();

  // Esc closes a tooltip first; its anchor keeps the focus.
  const row = workerRow(page, id);
  await row.getByRole("button", { name: /^Stop/ }).focus();
  await page.keyboard.press("Shift+Tab");
  const tip = page.getByRole("tooltip");
  await expect(tip).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(tip).toBeHidden();

  const question = page.getByRole("alertdialog");
  await clickRowAction(page, id, "Delete");
  await expect(question).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(question).toBeHidden();
  expect((await site.worker(id)).status).toBe("installed");

  await row.getByRole("checkbox").check();
  const bar = page.getByRole("button", { name: "Clear selection" });
  await expect(bar).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(bar).toBeHidden();
  await expect(row.getByRole("checkbox")).not.toBeChecked();

  await page.setViewportSize({ width: 360, height: 740 });
  await page.getByRole("button", { name: "Menu", exact: true }).click();
  const menu = page.getByRole("dialog", { name: "Menu" });
  await expect(menu).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(menu).toBeHidden();
});

test("Esc dismisses a toast, and closes a delivery shown beside the list @long", async ({
  connected: page,
  service,
  site,
}) => {
  const made = await service.call("POST", `/api/site/${site.id}/webhook`, {
    url: "http://127.0.0.1:9/hook",
  });
  const { id }: { id: number } = await made.json();
  const ping = await service.call("POST", `/api/site-webhook/${id}/ping`);
  const delivery: { id: number } = await ping.json();
  await page.goto(`${service.url}/webhooks/${id}?delivery=${delivery.id}`);
  const close = page.getByRole("link", { name: "Close delivery" });
  await expect(close).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page).toHaveURL(`${service.url}/webhooks/${id}`);
  await expect(close).toBeHidden();

  await page.getByRole("button", { name: /ping/i }).first().click();
  const message = page.getByText(/Ping to .* failed/);
  await expect(message).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(message).toBeHidden();
});
