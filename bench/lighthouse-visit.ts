// One visit by Lighthouse, run by `npm exec`; prints the figures as one line of JSON.
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { chromium } from "@playwright/test";
import { launchOptions } from "../server/setup/browser.ts";
import type { Verdict } from "./lighthouse.ts";
import { freePort } from "../server/testing/free-port.ts";

type Audit = { numericValue?: number };
type Category = { score: number | null };
type Result = { lhr: { audits: Record<string, Audit>; categories: Record<string, Category> } };
type Lighthouse = (url: string, flags: object) => Promise<Result>;

/** `npm exec` puts the package's bin folder first on the path; the package is next to it. */
async function importLighthouse(): Promise<Lighthouse> {
  const bin = (process.env["PATH"] ?? "")
    .split(delimiter)
    .find((folder) => existsSync(join(folder, "lighthouse")));
  if (bin === undefined) throw new Error("Lighthouse is not on the path.");
  const entry = createRequire(join(bin, "../beside.js")).resolve("lighthouse");
  const module: { default: Lighthouse } = await import(pathToFileURL(entry).href);
  return module.default;
}

const lighthouse = await importLighthouse();
const port = await freePort();
const { args = [], ...options } = launchOptions();
const browser = await chromium.launch({
  ...options,
  args: [...args, `--remote-debugging-port=${port}`],
});
try {
  const { lhr } = await lighthouse(process.env["BENCH_ADDRESS"] ?? "", {
    port,
    logLevel: "error",
    onlyCategories: ["performance", "accessibility", "best-practices"],
  });
  const score = (name: string) => Math.round((lhr.categories[name]?.score ?? Number.NaN) * 100);
  const value = (name: string) => lhr.audits[name]?.numericValue ?? Number.NaN;
  const verdict: Verdict = {
    performance: score("performance"),
    accessibility: score("accessibility"),
    bestPractices: score("best-practices"),
    lcpMs: value("largest-contentful-paint"),
    tbtMs: value("total-blocking-time"),
    cls: value("cumulative-layout-shift"),
  };
  console.log(JSON.stringify(verdict));
} finally {
  await browser.close();
}
