import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page, Request } from "@playwright/test";
import { serviceToken } from "../server/testing/service-process.ts";
import { expect, type Site, test } from "./fixtures.ts";
import { clickRowAction, expectRow, workerRow } from "./helpers.ts";

/** Stores the token in every tab that is opened from now on. */
const connectAll = (context: BrowserContext) =>
  context.addInitScript(
    (token) =>
      sessionStorage.setItem("quarterdeck.session", JSON.stringify({ address: "", token })),
    serviceToken,
  );

const asksForWorkers = (request: Request, site: Site) =>
  new URL(request.url()).pathname === `/api/site/${site.id}/workers`;

/** Counts the requests of a page or a whole context for the workers of a site. */
function countQuestions(asker: Page | BrowserContext, site: Site) {
  let count = 0;
  asker.on("request", (request) => {
    if (asksForWorkers(request, site)) count += 1;
  });
  return () => count;
}

const goToWorkers = (page: Page, url: string, site: Site) =>
  page.goto(`${url}/sites/${site.id}/workers`);

const tabCount = 8;

test("many open tabs poll hardly more often than two, and all of them show the change @long", async ({
  context,
  service,
  site,
}) => {
  await connectAll(context);
  const mayEnd = join(service.folder, site.name, "may-end");
  await site.artisan(
    'trap "while [ ! -e may-end ]; do sleep 0.1; done; exit 0" TERM; while :; do sleep 0.1; done',
  );
  const { id } = await site.createWorker({ startsecs: 1, stopwaitsecs: 60 });
  const tabs = await Promise.all(Array.from({ length: tabCount }, () => context.newPage()));
  for (const tab of tabs) await goToWorkers(tab, service.url, site);
  for (const tab of tabs) await expectRow(workerRow(tab, id), "installed");

  // States in transit are polled every 500 ms.
  const asked = countQuestions(context, site);
  const begunMs = Date.now();
  expect((await service.call("PUT", `/api/worker/${id}/restart`)).status).toBe(204);
  await tabs[0]?.reload();
  for (const tab of tabs) await expectRow(workerRow(tab, id), "restarting");
  await writeFile(mayEnd, "");
  for (const tab of tabs) await expectRow(workerRow(tab, id), "installed");
  const twoTabs = (2 * (Date.now() - begunMs)) / 500;
  expect(asked()).toBeLessThanOrEqual(Math.ceil(twoTabs));
});

test("a hidden tab does not poll, and polls at once when it is shown", async ({
  connected: page,
  service,
  site,
}) => {
  const show = (state: "hidden" | "visible") =>
    page.evaluate((value) => {
      Object.defineProperty(document, "visibilityState", { value, configurable: true });
      // The real event bubbles, too.
      document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
    }, state);
  await page.clock.install();
  const { id } = await site.createWorker();
  await goToWorkers(page, service.url, site);
  // While it is being installed, polls are so frequent that one may begin just before the tab is hidden.
  await expectRow(workerRow(page, id), "installed");

  const asked = countQuestions(page, site);
  // Waits for the pending response, because one that arrives while the tab is hidden would be fresh when the tab is shown.
  const answered = page.waitForEvent("requestfinished", (request) => asksForWorkers(request, site));
  // Jumps to a time at which a poll is due. From there on, none begins except by `runFor`.
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 60_000);
  await answered;

  await show("hidden");
  // A poll that was due before may still begin. One that goes on asks at least once a minute.
  const askedInAMinute = async () => {
    const earlier = asked();
    await page.clock.runFor(60_000);
    // Requests are sent in their order, so an earlier one is counted by now.
    await page.evaluate(() => fetch("/healthz"));
    return asked() - earlier;
  };
  await expect.poll(askedInAMinute).toBe(0);

  const before = asked();
  await page.clock.resume();
  await show("visible");
  await expect.poll(asked).toBeGreaterThan(before);
});

test("says that it is offline in one place, and fetches changes as soon as it is online @long", async ({
  connected: page,
  context,
  service,
  site,
  expected,
}) => {
  expected.push(/ERR_INTERNET_DISCONNECTED/);
  const { id } = await site.createWorker({ startsecs: 0 });
  await goToWorkers(page, service.url, site);
  await expectRow(workerRow(page, id), "installed");
  const changes = page.getByRole("log", { name: "Changes" });
  // The log is added after the page has loaded.
  await expect(changes).toBeAttached();

  await context.setOffline(true);
  await service.call("DELETE", `/api/worker/${id}/stop`);
  const notice = page.getByText(/Unreachable since \d\d:\d\d/);
  await expect(notice).toBeVisible({ timeout: 15_000 });
  await expectRow(workerRow(page, id), "installed");

  await context.setOffline(false);
  await expectRow(workerRow(page, id), "stopped");
  await expect(notice).toBeHidden();
  await expect(changes).toHaveText(`default on database (worker ${id}) stopped.`);
});

test("announces a state that is reached twice in two separate elements @long", async ({
  connected: page,
  service,
  site,
}) => {
  const { id } = await site.createWorker({ startsecs: 0 });
  await goToWorkers(page, service.url, site);
  await expectRow(workerRow(page, id), "installed");
  const changes = page.getByRole("log", { name: "Changes" });
  const sentence = `default on database (worker ${id}) installed.`;
  // The log is added after the page has loaded.
  await expect(changes).toBeAttached();
  await clickRowAction(page, id, "Restart");
  await expect(changes).toHaveText(sentence);
  const first = await changes.evaluateHandle((log) => log.firstChild);
  await clickRowAction(page, id, "Restart");
  await expect.poll(() => first.evaluate((node) => node?.isConnected)).toBe(false);
  await expect(changes).toHaveText(sentence);
});
