// The steps that supervisord can take for one process.
import type { ProcessState } from "../../../contract/workers/worker.ts";

export type Step =
  /** Ends the process and all that it started. */
  | { kind: "stop" }
  /** Lets the process end its job; supervisord starts it again. */
  | { kind: "signal"; signal: string }
  /** Kills the process and all that it started, because its stop seconds are over. */
  | { kind: "kill"; pid: number }
  /** Removes a stopped process, for good or to add it with other settings. */
  | { kind: "removeGroup" }
  | { kind: "addGroup" }
  | { kind: "start" };

const kept: ReadonlySet<ProcessState> = new Set(["STARTING", "RUNNING", "BACKOFF", "EXITED"]);

/** Whether supervisord keeps a process in this state up, i.e. it is neither stopped nor given up. */
export const isKept = (state: ProcessState): boolean => kept.has(state);
