// The browser that tests and benchmarks drive: the machine's own.
import { existsSync } from "node:fs";
import { chromium, type LaunchOptions } from "@playwright/test";

/**
 * The machine's Chromium first: Playwright's own is there only where somebody fetched it. The build without a window
 * before the whole one: it shows the same pages for little more than half of the processor's time.
 */
export const findBrowser = (): string | null =>
  [
    process.env["PLAYWRIGHT_CHROMIUM_PATH"],
    "/usr/bin/chromium-headless-shell",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome-stable",
    "/usr/bin/google-chrome",
    chromium.executablePath(),
  ].find((path) => path !== undefined && existsSync(path)) ?? null;

/** @throws Error where there is no browser, with the command that brings one */
export function launchOptions(): LaunchOptions {
  const executablePath = findBrowser();
  if (executablePath === null)
    throw new Error("There is no browser. Run: npx playwright install --with-deps chromium");
  return {
    executablePath,
    args: [
      // Chromium's sandbox refuses root.
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--no-first-run",
    ],
  };
}
