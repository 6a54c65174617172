// Finds the browser for tests and benchmarks.
import { existsSync } from "node:fs";
import { chromium, type LaunchOptions } from "@playwright/test";

/**
 * Prefers the machine's Chromium, because Playwright's own may not be installed; and the headless shell, which renders the same
 * pages for little more than half of the processor time.
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

/** @throws Error where there is no browser, with the command that installs one */
export function launchOptions(): LaunchOptions {
  const executablePath = findBrowser();
  if (executablePath === null)
    throw new Error("There is no browser. Run: npx playwright install --with-deps chromium");
  return {
    executablePath,
    args: [
      // Chromium's sandbox does not work as root.
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--no-first-run",
    ],
  };
}
