// Tests the controls above the rows of a list, and clicks on a whole row.
import type { Page } from "@playwright/test";
import { workerBody } from "../server/testing/worker-body.ts";
import { expect, test } from "./fixtures.ts";
import {
  expectAccessible,
  expectNoSidewaysScroll,
  expectRow,
  expectToast,
  ofWorker,
  workerRow,
  expectPolled,
} from "./helpers.ts";
import { box, openList } from "./list-helpers.ts";
import { serverId, siteId } from "./second-service/second-service.ts";
import { openPlace, test as testSecond } from "./second-service/steps.ts";

const tab = (page: Page, name: RegExp) =>
  page.getByRole("navigation", { name: "Workers by status" }).getByRole("link", { name });
const filter = (page: Page) => page.getByRole("searchbox", { name: "Filter workers" });
const rows = (page: Page) => page.getByRole("main").locator("tbody").getByRole("row");

test("lists failed rows first, and keeps status, search and order in the URL", async ({
  connected: page,
  service,
  site,
}) => {
  await page.clock.install();
  await site.artisan(`case "$*" in *exports*) exit 1;; esac; trap "exit 0" TERM; sleep 300 & wait`);
  const { id: failed } = await site.createWorker({
    queue: "exports",
    startsecs: 1,
    startretries: 0,
  });
  const { id: emails } = await site.createWorker({ queue: "emails" });
  const { id: reports } = await site.createWorker({ queue: "reports" });
  const list = `${service.url}/sites/${site.id}/workers`;
  for (const [id, status] of [
    [failed, "failed"],
    [emails, "installed"],
    [reports, "installed"],
  ] as const)
    await expect.poll(async () => (await site.worker(id)).status).toBe(status);
  await openList(page, list);
  await expect(rows(page).first().getByRole("link").first()).toHaveAccessibleName(ofWorker(failed));
  await expect(tab(page, /^All 3$/)).toHaveAttribute("aria-current", "true");
  await expectAccessible(page);

  await tab(page, /^Failed 1$/).click();
  await expect(page).toHaveURL(`${list}?status=failed`);
  await expect(rows(page)).toHaveCount(1);
  await expect(tab(page, /^Installed 2$/)).toBeVisible();
  await filter(page).fill("reports");
  await expect(page.getByText("No results for “reports”")).toBeVisible();
  await expect(filter(page)).toBeFocused();
  await tab(page, /^All 1$/).click();
  await expect(page).toHaveURL(`${list}?q=reports`);
  await expect(workerRow(page, reports)).toBeVisible();
  await expect(rows(page)).toHaveCount(1);

  // A poll does not interrupt typing.
  await filter(page).press("End");
  await filter(page).pressSequentially("zz");
  await expect(page.getByText("No results for “reportszz”")).toBeVisible();
  await expectPolled(page, "search=reportszz");
  await expect(filter(page)).toHaveValue("reportszz");
  await expect(filter(page)).toBeFocused();
  await page.getByRole("link", { name: "Clear filter" }).click();
  await expect(rows(page)).toHaveCount(3);
  await expect(filter(page)).toHaveValue("");
  await expect(page.getByRole("heading", { level: 1 })).toBeFocused();

  await page.getByRole("combobox", { name: "Order" }).selectOption("Oldest first");
  await expect(page).toHaveURL(`${list}?sort=id`);
  await filter(page).fill("re");
  await expect(page).toHaveURL(`${list}?q=re&sort=id`);
  await expect(rows(page)).toHaveCount(1);
  await page.reload();
  await expect(filter(page)).toHaveValue("re");
  await workerRow(page, reports).getByRole("link").first().click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("reports");
  await page.goBack();
  await expect(filter(page)).toHaveValue("re");
  await expect(rows(page)).toHaveCount(1);

  await page.setViewportSize({ width: 360, height: 700 });
  await expectNoSidewaysScroll(page);
});

test("requests only meaningful searches while typing, without navigating, and keeps the whole word when the page is left at once @long", async ({
  connected: page,
  service,
  site,
}) => {
  await site.createWorker({ queue: "emails" });
  const { id } = await site.createWorker({ queue: "reports" });
  const list = `${service.url}/sites/${site.id}/workers`;
  await openList(page, list);
  // Each navigation changes the key of the history entry.
  const entry = () =>
    page.evaluate((): unknown => [history.length, Object(history.state).key ?? null]);
  const before = await entry();
  const asked: (string | null)[] = [];
  page.on("request", (request) => {
    const search = new URL(request.url()).searchParams.get("search");
    if (search !== null && asked.at(-1) !== search) asked.push(search);
  });
  await filter(page).pressSequentially("report");
  await expect(rows(page)).toHaveCount(1);
  await expect(page).toHaveURL(`${list}?q=report`);
  await expect.poll(() => asked.at(-1)).toBe("report");
  expect(asked.length, asked.join(", ")).toBeLessThan("report".length);
  expect(await entry()).toEqual(before);

  await filter(page).press("s");
  await workerRow(page, id).getByRole("link").first().click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("reports");
  await page.goBack();
  await expect(page).toHaveURL(`${list}?q=reports`);
  await expect(filter(page)).toHaveValue("reports");
  await expect(rows(page)).toHaveCount(1);
  await filter(page).fill("");
  await expect(rows(page)).toHaveCount(2);
  await expect(page).toHaveURL(list);
});

test("a token that expires after something was typed leads to the connect page, and back to the search @long", async ({
  page,
  service,
  site,
  expected,
}) => {
  expected.push(/401/);
  await site.createWorker({ queue: "emails" });
  const made = await service.call("POST", "/api/tokens", { name: "short", abilities: ["*"] });
  const { id, token }: { id: number; token: string } = await made.json();
  const list = `${service.url}/sites/${site.id}/workers`;
  await page.goto(`${list}#token=${encodeURIComponent(token)}`);
  await filter(page).fill("emails");
  await expect(page).toHaveURL(`${list}?q=emails`);
  await service.call("DELETE", `/api/token/${id}`);
  await expect(page).toHaveURL(/\/connect\?from=/);
  expect(new URL(page.url()).searchParams.get("from")).toContain("?q=emails");
});

test("keeps the filter on all pages of a list @long", async ({
  connected: page,
  service,
  site,
}) => {
  for (const queue of ["mail-1", "other", "mail-2"]) await site.createWorker({ queue });
  await openList(page, `${service.url}/sites/${site.id}/workers?q=mail&per_page=1&sort=queue`);
  await expect(page.getByRole("combobox", { name: "Rows per page" })).toHaveValue("1");
  await expect(rows(page)).toContainText("mail-1");
  await page.getByRole("link", { name: "Next page" }).click();
  await expect(page).toHaveURL(/\?q=mail&sort=queue&per_page=1&page=2$/);
  await expect(rows(page)).toContainText("mail-2");
  await expect(page.getByRole("navigation", { name: "Pages" })).toContainText("2–2 of 2");
  await filter(page).fill("other");
  await expect(rows(page)).toContainText("other");
  await expect(page).toHaveURL(/\?q=other&sort=queue&per_page=1$/);
});

test("falls back to the default order for an unknown one, and keeps the rest of the URL @long", async ({
  connected: page,
  service,
  site,
  expected,
}) => {
  expected.push(/422 \(Unprocessable/);
  for (const queue of ["emails", "reports"]) await site.createWorker({ queue });
  await openList(page, `${service.url}/sites/${site.id}/workers?q=reports&sort=color`);
  await expect(filter(page)).toHaveValue("reports");
  await expect(rows(page)).toHaveCount(1);
  await expect(page.getByRole("combobox", { name: "Order" })).toHaveValue("attention");
});

test("configurations, backups and webhooks have the same controls @long", async ({
  connected: page,
  service,
  backups,
}) => {
  const { id } = await backups.createConfiguration({ name: "Nightly" });
  await backups.createConfiguration({ name: "Weekly" });
  await backups.run(id);
  await page.goto(`${service.url}/servers/${backups.server.id}/backups`);
  await page.getByRole("searchbox", { name: "Filter backups" }).fill("week");
  await expect(rows(page)).toHaveCount(1);
  await expect(rows(page)).toContainText("Weekly");

  await page.goto(`${service.url}/backup-configurations/${id}?status=failed`);
  await expect(page.getByText("No results", { exact: true })).toBeVisible();
  const statuses = page.getByRole("navigation", { name: "Backups by status" });
  await statuses.getByRole("link", { name: "Finished 1" }).click();
  await expect(page.getByRole("table", { name: "Backups" })).toContainText("finished");
  await expect(page.getByRole("combobox", { name: "Order" })).toHaveValue("-id");

  const url = "http://127.0.0.1:9/hook";
  await service.call("POST", `/api/site/${backups.site.id}/webhook`, { url });
  await page.goto(`${service.url}/sites/${backups.site.id}/webhooks?q=nothing`);
  await expect(page.getByText("No results for “nothing”")).toBeVisible();
  await page.getByRole("link", { name: "Clear filter" }).click();
  await expect(rows(page)).toHaveCount(1);
});

test("opens a row's page on a click anywhere in the row, except where a click means something else @long", async ({
  connected: page,
  service,
  site,
}) => {
  const { id } = await site.createWorker({ queue: "emails" });
  const list = `${service.url}/sites/${site.id}/workers`;
  await openList(page, list);
  const row = workerRow(page, id);
  await expectRow(row, "installed");
  const cell = row.getByRole("cell", { name: "1 of 1", exact: true });

  await box(page, id).check();
  await expect(page).toHaveURL(list);
  await box(page, id).uncheck();
  await row
    .getByText("emails")
    .first()
    .evaluate((element) => getSelection()?.selectAllChildren(element));
  await cell.dispatchEvent("click");
  await expect(page).toHaveURL(list);
  await page.evaluate(() => getSelection()?.removeAllRanges());

  for (const open of [
    () => cell.click({ modifiers: ["ControlOrMeta"] }),
    () => cell.click({ button: "middle" }),
  ]) {
    const opened = page.context().waitForEvent("page");
    await open();
    const other = await opened;
    await expect(other).toHaveURL(`${service.url}/workers/${id}`);
    await other.close();
    await expect(page).toHaveURL(list);
  }
  await cell.click();
  await expect(page).toHaveURL(`${service.url}/workers/${id}`);
});

test("opens a row's page as soon as the row is shown, before the overlays are loaded @long", async ({
  connected: page,
  service,
  site,
}) => {
  const { id } = await site.createWorker();
  // Never answers.
  await page.route(/\/assets\/Overlays-/, () => {});
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await workerRow(page, id)
    .getByRole("cell")
    .nth(1)
    .click({ position: { x: 1, y: 1 } });
  await expect(page).toHaveURL(`${service.url}/workers/${id}`);
});

test("reports a part of a page that fails to load, and keeps the page @long", async ({
  connected: page,
  service,
  site,
  expected,
}) => {
  expected.push(/ERR_FAILED/);
  const { id } = await site.createWorker();
  await page.route(/\/assets\/WorkerBulk-/, (route) => route.abort());
  await openList(page, `${service.url}/sites/${site.id}/workers`);
  await box(page, id).check();
  await expectToast(page, "alert", "Couldn't load this part of the page.");
  await expect(box(page, id)).toBeChecked();
});

test("shows the actions of a row on hover and focus, and always on a phone @long", async ({
  connected: page,
  service,
  site,
}) => {
  const { id } = await site.createWorker();
  await openList(page, `${service.url}/sites/${site.id}/workers`);
  const stop = page.getByRole("button", { name: ofWorker(id, "Stop") });
  const isSeen = () => stop.evaluate((button) => button.checkVisibility({ opacityProperty: true }));
  await page.getByRole("heading", { level: 1 }).hover();
  await expect.poll(isSeen).toBe(false);
  await workerRow(page, id).hover();
  await expect.poll(isSeen).toBe(true);
  await page.getByRole("heading", { level: 1 }).hover();
  await expect.poll(isSeen).toBe(false);
  await workerRow(page, id).getByRole("link").first().focus();
  await expect.poll(isSeen).toBe(true);
  await page.getByRole("heading", { level: 1 }).focus();
  await page.setViewportSize({ width: 360, height: 700 });
  await expect.poll(isSeen).toBe(true);
});

testSecond(
  "shows no controls for a service that cannot filter, whether it ignores or refuses parameters @long",
  async ({ page, second, service, open }) => {
    await open("base address");
    const id = await second.make(`/api/site/${siteId}/worker`, workerBody);
    await second.make(`/api/server/${serverId}/backup-configuration`, {
      name: "Nightly",
      frequency: "0 3 * * *",
      storage_provider_id: 5,
      backupable_type: "database",
      backupable_id: 12,
    });
    await openPlace(page, "site");
    await expect(workerRow(page, id)).toBeVisible();
    await expect(filter(page)).toHaveCount(0);
    await page.goto(service.url);
    await openPlace(page, "server");
    await expect(page.getByRole("link", { name: "Nightly", exact: true })).toBeVisible();
    await expect(page.getByRole("searchbox")).toHaveCount(0);

    await page.goto(`${service.url}/sites/${siteId}/workers?status=failed`);
    await expect(page.getByText("This service can't filter by status failed.")).toBeVisible();
    await expect(workerRow(page, id)).toBeVisible();
    await page.getByRole("link", { name: "Clear filter" }).click();
    await expect(page.getByText("can't filter")).toHaveCount(0);
    await expect(workerRow(page, id)).toBeVisible();
  },
);
