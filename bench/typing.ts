// From a key to what it shows, by the page's own clock: first the letter, then what the service finds for it.
import type { Browser, Page } from "@playwright/test";
import type { ManyService } from "./many-service.ts";
import { median } from "./report.ts";

/** Milliseconds; each is the median of its own. */
export type Typing = {
  /** To the paint that shows the letter. */
  letterMs: number;
  /** To the paint of what was found, less the answer's own time. */
  resultMs: number;
  answerMs: number;
  totalMs: number;
};

type Times = { letterMs: number; answerMs: number; totalMs: number };

declare global {
  // oxlint-disable-next-line no-var -- a global of the page is declared so
  var typedTimes: Promise<Times>;
}

const slowdown = 4;

async function open(browser: Browser, service: ManyService, path: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await page.goto(`${service.url}${path}#token=${encodeURIComponent(service.token)}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  // What is loaded once the page stands is not part of typing.
  await page.waitForLoadState("networkidle");
  return page;
}

/** What is on screen with the result. */
type Shown = {
  /** One of these elements holds the text. */
  selector: string;
  text: string;
  /** What is there only while the answer is on its way. */
  pending?: string;
  /** A part of the question's address. */
  asked: string;
};

/** Types one letter, and waits for the paint that shows what it found. */
async function typeLetter(page: Page, letter: string, wanted: Shown): Promise<Times> {
  await page.evaluate(({ selector, text, pending, asked }) => {
    performance.clearResourceTimings();
    /** Runs after the paint of the frame that comes next: a task that is posted in a frame. */
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

/** In a list's filter, each word letter by letter; no word is typed twice, so that the service is asked each time. */
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
  // It changes in the frame in which the rows are shown.
  const count = "[aria-label='Filter workers'] ~ output";
  const times: Times[] = [];
  for (const word of ["e", "i", "m", "r", "s", "y", "x", "b", "a"]) {
    // Keys that follow one another at once are taken together.
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

/** In the palette, the last letter of what was typed without a pause. */
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
        // The footer's note while the answer is on its way.
        pending: "dialog p > .animate-wait",
        asked: `q=${text}`,
      }),
    );
  }
  await page.context().close();
  return toTyping(times);
}
