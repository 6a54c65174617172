// `npm test`: what the tests need, types, lint, format, unit and service tests, browser tests, in that order.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildDashboard } from "./build.ts";
import { installNeeds } from "./needs.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const inCi = process.env["CI"] === "true";
const reports = mkdtempSync(join(tmpdir(), "quarterdeck-reports-"));

/** Runs a program of a package. @returns whether it was content */
function run(
  title: string,
  bin: string,
  args: string[],
  env: Record<string, string> = {},
): boolean {
  console.log(`\n— ${title}`);
  const path = join(root, "node_modules/.bin", bin);
  const { status } = spawnSync(path, args, {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  return status === 0;
}

type Counts = { passed: number; failed: number; skipped: number };

function readVitest(file: string): Counts {
  const report = JSON.parse(readFileSync(file, "utf8")) as Record<string, number>;
  return {
    passed: report["numPassedTests"] ?? 0,
    // A file that could not even be loaded fails without a test of its own.
    failed: Math.max(report["numFailedTests"] ?? 0, report["numFailedTestSuites"] ? 1 : 0),
    skipped: (report["numPendingTests"] ?? 0) + (report["numTodoTests"] ?? 0),
  };
}

function readPlaywright(file: string): Counts {
  const { stats } = JSON.parse(readFileSync(file, "utf8")) as { stats: Record<string, number> };
  return {
    passed: stats["expected"] ?? 0,
    failed: (stats["unexpected"] ?? 0) + (stats["flaky"] ?? 0),
    skipped: stats["skipped"] ?? 0,
  };
}

function main(): boolean {
  const missing = installNeeds();
  for (const { tests, packages } of missing)
    console.log(`Left out: ${tests}. To run it: sudo apt-get install ${packages.join(" ")}`);
  if (inCi && missing.length > 0) {
    console.log("With CI=true nothing may be left out.");
    return false;
  }

  const checked =
    run("types", "tsc", ["--noEmit"]) &&
    run("lint", "oxlint", []) &&
    run("format", "oxfmt", ["--check"]);
  if (!checked) return false;

  const unitReport = join(reports, "unit.json");
  const unit = run("unit and service tests", "vitest", [
    "run",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${unitReport}`,
  ]);
  const counts = [readVitest(unitReport)];

  let browser = true;
  if (!missing.some(({ packages }) => packages.includes("chromium-headless-shell"))) {
    const browserReport = join(reports, "browser.json");
    browser = run(
      "browser tests",
      "playwright",
      ["test", "--config", "e2e/playwright.config.ts", "--reporter=list,json"],
      { PLAYWRIGHT_JSON_OUTPUT_FILE: browserReport },
    );
    counts.push(readPlaywright(browserReport));
  }

  const sum = (kind: keyof Counts) => counts.reduce((total, count) => total + count[kind], 0);
  const skipped = sum("skipped");
  console.log(`\n${sum("passed")} passed, ${sum("failed")} failed, ${skipped} skipped`);
  if (inCi && skipped > 0) console.log("With CI=true nothing may be left out.");
  return unit && browser && sum("passed") > 0 && !(inCi && skipped > 0);
}

await buildDashboard();
const passed = main();
rmSync(reports, { recursive: true, force: true });
process.exit(passed ? 0 : 1);
