// Runs Lighthouse for a first visit from a phone. It is not a dependency: npm downloads it for the run.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { median } from "./report.ts";

const version = "13.5.0";

/** Scores from 0 to 100; times in milliseconds. */
export type Verdict = {
  performance: number;
  accessibility: number;
  bestPractices: number;
  lcpMs: number;
  tbtMs: number;
  cls: number;
};

async function visit(url: string): Promise<Verdict> {
  const script = fileURLToPath(new URL("lighthouse-visit.ts", import.meta.url));
  const npm = spawn(
    "npm",
    ["exec", "--yes", `--package=lighthouse@${version}`, "--", process.execPath, script],
    // The URL may contain a token, which must not appear in a list of processes.
    { env: { ...process.env, BENCH_ADDRESS: url }, stdio: ["ignore", "pipe", "pipe"] },
  );
  let output = "";
  let complaints = "";
  npm.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  npm.stderr.on("data", (chunk: Buffer) => (complaints += chunk.toString()));
  await once(npm, "close");
  const line = output.split("\n").find((text) => text.startsWith("{"));
  if (line === undefined) throw new Error(`Lighthouse did not finish:\n${complaints}`);
  return JSON.parse(line);
}

/** Returns the median of each figure over several visits. */
export async function judge(url: string, visits = 5): Promise<Verdict> {
  const verdicts: Verdict[] = [];
  for (let count = 0; count < visits; count++) verdicts.push(await visit(url));
  const middle = (figure: keyof Verdict) => median(verdicts.map((verdict) => verdict[figure]));
  return {
    performance: middle("performance"),
    accessibility: middle("accessibility"),
    bestPractices: middle("bestPractices"),
    lcpMs: middle("lcpMs"),
    tbtMs: middle("tbtMs"),
    cls: middle("cls"),
  };
}
