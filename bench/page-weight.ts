// What a cold first visit to a list costs: bytes and requests until its rows are there, and with what is loaded at idle.
import { gzipSync } from "node:zlib";
import type { Browser, Response } from "@playwright/test";

export type Weight = {
  /** Bytes of scripts as gzip at level 9 makes them of their text, whatever encoding the server chose. */
  scripts: number;
  styles: number;
  requests: number;
  /** What the scripts took on the wire, in the server's encoding. */
  scriptsOnWire: number;
};

/** The rows of a list, of ours and of most others. */
const rows = "main tbody tr, main [role=row] [role=cell], tbody tr, [role=rowgroup] [role=row]";

const kindOf = (response: Response) => response.request().resourceType();

const gzipSize = async (response: Response): Promise<number> =>
  gzipSync(await response.body(), { level: 9 }).length;

const sum = async (responses: readonly Response[], size: (one: Response) => Promise<number>) =>
  (await Promise.all(responses.map(size))).reduce((total, bytes) => total + bytes, 0);

async function weigh(responses: readonly Response[], requests: number): Promise<Weight> {
  const scripts = responses.filter((response) => kindOf(response) === "script");
  const styles = responses.filter((response) => kindOf(response) === "stylesheet");
  const onWire = async (response: Response) => (await response.request().sizes()).responseBodySize;
  return {
    scripts: await sum(scripts, gzipSize),
    styles: await sum(styles, gzipSize),
    requests,
    scriptsOnWire: await sum(scripts, onWire),
  };
}

/** Visits an address in a browser that has seen nothing yet. */
async function visit(browser: Browser, url: string) {
  const page = await (await browser.newContext()).newPage();
  const responses: Response[] = [];
  let requests = 0;
  page.on("request", (request) => {
    if (request.url().startsWith("http")) requests += 1;
  });
  // Finished ones only: what a preload has begun but nothing waits for does not count before it came.
  page.on("requestfinished", async (request) => {
    const response = await request.response();
    if (response !== null && request.url().startsWith("http")) responses.push(response);
  });
  await page.goto(url, { waitUntil: "commit" });
  return { page, responses, count: () => requests };
}

export async function weighFirstVisit(
  browser: Browser,
  url: string,
): Promise<{ ready: Weight; idle: Weight }> {
  const { page, responses, count } = await visit(browser, url);
  await page.locator(rows).first().waitFor({ timeout: 60_000 });
  const ready = await weigh([...responses], count());
  await page.waitForLoadState("networkidle");
  // What waits for an idle moment asks for it after the network has been quiet.
  await page.waitForTimeout(4_000);
  const idle = await weigh([...responses], count());
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
