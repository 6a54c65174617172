// What can be asked of supervisord for one process.
import type { ProcessState } from "../../../contract/workers/worker.ts";

export type Step =
  /** Ends the process and all that it started. */
  | { kind: "stop" }
  /** Lets the process end its job; supervisord starts it again. */
  | { kind: "signal"; signal: string }
  /** Kills the process and all that it started, because its stop seconds are over. */
  | { kind: "kill"; pid: number }
  /** It has stopped, and is to be gone or to come back with other settings. */
  | { kind: "removeGroup" }
  | { kind: "addGroup" }
  | { kind: "start" };

const kept: ReadonlySet<ProcessState> = new Set(["STARTING", "RUNNING", "BACKOFF", "EXITED"]);

/** Neither stopped nor given up, by supervisord's rules. */
export const isKept = (state: ProcessState): boolean => kept.has(state);
