// When a worker's processes come up again and again: its status says `installed` in between, and that is not all there is to say.
import type { WorkerProcess } from "../../contract/workers/worker.ts";

/** So many restarts, the last one so short a time ago, are no accident. */
const manyRestarts = 3;
const recentMs = 5 * 60_000;

/** A process that ended with 0 did what it was asked to: `max_jobs`, `max_time`, `queue:restart`. One without a code was killed. */
export const isCrashLoop = (processes: readonly WorkerProcess[], nowMs: number): boolean =>
  processes.some(
    ({ restarts, exit_code, since }) =>
      restarts >= manyRestarts && exit_code !== 0 && nowMs - Date.parse(since) < recentMs,
  );
