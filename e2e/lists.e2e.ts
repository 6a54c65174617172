// Tests keyboard control of lists.
import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { expectRow, expectToast, workerRow, ofWorker } from "./helpers.ts";
import { countRows, forgetRows, watchRows } from "./rendered-rows.ts";
import { bar, box, openList } from "./list-helpers.ts";

const link = (page: Page, id: number) => page.getByRole("link", { name: ofWorker(id) });

const keysButton = (page: Page) =>
  page.getByRole("button", { name: "Keyboard shortcuts", exact: true });

test("shows a badge's tooltip on focus, wherever the focus scrolls, and hides it on Escape", async ({
  connected: page,
  service,
  site,
}) => {
  const { id } = await site.createWorker();
  await page.setViewportSize({ width: 1024, height: 160 });
  await openList(page, `${service.url}/sites/${site.id}/workers`);
  await expectRow(workerRow(page, id), "installed");
  const badge = workerRow(page, id)
    .getByText("installed", { exact: true })
    .filter({ visible: true });
  const tip = page.getByRole("tooltip");
  await page.evaluate(() => scrollTo(0, 0));
  await expect(badge).not.toBeInViewport();

  await link(page, id).evaluate((element) => element.focus({ preventScroll: true }));
  await page.keyboard.press("Tab");
  await expect(badge).toBeFocused();
  await expect(badge).toBeInViewport({ ratio: 1 });
  await expect(tip).toContainText("All processes are up.");
  await expect(badge).toHaveAccessibleDescription(/^All processes are up\..*Since /s);
  const [below, above] = await Promise.all([badge.boundingBox(), tip.boundingBox()]);
  if (below === null || above === null) throw new Error("Both are on screen.");
  const gap = Math.max(above.y - (below.y + below.height), below.y - (above.y + above.height));
  expect(gap, "pixels between the badge and its help").toBeGreaterThanOrEqual(0);
  expect(gap).toBeLessThan(10);
  await page.keyboard.press("Escape");
  await expect(tip).toBeHidden();
  await expect(badge).toBeFocused();
  await expect(badge).toHaveAccessibleDescription("");

  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Tab");
  await expect(tip).toBeVisible();
  await page.keyboard.press("Tab");
  await expect(badge).not.toBeFocused();
  await expect(badge).toHaveAccessibleDescription("");
});

test("a list is navigated, selected, deselected and opened by keyboard alone, and nothing on it moves", async ({
  connected: page,
  service,
  site,
}) => {
  const first = await site.createWorker();
  const second = await site.createWorker();
  const third = await site.createWorker();
  await watchRows(page);
  await openList(page, `${service.url}/sites/${site.id}/workers`);
  for (const { id } of [first, second, third]) await expectRow(workerRow(page, id), "installed");
  const places = () =>
    page.getByRole("row").evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().y));
  const before = await places();

  await page.keyboard.press("j");
  await expect(link(page, third.id)).toBeFocused();
  await page.keyboard.press("k");
  await expect(link(page, third.id)).toBeFocused();
  await forgetRows(page);
  await page.keyboard.press("x");
  await expect(box(page, third.id)).toBeChecked();
  await expect(bar(page)).toContainText("1 selected");
  expect(await countRows(page)).toBeLessThanOrEqual(1);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Shift+X");
  await expect(bar(page)).toContainText("3 selected");
  await expect(page.getByRole("status").getByText("3 selected")).toBeAttached();
  await expect(page.getByRole("checkbox", { name: "Select all on this page" })).toBeChecked();
  await expect(link(page, first.id)).toBeFocused();
  expect(await places()).toEqual(before);

  await page.keyboard.press("?");
  const keys = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await expect(keys.getByRole("heading", { name: "Keyboard shortcuts" })).toBeFocused();
  await expect(keys.getByRole("definition").filter({ hasText: /^t$/ })).toHaveCount(1);
  await expect(keys).toContainText("Command palette");
  // While a dialog is open, the shortcuts of the page do nothing.
  await page.keyboard.press("k");
  await page.keyboard.press("t");
  await page.keyboard.press("Escape");
  await expect(keys).toBeHidden();
  await expect(link(page, first.id)).toBeFocused();
  await expect(bar(page)).toContainText("3 selected");

  await page.keyboard.press("Escape");
  await expect(bar(page)).toBeHidden();
  await expect(page.getByRole("checkbox", { checked: true })).toHaveCount(0);
  await page.keyboard.press("k");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`${service.url}/workers/${second.id}`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("default on database");
  // On the page of a worker, the same key acts on that worker.
  await page.keyboard.press("t");
  await expect.poll(async () => (await site.worker(second.id)).status).toBe("stopped");
  expect((await site.worker(first.id)).status).toBe("installed");
});

test("a key does what the row's button does, says why that is disabled, and types where text is entered @long", async ({
  connected: page,
  service,
  site,
}) => {
  const { id } = await site.createWorker();
  const { id: busy } = await site.createWorker({ startsecs: 60 });
  await openList(page, `${service.url}/sites/${site.id}/workers`);
  await expectRow(workerRow(page, id), "installed");
  // Without a focused row, the key does nothing.
  await page.keyboard.press("t");
  await page.keyboard.press("j");
  await page.keyboard.press("t");
  await expectToast(page, "alert", "Can't stop while the status is installing.");
  await page.keyboard.press("Control+j");
  await expect(link(page, busy)).toBeFocused();
  await page.keyboard.press("j");
  await page.keyboard.press("t");
  await expectRow(workerRow(page, id), "stopped");
  await expect(link(page, id)).toBeFocused();
  await page.keyboard.press("#");
  await expect(page.getByRole("alertdialog")).toContainText("Delete default on database?");
  await page.keyboard.press("Escape");
  await expect(link(page, id)).toBeFocused();
  const start = page.getByRole("button", { name: ofWorker(id, "Start") });
  await expect(start).toHaveAttribute("aria-keyshortcuts", "s");
  await start.hover();
  await expect(page.locator("[popover]")).toHaveText("Start s");

  await page.keyboard.press("n");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("New worker");
  const queue = page.getByLabel("Queue", { exact: true });
  await queue.fill("");
  await queue.pressSequentially("jkx?#n");
  await expect(queue).toHaveValue("jkx?#n");
  await expect(page.getByRole("dialog")).toBeHidden();
  await service.call("DELETE", `/api/worker/${busy}`);
});

test("single-key shortcuts can be disabled, which this device remembers, and enabled again without them @long", async ({
  connected: page,
  service,
  site,
}) => {
  const { id } = await site.createWorker();
  const list = `${service.url}/sites/${site.id}/workers`;
  await openList(page, list);
  const choose = async () => {
    await keysButton(page).click();
    await page.getByRole("checkbox", { name: "Single-key shortcuts" }).press("Space");
    await page.getByRole("button", { name: "Close" }).click();
    await expect(keysButton(page)).toBeFocused();
  };
  await choose();
  await page.reload();
  await openList(page, list);
  for (const key of ["j", "x", "?", "n"]) await page.keyboard.press(key);
  await expect(page.getByRole("dialog")).toBeHidden();
  await expect(page).toHaveURL(list);
  await expect(link(page, id)).not.toBeFocused();
  await box(page, id).check();
  await expect(bar(page)).toContainText("1 selected");
  await page.keyboard.press("t");
  await expect(page.getByRole("alertdialog")).toBeHidden();
  await page.keyboard.press("Escape");
  await expect(bar(page)).toBeHidden();
  await choose();
  await page.keyboard.press("j");
  await expect(link(page, id)).toBeFocused();
});
