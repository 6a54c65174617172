// Moves workers to another state: row, deadline, timeline entry and event change in one transaction.
import type { Logger } from "pino";
import { withLogTail } from "../../../contract/workers/status-reason.ts";
import type { WorkerState } from "../../../contract/workers/worker.ts";
import { recordActivity } from "../../activity/store.ts";
import type { Clock } from "../../clock.ts";
import { recordEvent } from "../../events/store.ts";
import type { InventoryStore } from "../../inventory/store.ts";
import type { Connection } from "../../store/database.ts";
import { deadlineAt } from "../deadlines/deadlines.ts";
import { settledEntry, workerEvent } from "../event-data.ts";
import type { ProcessManager } from "../processes/process-manager.ts";
import type { WorkerRow, WorkerStore } from "../store.ts";

type MoverOptions = {
  store: WorkerStore;
  inventory: InventoryStore;
  manager: Pick<ProcessManager, "readLog">;
  clock: Clock;
  log: Logger;
};

export type Mover = {
  /** @returns the reason, with the last lines of the worker's log, or why the log cannot be read */
  withLog(id: number, reason: string): Promise<string>;
  /**
   * @param order given if an order caused the move; `isRestart` = the processes that run now have to be replaced
   * @returns the new row; null if it was changed since it was read
   */
  move(
    tx: Connection,
    from: WorkerRow,
    status: WorkerState,
    reason: string | null,
    order?: { lastStatus: WorkerState; isRestart: boolean },
  ): Promise<WorkerRow | null>;
  /** Moves a worker to `failed` with the end of its log in the reason; without it, if storing that fails. */
  fail(row: WorkerRow, reason: string): Promise<WorkerRow | null>;
};

/** Limits of the log excerpt in the reason of a failure. */
const reasonLines = 5;
const reasonCharacters = 800;

export function createMover({ store, inventory, manager, clock, log }: MoverOptions): Mover {
  const move: Mover["move"] = async (tx, from, status, reason, order) => {
    const isNewFailure = status === "failed" && !from.notified_failed;
    const isRecovery = status === "installed" && from.notified_failed;
    const row = await store.move(tx, from, status, reason, {
      notifiedFailed: isRecovery ? false : isNewFailure || from.notified_failed,
      deadlineAt: deadlineAt(status, from, clock.now()),
      isRestart: order?.isRestart ?? false,
      lastStatus: order?.lastStatus ?? null,
      countFrom: status === "starting" || order?.isRestart ? new Date(clock.now()) : null,
    });
    if (row === null) return null;
    const site = await inventory.findSite(row.site_id, tx);
    if (site === null) return row;
    if (isNewFailure) await recordEvent(tx, workerEvent("worker.failed", row, site, reason));
    if (isRecovery) await recordEvent(tx, workerEvent("worker.recovered", row, site, null));
    const settled = settledEntry(row, site, from.status);
    if (settled !== null && !isRecovery) await recordActivity(tx, settled);
    return row;
  };

  // A log that cannot be read must not keep a failure from being reported.
  async function withLog(id: number, reason: string): Promise<string> {
    try {
      const { text, problem } = await manager.readLog(id, { lines: reasonLines });
      const why = problem === undefined ? reason : `${reason}\n${problem}`;
      return withLogTail(why, text.trim().slice(-reasonCharacters));
    } catch (error) {
      log.warn({ err: error, worker: id }, "the log of a worker that failed cannot be read");
      return reason;
    }
  }

  return {
    move,
    withLog,
    async fail(row, reason) {
      const moveFor = (text: string) => store.transaction((tx) => move(tx, row, "failed", text));
      const text = await withLog(row.id, reason);
      try {
        return await moveFor(text);
      } catch (error) {
        if (text === reason) throw error;
        log.error({ err: error, worker: row.id }, "a failure was not stored with its log");
        return moveFor(reason);
      }
    },
  };
}
