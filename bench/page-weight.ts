// Measures a cold first visit to a list: bytes and requests until its rows are shown, and including what is loaded when
// idle.
import { gzipSync } from "node:zlib";
import type { Browser, Page, Response } from "@playwright/test";

type Weight = {
  /** Size of the scripts after gzip at level 9, whatever encoding the server chose. */
  scripts: number;
  styles: number;
  requests: number;
  /** Transferred size of the scripts, in the server's encoding. */
  scriptsOnWire: number;
};

declare global {
  // oxlint-disable-next-line no-var -- a global of the page is declared so
  var listReadyMs: Promise<number>;
}

/** Matches the rows of a list, in this dashboard and most others. */
const rows = "main tbody tr, main [role=row] [role=cell], tbody tr, [role=rowgroup] [role=row]";

const kindOf = (response: Response) => response.request().resourceType();

const gzipSize = async (response: Response): Promise<number> =>
  gzipSync(await response.body(), { level: 9 }).length;

/** Returns the size of the styles: of a style sheet, or of inline styles. */
async function stylesSize(response: Response): Promise<number> {
  if (kindOf(response) === "stylesheet") return gzipSize(response);
  if (kindOf(response) !== "document") return 0;
  const sheets = [...(await response.text()).matchAll(/<style>([\s\S]*?)<\/style>/g)];
  return sheets.length === 0
    ? 0
    : gzipSync(sheets.map(([, text]) => text).join(""), { level: 9 }).length;
}

const sum = async (responses: readonly Response[], size: (one: Response) => Promise<number>) =>
  (await Promise.all(responses.map(size))).reduce((total, bytes) => total + bytes, 0);

async function weigh(responses: readonly Response[], requests: number): Promise<Weight> {
  const scripts = responses.filter((response) => kindOf(response) === "script");
  const onWire = async (response: Response) => (await response.request().sizes()).responseBodySize;
  return {
    scripts: await sum(scripts, gzipSize),
    styles: await sum(responses, stylesSize),
    requests,
    scriptsOnWire: await sum(scripts, onWire),
  };
}

/** Visits a URL with an empty cache. */
async function visit(browser: Browser, url: string) {
  const page = await (await browser.newContext()).newPage();
  const responses: Response[] = [];
  // By the page's own clock: when this process is notified, loading at idle has already begun.
  await page.addInitScript((selector) => {
    globalThis.listReadyMs = new Promise((resolve, reject) => {
      new MutationObserver((_, observer) => {
        if (document.querySelector(selector) === null) return;
        observer.disconnect();
        resolve(performance.now());
      }).observe(document, { childList: true, subtree: true });
      setTimeout(() => reject(new Error("The page showed no list within a minute.")), 60_000);
    });
  }, rows);
  // Counts finished requests only: requests that nothing waits for count once they have finished.
  page.on("requestfinished", async (request) => {
    const response = await request.response();
    if (response !== null && request.url().startsWith("http")) responses.push(response);
  });
  await page.goto(url, { waitUntil: "commit" });
  return { page, responses };
}

/**
 * Returns when the rows were shown, and the requests that had been sent and finished by then, including the page
 * itself.
 */
async function readReady(page: Page): Promise<{ requests: number; come: Set<string> }> {
  const { requests, come } = await page.evaluate(async () => {
    const readyMs = await globalThis.listReadyMs;
    const entries = performance.getEntriesByType("resource");
    const begun = entries.filter(({ startTime }) => startTime <= readyMs);
    const ended = begun.filter(({ startTime, duration }) => startTime + duration <= readyMs);
    return { requests: begun.length + 1, come: ended.map(({ name }) => name) };
  });
  return { requests, come: new Set(come) };
}

export async function weighFirstVisit(
  browser: Browser,
  url: string,
): Promise<{ ready: Weight; idle: Weight }> {
  const { page, responses } = await visit(browser, url);
  const { requests, come } = await readReady(page);
  await page.waitForLoadState("networkidle");
  // Loading at idle begins after the network has been quiet.
  await page.waitForTimeout(4_000);
  const before = responses.filter((response) => come.has(response.url()));
  const ready = await weigh(before, requests);
  const idle = await weigh(responses, responses.length);
  await page.context().close();
  return { ready, idle };
}

/** Returns the scripts of a page with their sizes, by name. */
export async function scriptsOf(browser: Browser, url: string): Promise<Map<string, number>> {
  const { page, responses } = await visit(browser, url);
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await page.waitForLoadState("networkidle");
  const scripts = responses.filter((response) => kindOf(response) === "script");
  const sizes = await Promise.all(
    scripts.map(
      async (response) => [new URL(response.url()).pathname, await gzipSize(response)] as const,
    ),
  );
  await page.context().close();
  return new Map(sizes);
}
