// The script that runs before the dashboard is not a module, so the test reads its file and runs it like a browser.
// oxlint-disable-next-line no-restricted-imports -- as said above
import { readFileSync } from "node:fs";
// oxlint-disable-next-line no-restricted-imports -- as said above
import { createContext, runInContext } from "node:vm";
import { expect, test } from "vitest";
import { createAppearance, schemeKey, schemes } from "./appearance.ts";

/** Fakes a browser's storage, its root element, and its listeners for changes by other tabs. */
function makeBrowser(stored: Record<string, string> = {}, isForbidden = false) {
  const kept = new Map(Object.entries(stored));
  const style = { colorScheme: "untouched" };
  const bars = ["light", "dark"].map((scheme) => ({ dataset: { scheme }, media: "untouched" }));
  const listeners: (() => void)[] = [];
  const getItem = (key: string) => {
    if (isForbidden) throw new Error("SecurityError");
    return kept.get(key) ?? null;
  };
  return { kept, style, bars, listeners, getItem };
}

const script = readFileSync(new URL("../../../public/scheme.js", import.meta.url), "utf8");

/** Runs the script that a page runs before its first paint. */
function openPage({ style, bars, listeners, getItem }: ReturnType<typeof makeBrowser>): void {
  const page = {
    localStorage: { getItem },
    document: { documentElement: { style }, querySelectorAll: () => bars },
    addEventListener: (_name: string, listener: () => void) => listeners.push(listener),
  };
  runInContext(script, createContext(page));
}

const portsOf = ({ kept, style }: ReturnType<typeof makeBrowser>) => ({
  read: () => kept.get(schemeKey) ?? null,
  write: (scheme: string | null) =>
    void (scheme === null ? kept.delete(schemeKey) : kept.set(schemeKey, scheme)),
  apply: (scheme: string) => {
    style.colorScheme = scheme;
  },
});

test.each(schemes)("applies a selected theme at once and on the next page: %s", (scheme) => {
  const browser = makeBrowser({ [schemeKey]: "dark" });
  const appearance = createAppearance(portsOf(browser));
  expect(appearance.scheme.get()).toBe("dark");
  appearance.choose(scheme);
  const shown = scheme === "system" ? "" : scheme;
  expect(browser.style.colorScheme).toBe(shown);
  browser.style.colorScheme = "untouched";
  openPage(browser);
  expect(browser.style.colorScheme).toBe(shown);
  expect(createAppearance(portsOf(browser)).scheme.get()).toBe(scheme);
});

test.each(["", "purple", "light dark", "system"])(
  "follows the system for an invalid value: %o",
  (stored) => {
    const browser = makeBrowser({ [schemeKey]: stored });
    openPage(browser);
    expect(browser.style.colorScheme).toBe("");
    expect(createAppearance(portsOf(browser)).scheme.get()).toBe("system");
  },
);

test("follows the system if storage is forbidden", () => {
  const browser = makeBrowser({}, true);
  openPage(browser);
  expect(browser.style.colorScheme).toBe("");
});

test("other tabs follow, and their settings show it", () => {
  const browser = makeBrowser();
  openPage(browser);
  const there = createAppearance(portsOf(browser));
  browser.kept.set(schemeKey, "dark");
  for (const listener of browser.listeners) listener();
  there.reread();
  expect(browser.style.colorScheme).toBe("dark");
  expect(there.scheme.get()).toBe("dark");
});

test.each([
  [null, ["(prefers-color-scheme: light)", "(prefers-color-scheme: dark)"]],
  ["light", ["all", "not all"]],
  ["dark", ["not all", "all"]],
])("sets the browser's bars to the color of the theme: %s", (chosen, media) => {
  const browser = makeBrowser(chosen === null ? {} : { [schemeKey]: chosen });
  openPage(browser);
  expect(browser.bars.map((bar) => bar.media)).toEqual(media);
});
