// Decides whether a worker is in a crash loop, which its status does not show, because it may be `installed` between two exits.
// The rule is in docs/workers.md.
import type { ProcessState } from "../../../contract/workers/worker.ts";
import type { Outage } from "../processes/process-manager.ts";
import type { WorkerRow } from "../store.ts";

export type LoopProcess = {
  number: number;
  state: ProcessState;
  outages: readonly Outage[];
  lastEnd: string | null;
};

/** This many unexpected exits within `endsWindowMs` are a crash loop. */
export const loopEnds = 5;
export const endsWindowMs = 10 * 60_000;
/** A process that is up for less than half of this time is in a crash loop, regardless of the number of exits. */
export const upWindowMs = 5 * 60_000;

/** Whether the process is kept up, i.e. it was neither stopped nor given up. */
const isKeptUp = ({ state }: { state: string }) => state !== "STOPPED" && state !== "FATAL";

export const isAnyKept = (processes: readonly { state: string }[]): boolean =>
  processes.some(isKeptUp);

export const isKept = (processes: readonly { state: string }[]): boolean =>
  processes.length > 0 && processes.every(isKeptUp);

/** Returns the reported crash loop of a worker; none if it was stopped, started anew or given up since, although that end is not reported. */
export function crashLoopOf(
  { status, crash_loop_since: since, crash_loop_reason: reason }: WorkerRow,
  processes: readonly { state: string }[],
): { since: Date; reason: string } | null {
  const isEnding = status === "stopping" || status === "removing";
  return since === null || reason === null || isEnding || !isAnyKept(processes)
    ? null
    : { since, reason };
}

/** Whether the order that led to a worker's status begins a new count of its exits: not a deployment, and not more processes. */
export const isCountedAnew = (row: WorkerRow): boolean =>
  row.crash_loop_reason === null &&
  (row.status === "starting" || row.restart_order === row.transition || row.changed_from !== null);

/**
 * Judges whether and why a worker is in a crash loop. `loops` gives the reason, `stable` means that it is over, and null that the
 * previous judgment still holds.
 */
export function judgeCrashLoop(
  processes: readonly LoopProcess[],
  nowMs: number,
): { loops: string } | "stable" | null {
  for (const process of processes.filter(isKeptUp)) {
    const reason = loopReason(process, nowMs);
    if (reason !== null) return { loops: reason };
  }
  const isQuiet =
    isKept(processes) &&
    processes.every(({ outages }) => endsSince(outages, nowMs - endsWindowMs, nowMs) === 0) &&
    processes.every(({ outages }) => outages.at(-1)?.backAt !== null);
  return isQuiet ? "stable" : null;
}

function loopReason({ number, outages, lastEnd }: LoopProcess, nowMs: number): string | null {
  const more = lastEnd === null ? "" : ` Most recently: ${lastEnd}`;
  if (endsSince(outages, nowMs - endsWindowMs, nowMs) >= loopEnds)
    return `Process ${number} exited at least ${loopEnds} times in ${endsWindowMs / 60_000} minutes.${more}`;
  const downMs = downSince(outages, nowMs - upWindowMs, nowMs);
  return downMs > upWindowMs / 2
    ? `Process ${number} was up for less than half of the last ${upWindowMs / 60_000} minutes.${more}`
    : null;
}

/** Counts outages since a time, without those in the future, which come from a clock that was set back. */
const endsSince = (outages: readonly Outage[], sinceMs: number, nowMs: number) =>
  outages.filter(({ at }) => at > sinceMs && at <= nowMs).length;

const downSince = (outages: readonly Outage[], sinceMs: number, nowMs: number) =>
  outages.reduce((sum, { at, backAt }) => {
    const overlap = Math.min(backAt ?? nowMs, nowMs) - Math.max(at, sinceMs);
    return sum + Math.max(0, overlap);
  }, 0);
