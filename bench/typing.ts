// Measures the time from a key press to the paint of the letter and of the search results, by the page's own clock.
import type { Browser, Page } from "@playwright/test";
import type { ManyService } from "./many-service.ts";
import { median } from "./report.ts";

/** Milliseconds; each field is a separate median. */
export type Typing = {
  /** Until the paint of the letter. */
  letterMs: number;
  /** Until the paint of the results, without the time of the response. */
  resultMs: number;
  answerMs: number;
  totalMs: number;
};

type Times = { letterMs: number; answerMs: number; totalMs: number };

declare global {
  // oxlint-disable-next-line no-var -- only `var` declares a property of `globalThis`
  var typedTimes: Promise<Times>;
}

const slowdown = 4;

async function open(browser: Browser, service: ManyService, path: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await page.goto(`${service.url}${path}#token=${encodeURIComponent(service.token)}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  // Loading that the page does after its first render must not count.
  await page.waitForLoadState("networkidle");
  return page;
}

/** How to recognize the result on screen. */
type Shown = {
  /** One of these elements holds the text. */
  selector: string;
  text: string;
  /** Selector of an element that exists only until the response has arrived. */
  pending?: string;
  /** A part of the request's URL. */
  asked: string;
};

/** Types one letter, and waits for the paint that shows its results. */
async function typeLetter(page: Page, letter: string, wanted: Shown): Promise<Times> {
  await page.evaluate(({ selector, text, pending, asked }) => {
    performance.clearResourceTimings();
    /** Runs after the paint of the next frame, in a task that is posted in that frame. */
    const afterPaint = (run: () => void) =>
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.addEventListener("message", run, { once: true });
        port1.start();
        port2.postMessage(null);
      });
    globalThis.typedTimes = new Promise((resolve) => {
      addEventListener(
        "input",
        ({ timeStamp: typedMs }) => {
          let letterMs = 0;
          afterPaint(() => (letterMs = performance.now() - typedMs));
          const isShown = () =>
            (pending === undefined || document.querySelector(pending) === null) &&
            [...document.querySelectorAll(selector)].some((one) => one.textContent.includes(text));
          const end = () =>
            afterPaint(() => {
              const totalMs = performance.now() - typedMs;
              const answers = performance
                .getEntriesByType("resource")
                .filter(({ name, startTime }) => name.includes(asked) && startTime >= typedMs);
              const answerMs = answers.at(-1)?.duration ?? 0;
              resolve({ letterMs, answerMs, totalMs });
            });
          const observer = new MutationObserver(() => {
            if (!isShown()) return;
            observer.disconnect();
            end();
          });
          observer.observe(document, {
            subtree: true,
            childList: true,
            attributes: true,
            characterData: true,
          });
        },
        { capture: true, once: true },
      );
    });
  }, wanted);
  await page.keyboard.insertText(letter);
  return page.evaluate(() => globalThis.typedTimes);
}

const toTyping = (times: readonly Times[]): Typing => ({
  letterMs: median(times.map(({ letterMs }) => letterMs)),
  resultMs: median(times.map(({ totalMs, answerMs }) => totalMs - answerMs)),
  answerMs: median(times.map(({ answerMs }) => answerMs)),
  totalMs: median(times.map(({ totalMs }) => totalMs)),
});

/** Measures single letters in the filter of a list; none is typed twice, so that each causes a request. */
export async function timeListTyping(
  browser: Browser,
  service: ManyService,
  perPage: number,
): Promise<Typing> {
  const page = await open(browser, service, `/sites/1/workers?per_page=${perPage}`);
  const filter = page.getByRole("searchbox", { name: "Filter workers" });
  await filter.waitFor();
  await filter.focus();
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
  // The count changes in the same frame as the rows.
  const count = "[aria-label='Filter workers'] ~ output";
  const times: Times[] = [];
  for (const word of ["e", "i", "m", "r", "s", "y", "x", "b", "a"]) {
    // Waits, because the filter handles keys in quick succession together.
    await page.waitForTimeout(700);
    times.push(
      await typeLetter(page, word, {
        selector: count,
        text: "found",
        asked: `search=${word}`,
      }),
    );
    await filter.fill("");
    await page.locator(count).filter({ hasText: /^$/ }).waitFor({ state: "attached" });
  }
  await page.context().close();
  return toTyping(times);
}

/** Measures, in the palette, the last letter of a word that was typed without a pause. */
export async function timePaletteTyping(browser: Browser, service: ManyService): Promise<Typing> {
  const page = await open(browser, service, "/");
  await page.keyboard.press("ControlOrMeta+k");
  const field = page.getByRole("combobox", { name: "Search names, actions and ids" });
  await field.waitFor();
  const times: Times[] = [];
  for (const id of [117, 233, 342, 451, 560, 678, 789, 897, 906]) {
    const text = `${id}`;
    await field.fill("");
    await page.getByRole("option").first().waitFor();
    await page.waitForTimeout(300);
    for (const letter of text.slice(0, -1)) await page.keyboard.insertText(letter);
    times.push(
      await typeLetter(page, text.slice(-1), {
        selector: "[role=option] mark",
        text,
        // The footer's indicator while the response is pending.
        pending: "dialog p > .animate-wait",
        asked: `q=${text}`,
      }),
    );
  }
  await page.context().close();
  return toTyping(times);
}
