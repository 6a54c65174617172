// Common steps and expectations of browser tests.
import { readFileSync } from "node:fs";
import { expect, type Locator, type Page, type Response } from "@playwright/test";
import type axe from "axe-core";
import { serviceToken, type ServiceProcess } from "../server/testing/service-process.ts";

/**
 * Matches the label of a worker or of its command: queue, connection and id.
 * @param before the beginning of the label, e.g. "Stop"; without it, the name alone
 */
export const ofWorker = (id: number, before = ""): RegExp =>
  new RegExp(`^${before || "(?!Edit |Duplicate )"}.+ on .+ \\(worker ${id}\\)$`);

/** A list without rows in transit is polled every ten seconds, plus up to a quarter of that. */
export const listPollMs = 13_000;

/** Advances the page's clock until a matching request was sent again, and got its response. */
export async function expectPolled(page: Page, urlPart: string): Promise<void> {
  let isAnswered = false;
  const note = (response: Response) => {
    if (response.url().includes(urlPart)) isAnswered = true;
  };
  page.on("response", note);
  await expect(async () => {
    // A request that was running when the clock advanced is repeated only after that.
    await page.clock.runFor(listPollMs);
    expect(isAnswered).toBe(true);
  }).toPass();
  page.off("response", note);
}

export const workerRow = (page: Page, id: number): Locator =>
  page.getByRole("row").filter({ has: page.getByRole("link", { name: ofWorker(id) }) });

export const configurationRow = (page: Page, name: string): Locator =>
  page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });

/** Waits until a row shows these texts, each exactly in one of its cells; narrow tables merge some cells. */
export async function expectRow(row: Locator, ...texts: string[]): Promise<void> {
  for (const text of texts)
    await expect(
      row.getByText(text, { exact: true }).filter({ visible: true }).first(),
    ).toBeVisible();
}

/** Clicks a button in a worker's row, e.g. "Stop". */
export const clickRowAction = (page: Page, id: number, action: string): Promise<void> =>
  page.getByRole("button", { name: ofWorker(id, action) }).click();

/** Waits for a toast; success is announced politely, errors at once. */
export const expectToast = (page: Page, role: "status" | "alert", text: string | RegExp) =>
  expect(page.getByRole(role).getByText(text)).toBeVisible();

/** Creates a token, with all permissions unless `change` overrides them. */
export async function makeToken(service: ServiceProcess, change: object = {}) {
  const body = { name: "short", abilities: ["*"], ...change };
  const made = await service.call("POST", "/api/tokens", body);
  const { id, token }: { id: number; token: string } = await made.json();
  return { id, token };
}

/** Connects by storing the session, at any URL of a service. */
export async function connectAs(page: Page, url: string, token = serviceToken): Promise<void> {
  // A static file of the same origin, so that the dashboard is not loaded in vain.
  await page.goto(`${url}/favicon.svg`);
  await page.evaluate(
    (value) =>
      sessionStorage.setItem("quarterdeck.session", JSON.stringify({ address: "", token: value })),
    token,
  );
}

/** Connects like a first visit: without any cached data, code or fonts. */
export async function connectAnew(page: Page, url: string): Promise<void> {
  const browser = await page.context().newCDPSession(page);
  await browser.send("Network.clearBrowserCache");
  await browser.detach();
  await page.goto(`${url}/favicon.svg`);
  // A page stores its cache when it is left.
  await page.evaluate(() => {
    sessionStorage.clear();
    localStorage.clear();
  });
  await connectAs(page, url);
}

/** Navigates within the dashboard like its links do, which takes a fifth of the time of a load. */
export async function openWithin(page: Page, path: string): Promise<void> {
  const heading = page.getByRole("heading", { level: 1 });
  // Before the first page is shown, this would be the first navigation, which does not focus the heading.
  await heading.waitFor();
  await page.evaluate((to) => {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    history.pushState(null, "", to);
    dispatchEvent(new PopStateEvent("popstate"));
  }, path);
  // The heading gets the focus once the page is shown.
  await expect(heading).toBeFocused();
}

/** Creates a read-only token. */
export async function createReadingToken(service: ServiceProcess): Promise<string> {
  const made = await service.call("POST", "/api/tokens", { name: "viewer", abilities: ["read"] });
  const { token }: { token: string } = await made.json();
  return token;
}

// The minified build, because it is compiled again for every page.
const axeSource = readFileSync(
  new URL("../node_modules/axe-core/axe.min.js", import.meta.url),
  "utf8",
);

const levels = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** Expects no violation of rules on the page, or on the part that a selector matches. */
async function expectNoViolation(
  page: Page,
  within: string,
  runOnly: { type: "tag" | "rule"; values: string[] },
): Promise<void> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axeSource);
  const violations = await page.evaluate(
    async ([selector, only]) => {
      // Elements that are half under the header count as small targets, although users scroll.
      window.scrollTo({ top: 0, behavior: "instant" });
      // Elements that are fading in do not have their final colors yet.
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

/** Expects WCAG 2.2 AA, as far as a program can check it. */
export const expectAccessible = (page: Page, within = "html"): Promise<void> =>
  expectNoViolation(page, within, { type: "tag", values: levels });

/** Checks the page in light and dark; in the second, only contrast, the only rule that depends on colors. */
export async function expectAccessibleInBoth(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: "light" });
  await expectAccessible(page);
  await page.emulateMedia({ colorScheme: "dark" });
  await expectNoViolation(page, "html", { type: "rule", values: ["color-contrast"] });
}

/** Expects nothing on the page to be wider than the window. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow).toBeLessThanOrEqual(0);
}

/** Waits until changes are painted. */
export const nextFrame = (page: Page): Promise<unknown> =>
  page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  );

/** Resizes the window, and waits until the layout is painted. */
export async function resizeWindow(page: Page, width: number, height: number): Promise<void> {
  await page.setViewportSize({ width, height });
  await nextFrame(page);
}
