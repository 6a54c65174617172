// Facts about workers beyond their fields. The list of processes is an extra: without it, results are null.
import type { Worker, WorkerProcess } from "../../contract/workers/worker.ts";

const running = (worker: Worker) =>
  worker.process_list?.filter(({ state }) => state === "RUNNING") ?? null;

/** Number of processes that are up; null = unknown. */
export const upCount = (worker: Worker): number | null => running(worker)?.length ?? null;

/** Returns since when all running processes have been up: the start of the youngest. */
export const upSince = (worker: Worker): string | null =>
  // Timestamps of one format sort as texts.
  running(worker)
    ?.map(({ since }) => since)
    .sort()
    .at(-1) ?? null;

/** Number of restarts of its processes without a request. */
export const restartCount = (worker: Worker): number | null =>
  worker.process_list?.reduce((sum, { restarts }) => sum + restarts, 0) ?? null;

const ended = new Set(["STOPPED", "EXITED", "FATAL"]);

/** Whether a process may still change by itself, which the worker's status does not show. */
export const isLive = (worker: Worker): boolean =>
  worker.process_list?.some(({ state }) => !ended.has(state)) ?? true;

/** "3 of 4" and the like, also for screen readers. */
export function processesText(worker: Worker): string {
  const up = upCount(worker);
  const { processes } = worker;
  if (processes === null) return up === null ? "–" : String(up);
  return up === null ? `${processes}` : `${up} of ${processes}`;
}

/** Describes the last known status of an unreachable worker, and its pending order; null for others. */
export function unreachableText({ status, last_status: last, pending_status: pending }: Worker) {
  if (status !== "unreachable") return null;
  const known = last ? [`Last known: ${last}`] : [];
  const again = pending === last ? " again" : "";
  return [...known, ...(pending ? [`${pending}${again} once it is back`] : [])].join(", ") || null;
}

/** "3 of 4 up", for a failed worker with running processes; null for others. */
export function partlyUpText(worker: Worker): string | null {
  const up = upCount(worker);
  return worker.status === "failed" && up !== null && up > 0 ? `${processesText(worker)} up` : null;
}

const runsNothing = new Set(["STOPPED", "FATAL"]);

/** Whether a process runs older code than the newest deployment of its site. */
export const isOldRelease = (
  { state, deployment_id: carried }: WorkerProcess,
  newest: number | null | undefined,
): boolean => typeof newest === "number" && !runsNothing.has(state) && (carried ?? 0) < newest;

/** "2 of 3 on the new release"; null where all are, or that is unknown. */
export function releaseText({ process_list: list = [], deployment_id: newest }: Worker) {
  const running = list.filter(({ state }) => !runsNothing.has(state));
  const old = running.filter((process) => isOldRelease(process, newest)).length;
  return old === 0 ? null : `${running.length - old} of ${running.length} on the new release`;
}

const mayLoop = new Set(["installing", "starting", "installed", "restarting"]);

/** Returns the crash loop; null where there is none, or the status is worse or newer: failed, or about to end. */
export const crashLoopOf = ({ status, crash_loop: loop }: Worker) =>
  mayLoop.has(status) ? (loop ?? null) : null;
