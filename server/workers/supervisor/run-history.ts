// Keeps the history of a slot's runs: the program that its process was started with, and its outages, i.e. when the process was
// down without an order. `server/workers/crash-loop/crash-loop.ts` decides whether they are a crash loop.
import type { ProcessState } from "../../../contract/workers/worker.ts";
import type { Outage, Program } from "../processes/process-manager.ts";
import type { RunRecord } from "./run-file.ts";

/** How a process ended; null = unknown. */
type ProcessEnd = {
  code: number | null;
  signal: string | null;
  livedMs: number;
  /** Whether the process may have run a job. */
  hasWorked: () => boolean;
};

/** Number of outages to keep: this many within the window of the rule are a crash loop already. */
export const keptOutages = 5;

/** Shortest time of a job: a process that ends earlier than its `max_jobs` allow did not end because of them. */
const leastMsPerJob = 1;
/** Tolerance, because the queue worker measures `max_time` from another moment than the service. */
const timeToleranceMs = 1000;

/**
 * Whether `max_jobs` or `max_time` explains the end of a process that had outlived its start seconds. An unknown exit code
 * counts as 0.
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

  const close = (atMs = now()) => {
    const last = outages.at(-1);
    if (last?.backAt === null) last.backAt = Math.min(Math.max(last.at, atMs), now());
  };

  return {
    /** To be called before a process is started. */
    starts(program: Program) {
      ({ deployment, settings, order } = program);
      startedAs = program;
    },
    /** Returns the program that the process was started with, for its stop; null = an earlier run of the service started it. */
    startedAs: () => startedAs,
    /**
     * To be called when the process ended without an order.
     * @param end null = its start failed
     * @param why a sentence; null = unknown, because the service was not running
     */
    ended(end: ProcessEnd | null, program: Program, why: string | null) {
      isBetweenRuns = end !== null && isEndByRule(end, program);
      if (isBetweenRuns) return;
      close();
      lastEnd = why;
      outages = [...outages, { at: now(), backAt: null }].slice(-keptOutages);
    },
    /** To be called when the next start is delayed: the process then counts as down, not as between two runs. */
    holdUp() {
      isBetweenRuns = false;
    },
    /** To be called when the process is known to be up. @param atMs since when, which may not have been observed */
    up: (atMs: number) => close(atMs),
    /** To be called before the slot changes its state. */
    enter(from: ProcessState, to: ProcessState) {
      if (from === "RUNNING") upAt = to === "STOPPING" ? null : now();
      if (to === "EXITED" || to === "STARTING") return;
      isBetweenRuns = false;
      if (to !== "BACKOFF") close();
    },
    /** Whether the process was started with other settings than these. */
    isOutdated: (wanted: number) => settings !== wanted,
    /** Whether the process was started for an earlier order, or for an unknown one. */
    isBefore: (given: number | null) => given === null || order === null || order < given,
    isOlderThan: (required: number | null) => required !== null && (deployment ?? 0) < required,
    /** Continues from the record of an earlier run of the service. */
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
