// Measures the responsiveness of a loaded page: the time until an action is visible, and the work of a change.
import type { Browser, Page } from "@playwright/test";
import { countRows, forgetRows, watchRows } from "../e2e/rendered-rows.ts";
import { type DashboardService, logLineCount } from "./dashboard-service.ts";
import { median } from "./report.ts";

const slowdown = 4;

declare global {
  // oxlint-disable-next-line no-var -- a global of the page is declared so
  var paintedAfterMs: Promise<number>;
}

async function open(
  browser: Browser,
  service: Pick<DashboardService, "url" | "token">,
  path: string,
): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await watchRows(page);
  await page.goto(`${service.url}${path}#token=${encodeURIComponent(service.token)}`);
  return page;
}

async function slowDown(page: Page): Promise<void> {
  // Waits for what is loaded later, which is not part of an action.
  await page.waitForLoadState("networkidle");
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
}

/** Changes one of 20 rows that are polled, and counts the rows that React renders. */
export async function countRenderedRows(
  browser: Browser,
  service: DashboardService,
): Promise<number> {
  const page = await open(browser, service, "/servers/1/backups");
  const [changed] = service.configurations;
  if (changed === undefined) throw new Error("There are no configurations.");
  await page.getByRole("link", { name: changed.name, exact: true }).waitFor();
  await page.waitForLoadState("networkidle");
  await forgetRows(page);
  await service.call("PUT", `/api/backup-configuration/${changed.id}`, {
    name: "Renamed",
    frequency: changed.frequency,
    storage_provider_id: changed.storage_provider_id,
  });
  const row = page.getByRole("row").filter({ hasText: "Renamed" });
  await row.getByRole("button", { name: /^Run now/, disabled: false }).waitFor();
  const rendered = await countRows(page);
  await page.context().close();
  return rendered;
}

/**
 * Measures the milliseconds from an input event to the paint that first shows its effect, by the page's own clock.
 * @param act triggers the event once
 */
export async function untilPaint(
  page: Page,
  { event, within, act }: { event: string; within: string; act: () => Promise<void> },
): Promise<number> {
  await page.evaluate(
    ([name, selector]) => {
      globalThis.paintedAfterMs = new Promise((resolve) => {
        let startedMs: number | null = null;
        const target = document.querySelector(selector);
        if (target === null) throw new Error(`There is no ${selector}.`);
        addEventListener(name, ({ timeStamp }) => (startedMs ??= timeStamp), { capture: true });
        const observer = new MutationObserver(() => {
          if (startedMs === null) return;
          const fromMs = startedMs;
          observer.disconnect();
          // A task that is posted in an animation frame runs after its paint.
          requestAnimationFrame(() => {
            const { port1, port2 } = new MessageChannel();
            port1.addEventListener("message", () => resolve(performance.now() - fromMs));
            port1.start();
            port2.postMessage(null);
          });
        });
        observer.observe(target, {
          subtree: true,
          childList: true,
          attributes: true,
          characterData: true,
        });
      });
    },
    [event, within] as const,
  );
  await act();
  return page.evaluate(() => globalThis.paintedAfterMs);
}

/** Measures from the click on "Run now" to the first sign of it in its row. */
export async function timeAction(browser: Browser, service: DashboardService): Promise<number> {
  const page = await open(browser, service, "/servers/1/backups");
  await page
    .getByRole("button", { name: /^Run now/ })
    .first()
    .waitFor();
  await slowDown(page);
  const times: number[] = [];
  for (const { name } of service.configurations.slice(2, 9)) {
    const button = page.getByRole("button", { name: `Run now: ${name}`, exact: true });
    // Hovering changes colors by itself.
    await button.hover();
    times.push(
      await untilPaint(page, {
        event: "click",
        within: `button[aria-label="Run now: ${name}"]`,
        // Like a finger: changes by the press itself are painted before the click.
        act: () => button.click({ delay: 80 }),
      }),
    );
  }
  await page.context().close();
  return median(times);
}

/** Measures from a typed letter to the matches on screen, in a log of 1,000 lines. */
export async function timeFilter(browser: Browser, service: DashboardService): Promise<number> {
  const page = await open(browser, service, `/workers/${service.workerId}`);
  const log = page.getByRole("log");
  await log.getByText(`[${logLineCount}]`).waitFor();
  await page.getByRole("button", { name: "Pause log" }).click();
  await slowDown(page);
  const search = page.getByRole("searchbox", { name: "Search the log" });
  // Changes in the same frame as the matches.
  const countSelector = "output:has(+ [type=search])";
  const count = page.locator(countSelector);
  const times: number[] = [];
  // Each of them is in every line, the worst case.
  for (const needle of ["S", "e", "R", "in", "m"]) {
    await search.fill("");
    await count.filter({ hasText: /^$/ }).waitFor({ state: "attached" });
    await search.focus();
    times.push(
      await untilPaint(page, {
        event: "input",
        within: countSelector,
        act: () => page.keyboard.insertText(needle),
      }),
    );
  }
  await page.context().close();
  return median(times);
}

/** Measures from a typed letter to its rows, which are cached, so that no response is waited for. */
export async function timeListFilter(
  browser: Browser,
  service: Pick<DashboardService, "url" | "token">,
): Promise<number> {
  const page = await open(browser, service, "/sites/1/workers");
  const filter = page.getByRole("searchbox", { name: "Filter workers" });
  await filter.waitFor();
  await slowDown(page);
  // Changes in the same frame as the rows.
  const countSelector = "[aria-label='Filter workers'] ~ output";
  const count = page.locator(countSelector);
  const empty = async () => {
    await filter.fill("");
    await count.filter({ hasText: /^$/ }).waitFor({ state: "attached" });
  };
  const times: number[] = [];
  for (const letter of ["m", "p", "l", "r", "s"]) {
    await filter.fill(letter);
    await count.filter({ hasText: "found" }).waitFor({ state: "attached" });
    await empty();
    // Keys in quick succession are combined into one search.
    await page.waitForTimeout(500);
    const act = () => page.keyboard.insertText(letter);
    times.push(await untilPaint(page, { event: "input", within: countSelector, act }));
    await empty();
  }
  await page.context().close();
  return median(times);
}
