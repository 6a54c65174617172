// Measures the dashboard with the large seed: the cost of its start page, and the time to open pages.
import { type Browser, chromium, type Page } from "@playwright/test";
import { launchOptions } from "../server/setup/browser.ts";
import { timeListFilter, untilPaint } from "./felt-speed.ts";
import { type LargeService, startLargeService } from "./large-service.ts";
import { judge } from "./lighthouse.ts";
import { median, note, report } from "./report.ts";

const pages = ["/", "/servers/1/backups", "/sites/1/workers"] as const;
const visits = 3;

export async function run(): Promise<void> {
  const service = await startLargeService();
  try {
    await measureAnswers(service);
    const browser = await chromium.launch(launchOptions());
    try {
      await countRequests(browser, service);
      await timeSeenPages(browser, service);
      report(
        "a letter in a list's filter to painted, 4× slower CPU (median of 5)",
        await timeListFilter(browser, service),
        "ms",
        { atMost: 100 },
      );
    } finally {
      await browser.close();
    }
    for (const path of pages) await measureVisit(service, path);
  } finally {
    await service.stop();
  }
}

/** Milliseconds of one request, the median of 30. */
async function timeAnswer(service: LargeService, path: string): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < 30; count++) {
    const startedMs = performance.now();
    await (await service.call("GET", path)).arrayBuffer();
    times.push(performance.now() - startedMs);
  }
  return median(times);
}

async function measureAnswers(service: LargeService): Promise<void> {
  const list = await timeAnswer(service, "/api/servers");
  const overview = await timeAnswer(service, "/api/overview");
  const search = await timeAnswer(service, "/api/search?q=shop");
  report("the overview against a list of 13 servers", overview / list, "×", { atMost: 10 });
  note(`${overview.toFixed(1)} ms against ${list.toFixed(1)} ms`);
  report("a search over all of it", search, "ms", { atMost: 50 });
}

const withToken = (service: LargeService, path: string) =>
  `${service.url}${path}#token=${encodeURIComponent(service.token)}`;

async function open(browser: Browser, service: LargeService, path: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await page.goto(withToken(service, path));
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.waitForLoadState("networkidle");
  return page;
}

/** Counts the requests of the start page, until there are no more. */
async function countRequests(browser: Browser, service: LargeService): Promise<void> {
  const page = await (await browser.newContext()).newPage();
  const asked: string[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/api/")) asked.push(pathname);
  });
  await page.goto(withToken(service, "/"));
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.waitForLoadState("networkidle");
  report("requests of the overview to the service", new Set(asked).size, "", { atMost: 4 });
  note([...new Set(asked)].join(", "));
  await page.context().close();
}

/** Measures from the click to the paint of a page that was visited before. */
async function timeSeenPages(browser: Browser, service: LargeService): Promise<void> {
  const page = await open(browser, service, "/sites/1/workers");
  const tab = (name: string) =>
    page.locator("main").getByRole("link", { name, exact: true }).first();
  const times: number[] = [];
  for (const name of ["Webhooks", "Workers", "Webhooks", "Workers", "Webhooks", "Workers"]) {
    // Hovering changes colors by itself.
    await tab(name).hover();
    const act = () => tab(name).click({ delay: 80 });
    times.push(await untilPaint(page, { event: "click", within: "main", act }));
    await page.waitForLoadState("networkidle");
  }
  // The first visit of each page is excluded.
  report("a page seen before, click to paint (median of 5)", median(times.slice(1)), "ms", {
    atMost: 50,
  });
  await page.context().close();
}

async function measureVisit(service: LargeService, path: string): Promise<void> {
  const verdict = await judge(withToken(service, path), visits);
  report(`Lighthouse, phone, ${path}: performance`, verdict.performance, "", { atLeast: 98 });
  report("… accessibility", verdict.accessibility, "", { atLeast: 100 });
  report("… best practices", verdict.bestPractices, "", { atLeast: 100 });
  report(`… largest paint (median of ${visits})`, verdict.lcpMs / 1000, "s", { atMost: 1.8 });
  report("… blocked by scripts", verdict.tbtMs, "ms", { atMost: 50 });
  report("… layout shift", verdict.cls, "", { atMost: 0.02 });
}
