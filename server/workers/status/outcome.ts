// Decides the status of a worker from its processes. A pure function.
import type { WorkerState } from "../../../contract/workers/worker.ts";
import type { ProcessStatus } from "../processes/process-manager.ts";

export type SeenProcess = Pick<
  ProcessStatus,
  | "number"
  | "state"
  | "reason"
  | "isStoppedElsewhere"
  | "deployment"
  | "settings"
  | "isBetweenRuns"
  | "upAt"
  | "outages"
>;

type Outcome = { status: WorkerState; reason: string | null };

/**
 * Returns the status that a worker has to move to; null = it keeps its status.
 * A worker is `installed` only while every process has the required deployment and is running, or has just exited because of
 * `max_jobs` or `max_time`. A process that the process manager has given up makes the worker `failed`.
 * @param required the oldest deployment that a process may carry; null = any
 */
export function outcomeOf(
  status: WorkerState,
  processes: readonly SeenProcess[],
  required: number | null,
): Outcome | null {
  switch (status) {
    case "removing":
      return null;
    case "stopped":
      if (processes.every(({ state }) => state === "STOPPED")) return null;
      // A worker that was stopped on its server can be started there as well, also in part. It is judged once that is done.
      return processes.some(({ state }) => state === "STARTING" || state === "STOPPING")
        ? null
        : (outcomeOf("installed", processes, required) ?? { status: "installed", reason: null });
    case "stopping":
      return processes.every(({ state }) => state === "STOPPED")
        ? { status: "stopped", reason: null }
        : null;
    case "failed":
    case "installing":
    case "starting":
    case "restarting":
    case "installed": {
      // No process has been started for the newest order yet, so nothing is known of its result.
      if (processes.length === 0) return null;
      const given = processes.find(({ state }) => state === "FATAL");
      if (given !== undefined)
        return status === "failed" ? null : { status: "failed", reason: tell(given) };
      const stopped = processes.filter(({ isStoppedElsewhere }) => isStoppedElsewhere === true);
      const [first] = stopped;
      if (first !== undefined && status === "failed") return null;
      // Several that are stopped at once do not end at once.
      if (first !== undefined && processes.some(({ state }) => state === "STOPPING")) return null;
      if (first !== undefined)
        return {
          status: stopped.length === processes.length ? "stopped" : "failed",
          reason: tell(first),
        };
      const down = processes.find((process) => !isUp(process, required));
      if (down === undefined)
        return status === "installed" ? null : { status: "installed", reason: null };
      return status === "installed" ? { status: "restarting", reason: tell(down) } : null;
    }
  }
}

/** Whether a process runs the required deployment or a newer one. */
export const carries = ({ deployment }: Pick<SeenProcess, "deployment">, required: number | null) =>
  required === null || (deployment ?? 0) >= required;

export const isUp = (process: SeenProcess, required: number | null): boolean =>
  (process.state === "RUNNING" || process.isBetweenRuns) && carries(process, required);

export const tell = ({ number, reason }: SeenProcess): string =>
  `Process ${number}: ${reason ?? "Exited. Starting again."}`;
