// `npm test`: installs prerequisites; then checks types, lint, format and the build; then runs unit, service and browser tests.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { removeDeadFolders } from "../testing/memory-folder.ts";
import { buildDashboard } from "./build.ts";
import { installPrerequisites } from "./prerequisites.ts";
import { isInterrupted, runProgram, watchInterrupts } from "./program.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const inCi = process.env["CI"] === "true";
const reports = mkdtempSync(join(tmpdir(), "quarterdeck-reports-"));

/** For short Go programs: garbage collection takes a quarter of their time, and hardly saves memory. */
const once = { GOGC: "off", GOMEMLIMIT: "3GiB" };

/** A program of a package. */
type Step = { title: string; bin: string; args: string[]; env?: Record<string, string> };

/**
 * Runs a program and shows its output.
 * @returns whether it succeeded
 */
function run({ title, bin, args, env = {} }: Step): Promise<boolean> {
  console.log(`\n— ${title}`);
  return runProgram(join(root, "node_modules/.bin", bin), args, { env });
}

/**
 * Runs a program concurrently with others.
 * @returns whether it succeeded, and a function that shows its output
 */
async function runBeside({ title, bin, args, env = {} }: Step) {
  const file = join(reports, `${title}.log`);
  const log = openSync(file, "w");
  try {
    const path = join(root, "node_modules/.bin", bin);
    const passed = await runProgram(path, args, { env, output: log });
    return { passed, show: () => console.log(`\n— ${title}\n${readFileSync(file, "utf8")}`) };
  } finally {
    closeSync(log);
  }
}

/** Result of one program's tests; `failures` has a paragraph for each: file, name and reason. */
type Outcome = { passed: number; failed: number; skipped: number; failures: string[] };

type VitestReport = {
  numPassedTests: number;
  numFailedTests: number;
  numFailedTestSuites: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
  }[];
};

function readVitest(file: string): Outcome {
  const report: VitestReport = JSON.parse(readFileSync(file, "utf8"));
  const failures = report.testResults
    .filter(({ status }) => status === "failed")
    .flatMap(({ name, message, assertionResults }) => {
      const failed = assertionResults.filter(({ status }) => status === "failed");
      const path = relative(root, name);
      if (failed.length === 0) return [`${path}\n${message}`];
      return failed.map((test) =>
        [`${path} › ${test.fullName}`, ...test.failureMessages].join("\n"),
      );
    });
  return {
    passed: report.numPassedTests,
    // A file that could not be loaded fails without a failed test.
    failed: Math.max(report.numFailedTests, report.numFailedTestSuites > 0 ? 1 : 0),
    skipped: report.numPendingTests + report.numTodoTests,
    failures,
  };
}

type PlaywrightSuite = {
  suites?: PlaywrightSuite[];
  specs: { ok: boolean; title: string; file: string; line: number; tests: PlaywrightTest[] }[];
};
type PlaywrightTest = { results: { error?: { message?: string } }[] };

function listFailures({ suites = [], specs }: PlaywrightSuite): string[] {
  const own = specs
    .filter(({ ok }) => !ok)
    .map(({ file, line, title, tests }) => {
      const errors = tests.flatMap(({ results }) => results.map(({ error }) => error?.message));
      return [`e2e/${file}:${line} › ${title}`, ...errors].filter(Boolean).join("\n");
    });
  return [...own, ...suites.flatMap(listFailures)];
}

function readPlaywright(file: string): Outcome {
  const {
    stats,
    suites,
  }: {
    stats: { expected: number; unexpected: number; flaky: number; skipped: number };
    suites: PlaywrightSuite[];
  } = JSON.parse(readFileSync(file, "utf8"));
  return {
    passed: stats.expected,
    failed: stats.unexpected + stats.flaky,
    skipped: stats.skipped,
    failures: suites.flatMap(listFailures),
  };
}

async function main(): Promise<boolean> {
  // Concurrently with each other and with the installation, because each leaves processors idle at times.
  const checking = [
    runBeside({ title: "types", bin: "tsc", args: ["--noEmit", "--checkers", "1"], env: once }),
    runBeside({ title: "lint", bin: "oxlint", args: [], env: once }),
    runBeside({ title: "format", bin: "oxfmt", args: ["--check"] }),
  ];
  const missing = installPrerequisites();
  for (const { tests, packages } of missing)
    console.log(`Left out: ${tests}. To run it: sudo apt-get install ${packages.join(" ")}`);
  if (inCi && missing.length > 0) {
    console.log("With CI=true nothing may be left out.");
    await Promise.all(checking);
    return false;
  }

  const checks = await Promise.all([...checking, buildDashboard()]);
  const said = checks.filter((check) => check !== undefined);
  for (const { show } of said) show();
  if (!said.every(({ passed }) => passed)) return false;

  const unitReport = join(reports, "unit.json");
  const unit = await run({
    title: "unit and service tests",
    bin: "vitest",
    args: ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${unitReport}`],
  });
  if (isInterrupted()) return false;
  const outcomes = [readVitest(unitReport)];

  let browser = true;
  if (!missing.some(({ packages }) => packages.includes("chromium-headless-shell"))) {
    const browserReport = join(reports, "browser.json");
    browser = await run({
      title: "browser tests",
      bin: "playwright",
      args: ["test", "--config", "e2e/playwright.config.ts", "--reporter=list,json"],
      env: { PLAYWRIGHT_JSON_OUTPUT_FILE: browserReport },
    });
    if (isInterrupted()) return false;
    outcomes.push(readPlaywright(browserReport));
  }

  const sum = (kind: "passed" | "failed" | "skipped") =>
    outcomes.reduce((total, outcome) => total + outcome[kind], 0);
  const skipped = sum("skipped");
  // Repeated at the end, because thousands of lines may have been printed since.
  for (const failure of outcomes.flatMap(({ failures }) => failures))
    console.log(`\nFailed: ${failure.slice(0, 2000)}`);
  console.log(`\n${sum("passed")} passed, ${sum("failed")} failed, ${skipped} skipped`);
  if (inCi && skipped > 0) console.log("With CI=true nothing may be left out.");
  return unit && browser && sum("passed") > 0 && !(inCi && skipped > 0);
}

// Dozens of services are started as separate processes, which share a compile cache.
process.env["NODE_COMPILE_CACHE"] ??= join(root, "node_modules/.cache/node");

watchInterrupts();
const passed = await main();
// Includes the folders of an interrupted program, which could not remove them.
await removeDeadFolders();
rmSync(reports, { recursive: true, force: true });
process.exit(passed ? 0 : 1);
