// What the pages say about a worker beyond its fields. The list of processes is an extra: without it, null.
import type { Worker, WorkerProcess } from "../../contract/workers/worker.ts";

const running = (worker: Worker) =>
  worker.process_list?.filter(({ state }) => state === "RUNNING") ?? null;

/** How many of its processes are up; null = not known. */
export const upCount = (worker: Worker): number | null => running(worker)?.length ?? null;

/** Since when all processes that are up have been up: when the youngest of them came up. */
export const upSince = (worker: Worker): string | null =>
  // Timestamps of one format sort as texts.
  running(worker)
    ?.map(({ since }) => since)
    .sort()
    .at(-1) ?? null;

/** How often its processes were started again without anybody asking for it. */
export const restartCount = (worker: Worker): number | null =>
  worker.process_list?.reduce((sum, { restarts }) => sum + restarts, 0) ?? null;

const ended = new Set(["STOPPED", "EXITED", "FATAL"]);

/** True while a process may still change by itself, which no status of the worker says. */
export const isLive = (worker: Worker): boolean =>
  worker.process_list?.some(({ state }) => !ended.has(state)) ?? true;

/** "3 of 4" and the like, for reading aloud too. */
export function processesText(worker: Worker): string {
  const up = upCount(worker);
  const { processes } = worker;
  if (processes === null) return up === null ? "–" : String(up);
  return up === null ? `${processes}` : `${up} of ${processes}`;
}

/** What was known last of a worker that cannot be asked for, and which order waits; null of any other. */
export function unreachableText({ status, last_status: last, pending_status: pending }: Worker) {
  if (status !== "unreachable") return null;
  const known = last ? [`Last known: ${last}`] : [];
  const again = pending === last ? " again" : "";
  return [...known, ...(pending ? [`${pending}${again} once it is back`] : [])].join(", ") || null;
}

/** "3 of 4 up", of a worker that failed and is not down as a whole; null of any other. */
export function partlyUpText(worker: Worker): string | null {
  const up = upCount(worker);
  return worker.status === "failed" && up !== null && up > 0 ? `${processesText(worker)} up` : null;
}

const runsNothing = new Set(["STOPPED", "FATAL"]);

/** Whether a process runs older code than the newest deployment of its site brought. */
export const isOldRelease = (
  { state, deployment_id: carried }: WorkerProcess,
  newest: number | null | undefined,
): boolean => typeof newest === "number" && !runsNothing.has(state) && (carried ?? 0) < newest;

/** "2 of 3 on the new release"; null where all are, or nobody knows. */
export function releaseText({ process_list: list = [], deployment_id: newest }: Worker) {
  const running = list.filter(({ state }) => !runsNothing.has(state));
  const old = running.filter((process) => isOldRelease(process, newest)).length;
  return old === 0 ? null : `${running.length - old} of ${running.length} on the new release`;
}

const mayLoop = new Set(["installing", "starting", "installed", "restarting"]);

/** Its crash loop; null where it is in none, or its status says what is worse or newer: that it failed, or is to end. */
export const crashLoopOf = ({ status, crash_loop: loop }: Worker) =>
  mayLoop.has(status) ? (loop ?? null) : null;
