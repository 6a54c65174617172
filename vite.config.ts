// How the dashboard is built and served while it is worked on, and how the unit tests of all wings run.
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const service = process.env["QUARTERDECK_DEV_SERVICE"] ?? "http://127.0.0.1:4000";

/** What the contract says for the interface description alone is nothing for a browser to load. */
const withoutDescriptions: Plugin = {
  name: "without-descriptions",
  apply: "build",
  transform: {
    filter: { id: /\/contract\/.*\.ts$/ },
    handler: (code) =>
      code
        .replace(/^\s*summary: ".*",$/gm, "")
        .replace(/\.register\(z\.globalRegistry, \{[^}]*\}\)/g, ""),
  },
};

export default defineConfig({
  plugins: [react(), tailwindcss(), withoutDescriptions],
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
    // Every browser that has `light-dark()` and `<dialog>` preloads modules by itself.
    modulePreload: { polyfill: false },
  },
  test: {
    environment: "node",
    include: ["src", "contract", "server", "bench"].map((wing) => `${wing}/**/*.test.{ts,tsx}`),
    exclude: ["e2e/**", "node_modules/**"],
    globalSetup: ["server/testing/global-setup.ts"],
    testTimeout: 30_000,
    // Most of these wait for real processes, so one worker a processor leaves it idle half of the time.
    maxWorkers: 3,
  },
});
