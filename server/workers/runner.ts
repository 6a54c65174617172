// Who keeps a worker's processes: the supervisor inside the service now, supervisord on remote servers later.
import type { WorkerProcess } from "../../contract/workers/worker.ts";
import { toTimestamp } from "../../contract/values.ts";
import type { WorkerLog } from "../../contract/workers/worker.ts";
import type { SeenProcess } from "./outcome.ts";
import type { Program, Resumed, Supervisor } from "./supervisor/supervisor.ts";

export type LogPosition = { lines: number } | { offset: number };

/** Told with every order, and given back with what was seen, so that nothing old is taken for its result. */
type Ordered = { program: Program; transition: number };

export type Runner = {
  /** At start: takes over what still runs, and brings the rest to where it should be. */
  resume(orders: readonly (Ordered & Omit<Resumed, "program">)[]): Promise<void>;
  start(order: Ordered): void;
  stop(order: Ordered): void;
  restart(order: Ordered): void;
  /**
   * Replaces the processes that carry an older deployment than they must, each once.
   * @param order its transition is null where the worker's status did not move for it
   */
  deploy(order: { program: Program; transition: number | null }): void;
  /** Ends everything and forgets the worker. */
  remove(id: number): Promise<void>;
  /** Every worker that was ordered here and not removed. */
  known(): number[];
  /** The worker moved on by itself; what is seen from now on belongs to this transition. */
  follow(id: number, transition: number): void;
  /** What the processes do now; null for a worker that was never ordered here. */
  seen(id: number): { transition: number; processes: SeenProcess[] } | null;
  list(id: number): WorkerProcess[];
  readLog(id: number, position: LogPosition): Promise<WorkerLog>;
};

/** @param onFailure told when an order could not be carried out to its end */
export function createEmbeddedRunner(
  supervisor: Supervisor,
  onFailure: (id: number, error: unknown) => void,
): Runner {
  const transitions = new Map<number, number>();
  const order = ({ program, transition }: Ordered, carryOut: () => void | Promise<void>) => {
    transitions.set(program.id, transition);
    // Its end is seen through the processes' states; only a mistake would be lost here.
    Promise.try(carryOut).catch((error: unknown) => onFailure(program.id, error));
  };

  return {
    async resume(orders) {
      for (const { program, transition } of orders) transitions.set(program.id, transition);
      await supervisor.resume(orders);
    },
    start: (wanted) => order(wanted, () => supervisor.start(wanted.program)),
    stop: (wanted) => order(wanted, () => supervisor.stop(wanted.program.id)),
    restart: (wanted) => order(wanted, () => supervisor.restart(wanted.program)),
    deploy({ program, transition }) {
      if (transition !== null) transitions.set(program.id, transition);
      supervisor.deploy(program).catch((error: unknown) => onFailure(program.id, error));
    },
    async remove(id) {
      await supervisor.remove(id);
      transitions.delete(id);
    },
    known: () => [...transitions.keys()],
    follow(id, transition) {
      if (transitions.has(id)) transitions.set(id, transition);
    },
    seen(id) {
      const transition = transitions.get(id);
      return transition === undefined ? null : { transition, processes: supervisor.processes(id) };
    },
    list: (id) =>
      supervisor.processes(id).map((process) => ({
        number: process.number,
        pid: process.pid,
        state: process.state,
        since: toTimestamp(process.since),
        exit_code: process.exitCode,
        restarts: process.restarts,
        deployment_id: process.deployment,
      })),
    readLog: (id, position) => supervisor.readLog(id, position),
  };
}
