// Tracks which order the changes of a worker's processes belong to, so that no old change counts as the result of a new order.
import type { Logger } from "pino";
import type { WorkerState } from "../../../contract/workers/worker.ts";
import type { GiveOrder } from "../deployment/deployer.ts";
import type { ProcessManager, ProcessStatus } from "../processes/process-manager.ts";
import type { WorkerRow } from "../store.ts";

type TransitionsOptions = {
  manager: Pick<ProcessManager, "processes" | "hasTaken">;
  log: Logger;
};

export function createTransitions({ manager, log }: TransitionsOptions) {
  /** By worker: the transition to which changes of its processes belong now. */
  const transitions = new Map<number, number>();

  /** @returns false if a newer order was given while this one was prepared */
  function isNewest(id: number, transition: number | null): boolean {
    if (transition === null) return true;
    if (transition < (transitions.get(id) ?? 0)) return false;
    transitions.set(id, transition);
    return true;
  }

  const order: GiveOrder = (id, transition, carryOut) => {
    if (!isNewest(id, transition)) return;
    Promise.try(carryOut).catch((error: unknown) =>
      log.error({ err: error, worker: id }, "a worker's order was not carried out"),
    );
  };

  const isOfRow = ({ id, transition }: WorkerRow) => transitions.get(id) === transition;
  /** Whether the order that led to the row's status has certainly reached the server. */
  const isTaken = (row: WorkerRow) => isOfRow(row) && manager.hasTaken(row.id);

  return {
    isNewest,
    order,
    isTaken,

    /** Returns the last known status before an order that is given now. */
    lastStatusOf: (row: WorkerRow): WorkerState =>
      isTaken(row) ? row.status : (row.last_status ?? row.status),

    /** Assigns later changes of the processes to the row of a worker that moved without an order. */
    follow({ id, transition }: WorkerRow): void {
      if (transitions.has(id)) transitions.set(id, transition);
    },

    /** Assigns later changes of the processes to a row whose order an earlier run of the service, or another instance, carried out. */
    takeUp({ id, transition }: WorkerRow): void {
      transitions.set(id, transition);
    },

    forget(id: number): void {
      transitions.delete(id);
    },

    /** Returns the processes; null where their changes belong to another transition than the row's. */
    processesOf: (row: WorkerRow): ProcessStatus[] | null =>
      isOfRow(row) ? manager.processes(row.id) : null,
  };
}
