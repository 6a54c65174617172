// What a slot remembers of its runs: what its process was started as, and when it was not up and nobody had
// asked for that. Whether the latter is a crash loop is decided elsewhere.
import type { ProcessState } from "../../../contract/workers/worker.ts";
import type { Outage, Program } from "../process-manager.ts";
import type { RunRecord } from "./run-file.ts";

/** What is known of a process's end. */
type ProcessEnd = {
  code: number | null;
  signal: string | null;
  livedMs: number;
  /** Whether it may have done a job. */
  hasWorked: () => boolean;
};

/** More are of no use: so many within the window of the rule are a crash loop already. */
export const keptOutages = 5;

/** No queue worker does a job sooner, so one that ends earlier did not end for `max_jobs`. */
const leastMsPerJob = 1;
/** The worker counts its time from a moment later than we do, or, of one that was taken over, earlier. */
const timeToleranceMs = 1000;

/**
 * Whether `max_jobs` or `max_time` explains that a process ended which had outlived its start seconds. An end that nobody
 * saw is taken for a good one.
 */
export function isEndByRule(
  { code, signal, livedMs, hasWorked }: ProcessEnd,
  { maxJobs, maxTime, startsecs }: Pick<Program, "maxJobs" | "maxTime" | "startsecs">,
): boolean {
  if (signal !== null || (code !== null && code !== 0)) return false;
  const byTime = maxTime > 0 && livedMs + startsecs * 1000 + timeToleranceMs >= maxTime * 1000;
  return byTime || (maxJobs > 0 && livedMs >= maxJobs * leastMsPerJob && hasWorked());
}

export type RunHistory = ReturnType<typeof createRunHistory>;

export function createRunHistory(now: () => number) {
  let deployment: number | null = null;
  let settings = 0;
  let order: number | null = null;
  let startedAs: Program | null = null;
  let outages: Outage[] = [];
  let lastEnd: string | null = null;
  let isBetweenRuns = false;
  let upAt: number | null = null;

  const close = () => {
    const last = outages.at(-1);
    if (last?.backAt === null) last.backAt = now();
  };

  return {
    /** A process is about to be started. */
    starts(program: Program) {
      ({ deployment, settings, order } = program);
      startedAs = program;
    },
    /** What the process was started as, which says how it is to be ended; null = an earlier life of the service did that. */
    startedAs: () => startedAs,
    /**
     * The process ended without anybody having asked for it; null = its start failed.
     * @param why a sentence; null where nobody saw it
     */
    ended(end: ProcessEnd | null, program: Program, why: string | null) {
      isBetweenRuns = end !== null && isEndByRule(end, program);
      if (isBetweenRuns) return;
      close();
      lastEnd = why;
      outages = [...outages, { at: now(), backAt: null }].slice(-keptOutages);
    },
    /** Its next start is held up, so it is down. */
    holdUp() {
      isBetweenRuns = false;
    },
    /** Before the slot goes from one state into another. */
    enter(from: ProcessState, to: ProcessState) {
      if (from === "RUNNING") upAt = to === "STOPPING" ? null : now();
      if (to === "EXITED" || to === "STARTING") return;
      isBetweenRuns = false;
      if (to !== "BACKOFF") close();
    },
    /** Whether it was started with other settings than these. */
    isOutdated: (wanted: number) => settings !== wanted,
    /** Whether it was started for an earlier order. */
    isBefore: (given: number | null) => given === null || order === null || order < given,
    isOlderThan: (required: number | null) => required !== null && (deployment ?? 0) < required,
    /** Goes on from what an earlier life of the service left. */
    restore(record: Pick<RunRecord, "deployment" | "settings" | "order" | "outages"> | null) {
      deployment = record?.deployment ?? null;
      settings = record?.settings ?? 0;
      order = record?.order ?? null;
      outages = (record?.outages ?? []).slice(-keptOutages).map((outage) => ({ ...outage }));
    },
    toRecord: () => ({ deployment, settings, order, outages }),
    status: () => ({ deployment, settings, outages, lastEnd, isBetweenRuns, upAt }),
  };
}
