// What the pages say about a worker beyond its fields. The list of processes is an extra: without it, null.
import type { Worker } from "../../contract/workers/worker.ts";

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
