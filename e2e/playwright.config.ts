import { defineConfig } from "@playwright/test";
import { launchOptions } from "../server/setup/browser.ts";
import { isLongForm } from "../server/testing/long-form.ts";

const browser = launchOptions();

export default defineConfig({
  testDir: ".",
  globalSetup: "./global-setup.ts",
  testMatch: "**/*.e2e.ts",
  // What another test promises as well, or reaches the same way, is left to `npm run soak -- browser`.
  ...(!isLongForm && { grepInvert: /@long/ }),
  outputDir: "../test-results",
  // Each worker has a whole service of its own, with a database and real processes. Most of a test is waiting, so one
  // worker a processor leaves it idle a third of the time.
  workers: 4,
  fullyParallel: false,
  // A test that passes at the second try is a fault to find.
  retries: 0,
  // One for all machines: what is photographed holds none of a machine's own fonts.
  snapshotPathTemplate: "photographs/{arg}{ext}",
  updateSnapshots: process.env["CI"] === "true" ? "none" : "missing",
  forbidOnly: process.env["CI"] === "true",
  // A machine may be busy; what hangs is found all the same.
  timeout: 120_000,
  expect: { timeout: 30_000 },
  use: {
    launchOptions: {
      ...browser,
      // A page lives for seconds: to optimize its code costs more than that brings.
      args: [...(browser.args ?? []), "--js-flags=--no-turbofan --no-maglev"],
    },
    // Without a screen each frame of what moves is drawn by the processor.
    contextOptions: { reducedMotion: "reduce" },
    viewport: { width: 1280, height: 800 },
    // A trace of each test costs a quarter of the time; `--trace retain-on-failure` where one is looked for.
    screenshot: "only-on-failure",
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
  },
});
