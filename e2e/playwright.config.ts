import { defineConfig } from "@playwright/test";
import { launchOptions } from "../server/setup/browser.ts";
import { isLongForm } from "../server/testing/long-form.ts";

const browser = launchOptions();

export default defineConfig({
  testDir: ".",
  globalSetup: "./global-setup.ts",
  testMatch: "**/*.e2e.ts",
  // Tests whose promise or code path another test covers, too, run in `npm run soak -- browser` only.
  ...(!isLongForm && { grepInvert: /@long/ }),
  outputDir: "../test-results",
  // Each worker has a whole service of its own, with a database and real processes. Tests mostly wait: with one worker
  // per processor, the processors would be idle a third of the time.
  workers: 4,
  fullyParallel: false,
  // No retries: a test that passes only at the second attempt has found a bug.
  retries: 0,
  // All machines share the snapshots, because the photographed elements use no fonts of the system.
  snapshotPathTemplate: "photographs/{arg}{ext}",
  updateSnapshots: process.env["CI"] === "true" ? "none" : "missing",
  forbidOnly: process.env["CI"] === "true",
  // Long enough for a busy machine; still ends tests that hang.
  timeout: 240_000,
  expect: { timeout: 30_000 },
  use: {
    launchOptions: {
      ...browser,
      // Pages live for seconds, so optimizing their code costs more than it saves.
      args: [...(browser.args ?? []), "--js-flags=--no-turbofan --no-maglev"],
    },
    // In a headless browser, the processor draws each frame of an animation.
    contextOptions: { reducedMotion: "reduce" },
    viewport: { width: 1280, height: 800 },
    // Recording traces costs a quarter of the time; use `--trace retain-on-failure` when you need one.
    screenshot: "only-on-failure",
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
  },
});
