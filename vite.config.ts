// Builds the dashboard, serves it in development, and runs the unit tests of all wings.
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { isLongForm } from "./server/testing/long-form.ts";
import { docs } from "./server/setup/vite/docs.ts";
import { preloadScript } from "./server/setup/vite/preload-script.ts";
import { precompressed } from "./server/setup/vite/precompressed.ts";
import { linkModule, preloadedPages } from "./src/preload/pages.ts";
import { parseMarkdown } from "./src/help/markdown.ts";

const service = process.env["QUARTERDECK_DEV_SERVICE"] ?? "http://127.0.0.1:4000";

const tests = ["src", "contract", "server", "bench"].map((wing) => `${wing}/**/*.test.{ts,tsx}`);

/**
 * Tests that need a process of their own, because they change process-wide state: processes, signals, accounts. All
 * others share their worker's process, because loading the service takes longer than many tests.
 */
const alone = [
  "server/*.test.ts",
  "server/{environment,setup}/**/*.test.ts",
  "server/store/embedded/**/*.test.ts",
  "server/workers/supervisor/**/*.test.ts",
  "server/**/crash.test.ts",
];

/**
 * Tests that run only in `npm run soak`. `npm test` covers the same in other ways, e.g. by kills elsewhere, with scripts
 * instead of Laravel, or with other sources through `sudo`.
 */
const longOnly = [
  "server/backups/sources/cut-connections-sudo.test.ts",
  "server/backups/sources/{folder,sqlite}/remote/sudo.test.ts",
  "server/ssh/told-once.test.ts",
  "server/workers/{change,deployment}/kill.test.ts",
  "server/workers/laravel-states.test.ts",
];

export default defineConfig({
  plugins: [
    react(),
    tailwindcss(),
    docs(parseMarkdown),
    preloadScript([linkModule, ...preloadedPages.map(({ module }) => module)]),
    precompressed(),
  ],
  server: {
    proxy: Object.fromEntries(
      ["/api", "/openapi.json", "/healthz", "/readyz"].map((path) => [path, service]),
    ),
  },
  build: {
    outDir: "dist",
    assetsDir: "assets",
    sourcemap: false,
    // The first browsers with `light-dark()`. For older ones it would be compiled to media queries, which follow the
    // system's scheme instead of the chosen one.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // One style sheet, linked in index.html; no chunk imports another.
    cssCodeSplit: false,
    // Every browser with `light-dark()` and `<dialog>` supports module preloading.
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // Unused reads may be removed: no code relies on the side effect of a getter or of a missing global.
      treeshake: { propertyReadSideEffects: false, unknownGlobalSideEffects: false },
      optimization: { inlineConst: { mode: "all", pass: 3 } },
      output: {
        codeSplitting: {
          // One file for everything that every page needs: smaller files compress worse and load later.
          groups: [
            { name: "first", tags: ["$initial"], priority: 2 },
            // Each room's list and its rows, which the room's other pages also use, in one file next to the first
            // bundle.
            {
              name: "backup-list",
              test: /\/src\/backups\/(?:list\/BackupsPage|BackupBadge|Configuration(?:Actions|State)|actions|backup-facts|configuration-condition|work)\./,
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
            // Small parts that pages and forms share. Most are needed when idle, and the others are in the same file.
            {
              name: "parts",
              test: /\/(?:contract\/(?:inputs|event-titles)|src\/(?:ui\/\w+\/(?:ChoiceList|CopyButton|DocsLink|Field|FieldGroup|FoldedFields|Input|Progress|Properties|RequestId|SearchInput|Select|bring-into-view|focus-heading|memory-text|open-while-mounted)|app\/(?:ErrorText|FailingFor|form\/(?:IdForm|LeaveGuard)|place\/(?:current-place|health|known-places))))\./,
              priority: 1,
            },
            // The parts of every form in one file, for the same reasons as the first bundle.
            {
              name: "form",
              test: /\/(?:react-hook-form\/|@hookform\/|contract\/validation-messages\.|src\/app\/form\/(?:FormPage|form-values|typed-values)\.)/,
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
    execArgv: [
      // As in `npm start`: temporary buffers do not trigger a full garbage collection.
      "--external-memory-accounted-in-global-limit",
      // A test's process ends before full garbage collections and optimized code would pay off. Without both, service
      // tests take an eighth less CPU time.
      "--initial-heap-size=700",
      "--no-turbofan",
    ],
    // Generous, because a machine may be busy; tests that hang are still detected. Long forms take their time.
    testTimeout: isLongForm ? 1_200_000 : 240_000,
    // Hooks start whole services, several at once.
    hookTimeout: 240_000,
    // As in `soon` of server/testing: each poll takes CPU time from what it waits for, and a machine may be busy.
    expect: { poll: { interval: 150, timeout: 120_000 } },
    // Always runs the largest files first. By the durations of the last run, the slowest tests would all begin
    // together; they mostly wait, and would leave the CPUs idle.
    cache: false,
    // Most tests wait for real processes, so even two workers per CPU leave it idle for a quarter of the time.
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
