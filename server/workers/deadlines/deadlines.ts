// How long a worker may stay in transit before it counts as failed.
import type { WorkerState } from "../../../contract/workers/worker.ts";
import type { VersionedSettings } from "../../store/tables/workers.ts";
import { carries, isUp, type SeenProcess } from "../status/outcome.ts";

type Waits = {
  startsecs: number;
  startretries: number;
  stopwaitsecs: number;
  processes: number;
  /** Set while a change is rolled out, which replaces one process after the other. */
  changed_from?: VersionedSettings | null;
};

/** Slack for delays that the program does not cause, such as a busy machine or database. */
const slackSeconds = 15;

/** All attempts to start, each `startsecs` long, with the supervisor's delays of 1, 2, 3… seconds between them. */
const startSeconds = ({ startsecs, startretries }: Waits) =>
  (startretries + 1) * startsecs + (startretries * (startretries + 1)) / 2;

/** A replaced process has the stop seconds that it was started with. */
function restartSeconds({ changed_from: from, ...waits }: Waits): number {
  const stopSeconds = Math.max(waits.stopwaitsecs, from?.settings.stopwaitsecs ?? 0);
  // Surplus processes end together, after the others.
  const turns = from ? waits.processes + Number(from.settings.processes > waits.processes) : 1;
  return turns * (stopSeconds + startSeconds(waits));
}

/** @returns seconds until a state in transit is overdue; null for a settled state */
export function deadlineSeconds(status: WorkerState, waits: Waits): number | null {
  switch (status) {
    case "installing":
    case "starting":
      // A start may wait for the stop before it.
      return startSeconds(waits) + waits.stopwaitsecs + slackSeconds;
    case "restarting":
      return restartSeconds(waits) + slackSeconds;
    case "stopping":
    case "removing":
      return waits.stopwaitsecs + slackSeconds;
    case "installed":
    case "stopped":
    case "failed":
      return null;
  }
}

/** Limits dates, which cannot lie arbitrarily far ahead. */
const longestSeconds = 100 * 365 * 24 * 3600;

/** @returns when a worker that enters a state now is overdue; null for a settled state */
export function deadlineAt(status: WorkerState, waits: Waits, nowMs: number): Date | null {
  const seconds = deadlineSeconds(status, waits);
  return seconds === null ? null : new Date(nowMs + Math.min(seconds, longestSeconds) * 1000);
}

/**
 * Whether a process kept its worker from being up until the deadline. A process that was up and exited did not, even if all
 * processes are rarely up at the same time.
 * @param required the oldest deployment that it may carry; null = any
 * @param sinceMs when the time began
 */
export const isOverdue = (
  process: SeenProcess,
  required: number | null,
  sinceMs: number,
): boolean =>
  !isUp(process, required) &&
  (!carries(process, required) || process.upAt === null || process.upAt < sinceMs);
