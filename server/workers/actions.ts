// What is asked of a worker without more to say, as changes of its state.
import type { WorkerAction, WorkerState } from "../../contract/workers/worker.ts";

/** Which state an action leads into, and the states in which it has nothing to do. */
export const actions = {
  start: {
    into: "starting",
    done: ["installed", "starting", "restarting"],
    asked: "asked to start",
  },
  stop: { into: "stopping", done: ["stopped", "stopping"], asked: "asked to stop" },
  restart: { into: "restarting", done: [], asked: "asked to restart" },
  remove: { into: "removing", done: [], asked: "deleted" },
} as const satisfies Record<
  WorkerAction,
  { into: WorkerState; done: readonly WorkerState[]; asked: string }
>;
