// What a worker's processes mean for its status: the one rule, pure.
import type { ProcessState, WorkerState } from "../../contract/workers/worker.ts";

export type SeenProcess = { number: number; state: ProcessState; reason: string | null };

export type Outcome = { status: WorkerState; reason: string | null };

/**
 * The status that a worker has to move to, or null when it stays.
 * `installed` is claimed only while every process runs; a process that the supervisor gave up on makes it `failed`.
 */
export function outcomeOf(status: WorkerState, processes: readonly SeenProcess[]): Outcome | null {
  switch (status) {
    case "removing":
    case "stopped":
      return null;
    case "stopping":
      return processes.every(({ state }) => state === "STOPPED")
        ? { status: "stopped", reason: null }
        : null;
    case "failed":
    case "installing":
    case "starting":
    case "restarting":
    case "installed": {
      const given = processes.find(({ state }) => state === "FATAL");
      if (given !== undefined)
        return status === "failed" ? null : { status: "failed", reason: tell(given) };
      const down = processes.find(({ state }) => state !== "RUNNING");
      if (down === undefined)
        return status === "installed" ? null : { status: "installed", reason: null };
      return status === "installed" ? { status: "restarting", reason: tell(down) } : null;
    }
  }
}

const tell = ({ number, reason }: SeenProcess) =>
  `Process ${number}: ${reason ?? "It ended and is being started again."}`;
