// What a cold first visit to a list costs: bytes and requests until its rows are there, and with what is loaded at idle.
import { gzipSync } from "node:zlib";
import type { Browser, Page, Response } from "@playwright/test";

type Weight = {
  /** Bytes of scripts as gzip at level 9 makes them of their text, whatever encoding the server chose. */
  scripts: number;
  styles: number;
  requests: number;
  /** What the scripts took on the wire, in the server's encoding. */
  scriptsOnWire: number;
};

declare global {
  // oxlint-disable-next-line no-var -- a global of the page is declared so
  var listReadyMs: Promise<number>;
}

/** The rows of a list, of ours and of most others. */
const rows = "main tbody tr, main [role=row] [role=cell], tbody tr, [role=rowgroup] [role=row]";

const kindOf = (response: Response) => response.request().resourceType();

const gzipSize = async (response: Response): Promise<number> =>
  gzipSync(await response.body(), { level: 9 }).length;

/** What of it is styles: a style sheet, or what stands in a page itself. */
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

/** Visits an address in a browser that has seen nothing yet. */
async function visit(browser: Browser, url: string) {
  const page = await (await browser.newContext()).newPage();
  const responses: Response[] = [];
  // By the page's own clock: until we have heard of it, what waits for an idle moment has begun.
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
  // Finished ones only: what was begun and nothing waits for does not count before it came.
  page.on("requestfinished", async (request) => {
    const response = await request.response();
    if (response !== null && request.url().startsWith("http")) responses.push(response);
  });
  await page.goto(url, { waitUntil: "commit" });
  return { page, responses };
}

/** When the rows were there, and what had been asked for and had come by then, the page itself included. */
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
  // What waits for an idle moment asks for it after the network has been quiet.
  await page.waitForTimeout(4_000);
  const before = responses.filter((response) => come.has(response.url()));
  const ready = await weigh(before, requests);
  const idle = await weigh(responses, responses.length);
  await page.context().close();
  return { ready, idle };
}

/** The scripts of a page and what each of them weighs, by name. */
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
