// How the dashboard is built and served while it is worked on, and how the unit tests of all wings run.
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { isLongForm } from "./server/testing/long-form.ts";
import { docs } from "./server/setup/vite/docs.ts";
import { inlineHead } from "./server/setup/vite/inline-head.ts";
import { precompressed } from "./server/setup/vite/precompressed.ts";
import { parseMarkdown } from "./src/help/markdown.ts";

const service = process.env["QUARTERDECK_DEV_SERVICE"] ?? "http://127.0.0.1:4000";

const tests = ["src", "contract", "server", "bench"].map((wing) => `${wing}/**/*.test.{ts,tsx}`);

/**
 * Tests with a process of their own: they are about processes, signals, accounts and what a process has but one of. All
 * others share their worker's, because loading the service takes longer than many tests.
 */
const alone = [
  "server/*.test.ts",
  "server/{environment,hosts,setup,upstream}/**/*.test.ts",
  "server/backups/sources/**/*.test.ts",
  "server/store/embedded/**/*.test.ts",
  "server/workers/supervisor/**/*.test.ts",
  "server/**/crash.test.ts",
];

/** What `npm test` tries in other ways, e.g. by kills elsewhere or with scripts in place of Laravel; `npm run soak` has them. */
const longOnly = [
  "server/ssh/told-once.test.ts",
  "server/workers/{change,deployment}-kill.test.ts",
  "server/workers/laravel-states.test.ts",
];

export default defineConfig({
  plugins: [react(), tailwindcss(), docs(parseMarkdown), inlineHead(), precompressed()],
  server: {
    proxy: Object.fromEntries(
      ["/api", "/openapi.json", "/healthz", "/readyz"].map((path) => [path, service]),
    ),
  },
  build: {
    outDir: "dist",
    assetsDir: "assets",
    sourcemap: false,
    // The first browsers with `light-dark()`. For older ones it would be written as media queries, which know the
    // system's scheme and not the one that was chosen.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // One sheet, which no chunk asks for: it stands in index.html.
    cssCodeSplit: false,
    // Every browser that has `light-dark()` and `<dialog>` preloads modules by itself.
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // A read whose value nobody uses may be left out: none is there for what a getter or a missing global does.
      treeshake: { propertyReadSideEffects: false, unknownGlobalSideEffects: false },
      optimization: { inlineConst: { mode: "all", pass: 3 } },
      output: {
        codeSplitting: {
          // One file for all that every page needs: in pieces it compresses worse and waits longer.
          groups: [
            { name: "first", tags: ["$initial"], priority: 2 },
            // A room's list with what its rows are made of, which its other pages show too: one file beside the first one.
            {
              name: "backup-list",
              test: /\/src\/backups\/(?:BackupsPage|BackupBadge|Configuration(?:Actions|State)|actions|backup-facts|configuration-condition|work)\./,
              priority: 1,
            },
            {
              name: "worker-list",
              test: /\/(?:contract\/workers\/(?:operations|status-reason|usage|worker)|src\/workers\/(?:WorkersPage|WorkerActions|WorkerBadge|actions|loaders|queries))\./,
              priority: 1,
            },
            {
              name: "webhook-list",
              test: /\/(?:contract\/webhooks\/(?:delivery|operations|webhook)|src\/webhooks\/(?:WebhooksPage|WebhookActions|WebhookBadge|LastDelivery|actions|loaders|patches|queries))\./,
              priority: 1,
            },
            {
              name: "late",
              test: /\/(?:contract\/(?:late-operations|activity|deployments|doctor|search)|src\/settings\/(?:loaders|queries))\./,
              priority: 1,
            },
            // Small parts that pages and forms share. Most of them come at idle, and the rest in the same file.
            {
              name: "parts",
              test: /\/(?:contract\/(?:inputs|event-titles)|src\/(?:ui\/(?:ChoiceList|CopyButton|DocsLink|Field|FieldGroup|FoldedFields|Input|Progress|Properties|RequestId|SearchInput|Select|bring-into-view|focus-heading|memory-text|open-while-mounted)|app\/(?:ErrorText|FailingFor|IdForm|LeaveGuard|current-place|health|known-places)))\./,
              priority: 1,
            },
            // What every form needs, in one file for the same reasons as the first one.
            {
              name: "form",
              test: /\/(?:react-hook-form\/|@hookform\/|contract\/validation-messages\.|src\/app\/(?:FormPage|form-values|typed-values)\.)/,
              priority: 0,
            },
          ],
        },
      },
    },
  },
  test: {
    environment: "node",
    globalSetup: ["server/testing/global-setup.ts"],
    // As `npm start` has it: buffers that pass do not have the whole heap looked through.
    execArgv: ["--external-memory-accounted-in-global-limit"],
    // A machine may be busy; what hangs is found all the same. A long form takes as long as it takes.
    testTimeout: isLongForm ? 1_200_000 : 90_000,
    // Whole services are started there, several at once.
    hookTimeout: 120_000,
    // As `soon` of server/testing: a look takes the processor from what it waits for, and a machine may be busy.
    expect: { poll: { interval: 150, timeout: 60_000 } },
    // The largest files first in each run. Those that took longest in the last one mostly wait, and leave the processors idle
    // where all of them begin together.
    cache: false,
    // Most of these wait for real processes, so even two workers a processor leave it idle a quarter of the time.
    maxWorkers: 6,
    projects: [
      { extends: true, test: { name: "alone", include: alone } },
      {
        extends: true,
        test: {
          name: "shared",
          include: tests,
          exclude: isLongForm ? alone : [...alone, ...longOnly],
          isolate: false,
        },
      },
    ],
  },
});
