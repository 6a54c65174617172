import { expect, test } from "./fixtures.ts";
import {
  clickRowAction,
  expectAccessible,
  expectAccessibleInBoth,
  expectNoSidewaysScroll,
  expectRow,
  expectToast,
  workerRow,
  ofWorker,
  expectPolled,
  listPollMs,
} from "./helpers.ts";
import { isAlive } from "../server/testing/signals.ts";

test("creates a worker, follows its installation, stops, starts, restarts and deletes it, and real processes follow", async ({
  connected: page,
  service,
  site,
}) => {
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await expect(page.getByText("No workers yet")).toBeVisible();
  await page.getByRole("link", { name: "New worker" }).first().click();
  await page.getByLabel("Queue", { exact: true }).fill("high,default");
  await page.getByLabel("Processes", { exact: true }).fill("2");
  await page.getByRole("button", { name: "Create worker" }).click();

  await expectToast(page, "status", "Installing high,default on database.");
  await page.getByRole("link", { name: `${site.name} workers` }).click();
  const row = page.getByRole("row").filter({ hasText: "high,default" });
  await expectRow(row, "installed", "high,default on database", "2 of 2");
  const id = Number(
    /worker (\d+)/.exec(
      (await row.getByRole("link").first().getAttribute("aria-label")) ?? "",
    )?.[1],
  );
  const pids = async () =>
    ((await site.worker(id)).process_list ?? []).flatMap(({ pid }) => pid ?? []);
  const first = await pids();
  expect(first.every(isAlive)).toBe(true);

  await clickRowAction(page, id, "Stop");
  await expectRow(row, "stopped", "0 of 2");
  expect(first.some(isAlive)).toBe(false);

  await clickRowAction(page, id, "Start");
  await expectRow(row, "installed", "2 of 2");
  const second = await pids();
  expect(second.every(isAlive)).toBe(true);

  await clickRowAction(page, id, "Restart");
  // Does not wait for the state in transit, which a busy page may miss.
  await expect.poll(() => second.some(isAlive)).toBe(false);
  await expectRow(row, "installed", "2 of 2");
  const third = await pids();
  expect(second.some(isAlive)).toBe(false);

  await clickRowAction(page, id, "Delete");
  const dialog = page.getByRole("alertdialog");
  await expect(dialog).toContainText("high,default");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Delete worker" }).click();
  await expect(row).toBeHidden();
  expect(third.some(isAlive)).toBe(false);
});

test("does not delete a worker when the confirmation is canceled @long", async ({
  connected: page,
  service,
  site,
}) => {
  const { id } = await site.createWorker();
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await expectRow(workerRow(page, id), "installed");
  await clickRowAction(page, id, "Delete");
  const dialog = page.getByRole("alertdialog");
  await expect(dialog).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(page.getByRole("button", { name: ofWorker(id, "Delete") })).toBeFocused();
  expect((await site.worker(id)).status).toBe("installed");
});

test("disables actions of an installing worker, and says why @long", async ({
  connected: page,
  service,
  site,
}) => {
  const { id } = await site.createWorker({ startsecs: 60 });
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  const stop = page.getByRole("button", { name: ofWorker(id, "Stop") });
  await expect(stop).toBeDisabled();
  await expect(stop).toHaveAccessibleDescription(/Can't stop while the status is installing/);
  await stop.click({ force: true });
  expect((await site.worker(id)).status).toBe("installing");
  await service.call("DELETE", `/api/worker/${id}`);
});

test("reverts and reports an action that the service refuses", async ({
  connected: page,
  service,
  site,
  expected,
}) => {
  expected.push(/409 \(Conflict\)/);
  // Deleting this worker takes a while, during which the page shows its old state.
  await site.artisan("trap '' TERM; sleep 300");
  const { id } = await site.createWorker({ stopwaitsecs: 4 });
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await expectRow(workerRow(page, id), "installed");
  await service.call("DELETE", `/api/worker/${id}`);
  await clickRowAction(page, id, "Restart");
  await expectToast(page, "alert", `Couldn't restart default on database (worker ${id}).`);
  await expect(page.getByRole("button", { name: ofWorker(id, "Restart") })).toBeFocused();
  await expectRow(workerRow(page, id), "removing");
});

test("shows a worker that cannot run as failed, with the reason and the end of its log", async ({
  connected: page,
  service,
  site,
}) => {
  await site.artisan("echo 'no connection to redis'; exit 1");
  const { id } = await site.createWorker({ startsecs: 1, startretries: 0 });
  await page.goto(`${service.url}/workers/${id}`);
  await expect(page.getByText("failed", { exact: true })).toBeVisible();
  const main = page.getByRole("main");
  await expect(main).toContainText("code 1");
  const tail = main.getByRole("group").getByText("no connection to redis");
  await expect(tail).toBeHidden();
  await main.getByText("Last lines of the log", { exact: true }).click();
  await expect(tail).toBeVisible();
  await expectAccessible(page);
});

test.describe("the list", () => {
  test("is paged, with the page in the URL @long", async ({ connected: page, service, site }) => {
    for (let count = 0; count < 21; count++)
      await service.call("DELETE", `/api/worker/${(await site.createWorker()).id}/stop`);
    await page.goto(`${service.url}/sites/${site.id}/workers`);
    await expect(page.getByRole("row")).toHaveCount(21);
    await page.getByRole("link", { name: /next/i }).click();
    await expect(page).toHaveURL(/page=2/);
    await expect(page.getByRole("row")).toHaveCount(2);
    await page.reload();
    await expect(page.getByRole("row")).toHaveCount(2);
    await page.goBack();
    await expect(page.getByRole("row")).toHaveCount(21);
  });

  test("is polled without taking the focus or closing a confirmation", async ({
    connected: page,
    service,
    site,
  }) => {
    await page.clock.install();
    const one = await site.createWorker();
    const two = await site.createWorker();
    await page.goto(`${service.url}/sites/${site.id}/workers`);
    await expectRow(workerRow(page, two.id), "installed");
    await clickRowAction(page, one.id, "Delete");
    await service.call("PUT", `/api/worker/${two.id}/restart`);
    const polled = () => expectPolled(page, `/site/${site.id}/workers`);
    await polled();
    await polled();
    await expect(page.getByRole("alertdialog")).toBeVisible();
    await page.getByRole("button", { name: "Cancel" }).click();
    const stop = page.getByRole("button", { name: ofWorker(one.id, "Stop") });
    await stop.focus();
    await service.call("PUT", `/api/worker/${two.id}/restart`);
    await polled();
    await expect(stop).toBeFocused();
  });

  test("shows changes by others without a reload @long", async ({
    connected: page,
    service,
    site,
  }) => {
    await page.clock.install();
    const { id } = await site.createWorker();
    await page.goto(`${service.url}/sites/${site.id}/workers`);
    await expectRow(workerRow(page, id), "installed");
    await service.call("DELETE", `/api/worker/${id}/stop`);
    await page.clock.runFor(listPollMs);
    await expectRow(workerRow(page, id), "stopped");
  });
});

test("everything works by keyboard alone", async ({ connected: page, service, site }) => {
  const { id } = await site.createWorker();
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await expectRow(workerRow(page, id), "installed");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to content" })).toBeFocused();
  await page.keyboard.press("Enter");
  const stop = page.getByRole("button", { name: ofWorker(id, "Stop") });
  // Skips the controls of the list.
  for (let count = 0; count < 30; count++) {
    await page.keyboard.press("Tab");
    if (await stop.evaluate((element) => element === document.activeElement)) break;
  }
  await expect(stop).toBeFocused();
  await page.keyboard.press("Enter");
  await expectRow(workerRow(page, id), "stopped");
  await expect(stop).toBeFocused();
});

test("every page is accessible and fits 360 px, light and dark @long", async ({
  connected: page,
  service,
  site,
}) => {
  // There are many pages, and axe is slow.
  test.slow();
  await page.setViewportSize({ width: 360, height: 740 });
  const { id } = await site.createWorker({
    processes: 2,
    queue: "a-rather-long-queue-name,default",
  });
  // The tests of backups check the start page.
  for (const path of [
    `/sites/${site.id}/workers`,
    `/sites/${site.id}/workers/new`,
    `/workers/${id}`,
    "/connect",
  ]) {
    await page.goto(service.url + path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expectNoSidewaysScroll(page);
    await expectAccessibleInBoth(page);
  }
});
