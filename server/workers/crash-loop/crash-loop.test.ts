import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  endsWindowMs,
  judgeCrashLoop,
  loopEnds,
  upWindowMs,
  type LoopProcess,
} from "./crash-loop.ts";
import type { Outage } from "../processes/process-manager.ts";
import { isEndByRule, keptOutages } from "../supervisor/run-history.ts";

const nowMs = 1_700_000_000_000;
const second = 1000;

const up = (...outages: Outage[]): LoopProcess => ({
  number: 1,
  state: "RUNNING",
  outages,
  lastEnd: null,
});

/** Returns an outage that began `agoSeconds` ago and took `seconds`; null = it has not ended. */
const outage = (agoSeconds: number, seconds: number | null): Outage => {
  const at = nowMs - agoSeconds * second;
  return { at, backAt: seconds === null ? null : at + seconds * second };
};
const every = (count: number, seconds: number, down = 1) =>
  Array.from({ length: count }, (_, index) => outage((count - index) * seconds, down));

const verdict = (...processes: LoopProcess[]) => {
  const judged = judgeCrashLoop(processes, nowMs);
  return typeof judged === "object" && judged !== null ? "loops" : judged;
};

test.each<[string, LoopProcess, string | null]>([
  ["never ended", up(), "stable"],
  [
    "ended once a moment ago, after an upgrade or a hundred restarts long ago",
    up(outage(1, 1)),
    null,
  ],
  ["was killed three times, 100 s apart", up(...every(3, 100)), null],
  ["was killed four times in a minute", up(...every(4, 15)), null],
  ["was killed five times, 100 s apart", up(...every(5, 100)), "loops"],
  ["ends every 4 s with code 0, and is up in three of four polls", up(...every(5, 4)), "loops"],
  ["was killed five times, 150 s apart", up(...every(5, 150)), null],
  ["was down for 140 s at once", up(outage(150, 140)), null],
  ["was down for 160 s at once", up(outage(170, 160)), "loops"],
  [
    "is down with growing pauses",
    { ...up(outage(400, 200), outage(200, null)), state: "BACKOFF" },
    "loops",
  ],
  ["was down for long, but not lately", up(outage(599, 250)), null],
  ["ended last more than ten minutes ago", up(outage(601, 1)), "stable"],
  ["was given up", { ...up(...every(5, 4)), state: "FATAL" }, null],
  ["was stopped", { ...up(...every(5, 4)), state: "STOPPED" }, null],
  ["ended often before the clock was set back", up(...every(5, -60)), "stable"],
])("a process that %s: %s", (_what, process, expected) => {
  expect(verdict(process)).toBe(expected);
});

test("one process is enough for a loop, and all must be stable for its end", () => {
  expect(verdict(up(), up(...every(5, 4)))).toBe("loops");
  expect(verdict(up(), up(outage(300, 1)))).toBeNull();
  expect(verdict(up(), { ...up(), state: "FATAL" })).toBeNull();
  expect(verdict()).toBeNull();
});

test("the reason names the process and its behavior", () => {
  expect(judgeCrashLoop([{ ...up(...every(5, 4)), number: 3 }], nowMs)).toEqual({
    loops: "Process 3 exited at least 5 times in 10 minutes.",
  });
  const ended = { ...up(...every(5, 4)), lastEnd: "Exited with code 1." };
  expect(judgeCrashLoop([ended], nowMs)).toEqual({
    loops: "Process 1 exited at least 5 times in 10 minutes. Most recently: Exited with code 1.",
  });
});

/** Histories of a process until now: seconds up and seconds down, in turns. */
const lives = fc.array(
  fc.record({ up: fc.integer({ min: 1, max: 900 }), down: fc.integer({ min: 0, max: 400 }) }),
  { minLength: 1, maxLength: 20 },
);

/** The rule in another form: counts each second of the whole history. */
function expected(all: readonly Outage[]): boolean {
  const ends = all.filter(({ at }) => at > nowMs - endsWindowMs).length;
  let down = 0;
  for (let at = nowMs - upWindowMs; at < nowMs; at += second)
    if (all.some((one) => one.at <= at && at < (one.backAt ?? nowMs))) down += second;
  return ends >= loopEnds || down > upWindowMs / 2;
}

test("every history of a process is judged by the rule, from its newest outages only", () => {
  fc.assert(
    fc.property(lives, (spans) => {
      let at = nowMs;
      const all: Outage[] = [];
      for (const span of spans.toReversed()) {
        at -= span.up * second;
        all.unshift({ at: at - span.down * second, backAt: at });
        at -= span.down * second;
      }
      const judged = verdict(up(...all.slice(-keptOutages)));
      expect(judged === "loops").toBe(expected(all));
      expect(judged === "stable").toBe(
        !expected(all) && all.every((one) => one.at <= nowMs - endsWindowMs),
      );
    }),
  );
});

describe("an exit after the start seconds", () => {
  const calm = { maxJobs: 0, maxTime: 0, startsecs: 1 };
  test.each<[string, Parameters<typeof isEndByRule>, boolean]>([
    [
      "with code 0 and without limits",
      [{ code: 0, signal: null, livedMs: 3000, hasWorked: () => true }, calm],
      false,
    ],
    [
      "with code 0 after its max jobs",
      [
        { code: 0, signal: null, livedMs: 3000, hasWorked: () => true },
        { ...calm, maxJobs: 6 },
      ],
      true,
    ],
    [
      "with code 0 and no job in its log",
      [
        { code: 0, signal: null, livedMs: 3000, hasWorked: () => false },
        { ...calm, maxJobs: 6 },
      ],
      false,
    ],
    [
      "with code 0, too early for its max jobs",
      [
        { code: 0, signal: null, livedMs: 3000, hasWorked: () => true },
        { ...calm, maxJobs: 5000 },
      ],
      false,
    ],
    [
      "with code 0 after its max time",
      [
        { code: 0, signal: null, livedMs: 3_600_500, hasWorked: () => true },
        { ...calm, maxTime: 3600 },
      ],
      true,
    ],
    [
      "with code 0 before its max time",
      [
        { code: 0, signal: null, livedMs: 3000, hasWorked: () => true },
        { ...calm, maxTime: 3600 },
      ],
      false,
    ],
    [
      "with an error, whatever its jobs",
      [
        { code: 1, signal: null, livedMs: 3000, hasWorked: () => true },
        { ...calm, maxJobs: 6 },
      ],
      false,
    ],
    [
      "by a signal",
      [
        { code: null, signal: "SIGKILL", livedMs: 3000, hasWorked: () => true },
        { ...calm, maxJobs: 6 },
      ],
      false,
    ],
    [
      "unobserved, and explained by its max jobs",
      [
        { code: null, signal: null, livedMs: 3000, hasWorked: () => true },
        { ...calm, maxJobs: 6 },
      ],
      true,
    ],
    [
      "unobserved, and unexplained",
      [{ code: null, signal: null, livedMs: 3000, hasWorked: () => true }, calm],
      false,
    ],
  ])("%s", (_what, given, byRule) => {
    expect(isEndByRule(...given)).toBe(byRule);
  });
});
