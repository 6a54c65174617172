// Measures the dashboard: the cost of a first visit to a list of 20 backup configurations, and the response to actions.
// With `--url` it visits any page with a list, without the measurements that need to change the service.
import { readdir, readFile } from "node:fs/promises";
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { type Browser, chromium } from "@playwright/test";
import { launchOptions } from "../server/setup/browser.ts";
import { type DashboardService, startDashboardService } from "./dashboard-service.ts";
import { measurePreload } from "./preload.ts";
import { countRenderedRows, timeAction, timeFilter } from "./felt-speed.ts";
import { judge } from "./lighthouse.ts";
import { measureOpenTabs } from "./open-tabs.ts";
import { scriptsOf, weighFirstVisit } from "./page-weight.ts";
import { note, report } from "./report.ts";

const listPath = "/servers/1/backups";
const kB = (bytes: number) => bytes / 1000;

/** @param target a page with a list, and the token for its fragment */
export async function run(target: { url?: string; token?: string } = {}): Promise<void> {
  note(
    `load average at the start: ${loadavg()
      .map((load) => load.toFixed(1))
      .join(", ")}`,
  );
  if (target.url !== undefined) {
    await withBrowser((browser) =>
      measureVisit(browser, withToken(target.url ?? "", target.token)),
    );
    return;
  }
  const service = await startDashboardService();
  try {
    await withBrowser(async (browser) => {
      await measureVisit(browser, withToken(service.url + listPath, service.token));
      await measureChunks(browser, service);
      await measureFeel(browser, service);
      await measurePreload(browser, service);
      await measureOpenTabs(browser, service);
    });
  } finally {
    await service.stop();
  }
}

const withToken = (url: string, token: string | undefined) =>
  token === undefined ? url : `${url}#token=${encodeURIComponent(token)}`;

async function withBrowser(measure: (browser: Browser) => Promise<void>): Promise<void> {
  const browser = await chromium.launch(launchOptions());
  try {
    await measure(browser);
  } finally {
    await browser.close();
  }
}

async function measureVisit(browser: Browser, url: string): Promise<void> {
  const { ready, idle } = await weighFirstVisit(browser, url);
  report("JavaScript before the list is ready, gzip", kB(ready.scripts), "kB", { atMost: 150 });
  report("… with what is loaded at idle", kB(idle.scripts), "kB", { atMost: 190 });
  report("CSS, gzip", kB(ready.styles), "kB", { atMost: 10 });
  report("requests before the list is ready", ready.requests, "", { atMost: 12 });
  note(
    `scripts as they came over the wire: ${kB(ready.scriptsOnWire).toFixed(1)} kB before the list; gzip is level 9 of each file`,
  );
  const verdict = await judge(url);
  report("Lighthouse, phone: performance", verdict.performance, "", { atLeast: 98 });
  report("Lighthouse, phone: accessibility", verdict.accessibility, "", { atLeast: 100 });
  report("Lighthouse, phone: best practices", verdict.bestPractices, "", { atLeast: 100 });
  report("Lighthouse, phone: largest paint (median of 5)", verdict.lcpMs / 1000, "s", {
    atMost: 1.8,
  });
  report("Lighthouse, phone: blocked by scripts", verdict.tbtMs, "ms", { atMost: 50 });
  report("Lighthouse, phone: layout shift", verdict.cls, "", { atMost: 0.02 });
}

/** Reports the largest of the chunks of pages, and of those that a form loads in addition to its list. */
async function measureChunks(browser: Browser, service: DashboardService): Promise<void> {
  const folder = fileURLToPath(new URL("../dist/assets", import.meta.url));
  let largest = { name: "none", size: 0 };
  for (const name of await readdir(folder)) {
    if (!/Page-[\w-]+\.js$/.test(name)) continue;
    const size = gzipSync(await readFile(`${folder}/${name}`), { level: 9 }).length;
    if (size > largest.size) largest = { name, size };
  }
  report("a page's own chunk, the largest, gzip", kB(largest.size), "kB", { atMost: 12 });
  note(`it is ${largest.name}`);

  const scripts = (path: string) =>
    scriptsOf(browser, withToken(service.url + path, service.token));
  for (const list of [listPath, "/sites/1/workers", "/sites/1/webhooks"]) {
    const known = await scripts(list);
    const added = [...(await scripts(`${list}/new`))].filter(([name]) => !known.has(name));
    const size = added.reduce((total, [, bytes]) => total + bytes, 0);
    report(`the form of ${list}, gzip`, kB(size), "kB", { atMost: 30 });
  }
}

async function measureFeel(browser: Browser, service: DashboardService): Promise<void> {
  report(
    "rows rendered of 20 polled, one of them changed",
    await countRenderedRows(browser, service),
    "",
    { atMost: 1 },
  );
  report(
    "“Run now” to its first sign, 4× slower CPU (median of 7)",
    await timeAction(browser, service),
    "ms",
    { atMost: 50 },
  );
  report(
    "search in 1,000 lines of a log to painted, 4× slower CPU",
    await timeFilter(browser, service),
    "ms",
    { atMost: 130 },
  );
  note("lists come in pages of 20; the log is where 1,000 rows are filtered at once");
}
