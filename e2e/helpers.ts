// What browser tests say often, in the words of a user.
import { readFileSync } from "node:fs";
import { expect, type Locator, type Page, type Response } from "@playwright/test";
import type axe from "axe-core";
import { serviceToken, type ServiceProcess } from "../server/testing/service-process.ts";

/**
 * How a label or a command calls a worker: by its queue and connection, and its number.
 * @param before what the label begins with, e.g. "Stop"; without it, the name alone
 */
export const ofWorker = (id: number, before = ""): RegExp =>
  new RegExp(`^${before || "(?!Edit |Duplicate )"}.+ on .+ \\(worker ${id}\\)$`);

/** A list on which nothing moves is asked for every ten seconds, and up to a quarter later. */
export const listPollMs = 13_000;

/** Lets the page's clock run until something is asked for once more, and answered. */
export async function expectPolled(page: Page, urlPart: string): Promise<void> {
  let isAnswered = false;
  const note = (response: Response) => {
    if (response.url().includes(urlPart)) isAnswered = true;
  };
  page.on("response", note);
  await expect(async () => {
    // What was under way as the clock ran has its next turn only after that.
    await page.clock.runFor(listPollMs);
    expect(isAnswered).toBe(true);
  }).toPass();
  page.off("response", note);
}

export const workerRow = (page: Page, id: number): Locator =>
  page.getByRole("row").filter({ has: page.getByRole("link", { name: ofWorker(id) }) });

export const configurationRow = (page: Page, name: string): Locator =>
  page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });

/** Waits until a row shows these texts, each exactly in one of its cells; a narrow table folds some into others. */
export async function expectRow(row: Locator, ...texts: string[]): Promise<void> {
  for (const text of texts)
    await expect(
      row.getByText(text, { exact: true }).filter({ visible: true }).first(),
    ).toBeVisible();
}

/** Presses a button of a worker's row, e.g. "Stop". */
export const clickRowAction = (page: Page, id: number, action: string): Promise<void> =>
  page.getByRole("button", { name: ofWorker(id, action) }).click();

/** Waits for a short message; good news is announced politely, bad news at once. */
export const expectToast = (page: Page, role: "status" | "alert", text: string | RegExp) =>
  expect(page.getByRole(role).getByText(text)).toBeVisible();

/** A token that may do everything, unless `change` says otherwise. */
export async function makeToken(service: ServiceProcess, change: object = {}) {
  const body = { name: "short", abilities: ["*"], ...change };
  const made = await service.call("POST", "/api/tokens", body);
  const { id, token }: { id: number; token: string } = await made.json();
  return { id, token };
}

/** Connects by what connecting leaves behind, at any address of a service. */
export async function connectAs(page: Page, url: string, token = serviceToken): Promise<void> {
  // A static file of the same origin: a page of the dashboard would start only to be left.
  await page.goto(`${url}/favicon.svg`);
  await page.evaluate(
    (value) =>
      sessionStorage.setItem("quarterdeck.session", JSON.stringify({ address: "", token: value })),
    token,
  );
}

/** Connects as a browser does that was never there: without anything of earlier visits, code and fonts included. */
export async function connectAnew(page: Page, url: string): Promise<void> {
  const browser = await page.context().newCDPSession(page);
  await browser.send("Network.clearBrowserCache");
  await browser.detach();
  await page.goto(`${url}/favicon.svg`);
  // A page that is left keeps what it read until then.
  await page.evaluate(() => {
    sessionStorage.clear();
    localStorage.clear();
  });
  await connectAs(page, url);
}

/** Opens another page of the dashboard as its links do, which costs a fifth of a load. */
export async function openWithin(page: Page, path: string): Promise<void> {
  const heading = page.getByRole("heading", { level: 1 });
  // Before there is a page, it would be the first one, whose heading a load leaves without the focus.
  await heading.waitFor();
  await page.evaluate((to) => {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    history.pushState(null, "", to);
    dispatchEvent(new PopStateEvent("popstate"));
  }, path);
  // Of a page that has come, the heading has the focus.
  await expect(heading).toBeFocused();
}

/** A token of the service that may look and change nothing. */
export async function createReadingToken(service: ServiceProcess): Promise<string> {
  const made = await service.call("POST", "/api/tokens", { name: "viewer", abilities: ["read"] });
  const { token }: { token: string } = await made.json();
  return token;
}

// The minified build, because every page that is tested compiles it anew.
const axeSource = readFileSync(
  new URL("../node_modules/axe-core/axe.min.js", import.meta.url),
  "utf8",
);

const levels = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** A rule is broken by none of the page, or of the part of it that a selector names. */
async function expectNoViolation(
  page: Page,
  within: string,
  runOnly: { type: "tag" | "rule"; values: string[] },
): Promise<void> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axeSource);
  const violations = await page.evaluate(
    async ([selector, only]) => {
      // What is half under the header is no small target: one scrolls.
      window.scrollTo({ top: 0, behavior: "instant" });
      // What is still fading in has not the colors that it will have.
      const passing = document
        .getAnimations()
        .filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity);
      await Promise.allSettled(passing.map(({ finished }) => finished));
      const loaded: typeof axe = Reflect.get(window, "axe");
      const found = await loaded.run(selector, { runOnly: only, resultTypes: ["violations"] });
      return found.violations.map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`,
      );
    },
    [within, runOnly] as const,
  );
  expect(violations).toEqual([]);
}

/** Of WCAG 2.2 AA, as far as a program can tell. */
export const expectAccessible = (page: Page, within = "html"): Promise<void> =>
  expectNoViolation(page, within, { type: "tag", values: levels });

/** The same in light and dark; of all rules only that of contrast can see which of them it is. */
export async function expectAccessibleInBoth(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: "light" });
  await expectAccessible(page);
  await page.emulateMedia({ colorScheme: "dark" });
  await expectNoViolation(page, "html", { type: "rule", values: ["color-contrast"] });
}

/** Nothing on the page is wider than the window. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow).toBeLessThanOrEqual(0);
}

/** Waits until what has changed is drawn. */
export const nextFrame = (page: Page): Promise<unknown> =>
  page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  );

/** Makes the window another size, and waits until what depends on it has been drawn anew. */
export async function resizeWindow(page: Page, width: number, height: number): Promise<void> {
  await page.setViewportSize({ width, height });
  await nextFrame(page);
}
