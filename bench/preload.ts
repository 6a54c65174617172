// Measures the time to the first row of a list with the script of `src/preload` in index.html and without it, alternately.
import type { Browser, Page } from "@playwright/test";
import type { DashboardService } from "./dashboard-service.ts";
import { median, note, report } from "./report.ts";

/** Lighthouse's presets for phone and desktop: latency, throughput, and the slowdown of the CPU. */
const lines = {
  phone: { latencyMs: 150, kilobits: 1_638, slowdown: 4 },
  desktop: { latencyMs: 40, kilobits: 10_240, slowdown: 1 },
} as const;

type Line = keyof typeof lines;
type Visit = { line: Line; isPreloaded: boolean; isReturning: boolean };

const turns = 7;

declare global {
  // oxlint-disable-next-line no-var -- a global of the page is declared so
  var firstRowMs: Promise<number>;
}

/** Stores the session, and records when the first row of a list is painted. */
const watchFirstRow = (page: Page, token: string): Promise<unknown> =>
  page.addInitScript((secret) => {
    sessionStorage.setItem("quarterdeck.session", JSON.stringify({ address: "", token: secret }));
    globalThis.firstRowMs = new Promise((resolve) => {
      new MutationObserver((_, observer) => {
        if (document.querySelector("main tbody tr") === null) return;
        observer.disconnect();
        // A task that is posted in a frame runs after its paint.
        requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
      }).observe(document, { childList: true, subtree: true });
    });
  }, token);

/** Serves index.html with or without the script. Both pass through here, so that it costs them the same. */
const servePage = (page: Page, address: string, isPreloaded: boolean): Promise<unknown> =>
  page.route(address, async (route) => {
    const response = await route.fetch();
    const html = await response.text();
    const withoutScript = html.replace(/<script>.*?<\/script>/s, "");
    if (withoutScript === html) throw new Error("index.html has no preload script.");
    await route.fulfill({ response, body: isPreloaded ? html : withoutScript });
  });

async function timeFirstRow(
  browser: Browser,
  service: DashboardService,
  { line, isPreloaded, isReturning }: Visit,
): Promise<number> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const address = `${service.url}/servers/1/backups`;
  await watchFirstRow(page, service.token);
  await servePage(page, address, isPreloaded);
  if (isReturning) {
    await page.goto(address);
    await page.waitForLoadState("networkidle");
  }
  const { latencyMs, kilobits, slowdown } = lines[line];
  const session = await context.newCDPSession(page);
  const bytesPerSecond = (kilobits * 1_000) / 8;
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: latencyMs,
    downloadThroughput: bytesPerSecond,
    uploadThroughput: bytesPerSecond,
  });
  await session.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
  await page.goto(address, { waitUntil: "commit" });
  const tookMs = await page.evaluate(() => globalThis.firstRowMs);
  await context.close();
  return tookMs;
}

export async function measurePreload(browser: Browser, service: DashboardService): Promise<void> {
  for (const line of ["phone", "desktop"] as const)
    for (const isReturning of [false, true]) {
      const withIt: number[] = [];
      const without: number[] = [];
      // Alternately, so that other load on the machine affects both.
      for (let turn = 0; turn < turns; turn++) {
        withIt.push(await timeFirstRow(browser, service, { line, isReturning, isPreloaded: true }));
        without.push(
          await timeFirstRow(browser, service, { line, isReturning, isPreloaded: false }),
        );
      }
      const visit = isReturning ? "returning" : "first visit";
      const what = `preload, ${line}, ${visit}: first row, with ÷ without`;
      report(what, median(withIt) / median(without), "", { atMost: 0.85 });
      note(`${Math.round(median(withIt))} ms with, ${Math.round(median(without))} ms without`);
    }
}
