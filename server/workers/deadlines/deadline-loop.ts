// Fails states in transit that exceed their deadline, with one indexed query a second.
import type { Logger } from "pino";
import type { Clock } from "../../clock.ts";
import { createLoop, type Loop } from "../../jobs/loop.ts";
import { deadlineAt, deadlineSeconds, isOverdue } from "./deadlines.ts";
import type { Mover } from "../status/mover.ts";
import { isUp, type SeenProcess, tell } from "../status/outcome.ts";
import type { WorkerRow, WorkerStore } from "../store.ts";

type DeadlineLoopOptions = {
  store: WorkerStore;
  mover: Mover;
  /** Returns the processes; null where their changes belong to another transition than the row's. */
  processesOf(row: WorkerRow): readonly SeenProcess[] | null;
  /** Assigns later changes of the processes to this row. */
  follow(row: WorkerRow): void;
  /** Restores the settings before a change that is being rolled out. */
  undo(row: WorkerRow, why: string): Promise<WorkerRow | null>;
  /** Returns when the processes were last observed; 0 = not since the start of the service. Milliseconds since 1970. */
  seenAt(id: number): number;
  /** Returns a possible cause, as a sentence. */
  notice(id: number): string | null;
  /** Moves the status to what the processes show. */
  observe(id: number): Promise<void>;
  clock: Clock;
  log: Logger;
};

/** Longest delay after which a missed deadline is noticed. */
const everyMs = 1000;
/** How long an observation is current. Processes in transit are observed more often, unless their manager does not respond. */
const seenForMs = 5000;

export function createDeadlineLoop(options: DeadlineLoopOptions): Loop {
  const { store, mover, processesOf, follow, undo, seenAt, notice, observe, clock, log } = options;

  /**
   * Handles a missed deadline: postpones it where the processes were not observed lately, undoes a change, restarts the deadline
   * of a worker whose processes were all up, and otherwise fails the worker.
   */
  async function expire(row: WorkerRow): Promise<void> {
    const seconds = deadlineSeconds(row.status, row);
    if (seconds === null || row.deadline_at === null) return;
    if (clock.now() - seenAt(row.id) > seenForMs) return postpone([row]);
    const known = notice(row.id);
    const why = known === null ? "" : ` ${known}`;
    if (row.changed_from !== null) {
      await undo(row, `It was not rolled out within ${seconds} s.${why}`);
      return;
    }
    const sinceMs = row.deadline_at.getTime() - seconds * 1000;
    const processes = processesOf(row);
    const required = row.required_deployment_id;
    const isToBeUp = row.status !== "stopping" && row.status !== "removing";
    const comesUp =
      isToBeUp &&
      processes !== null &&
      !processes.some((process) => isOverdue(process, required, sinceMs));
    const down = comesUp ? processes.find((process) => !isUp(process, required)) : undefined;
    const moved = comesUp
      ? await store.transaction((tx) => mover.move(tx, row, "restarting", down ? tell(down) : null))
      : await mover.fail(row, `Timed out: still ${row.status} after ${seconds} s.${why}`);
    if (moved !== null) follow(moved);
    if (comesUp) await observe(row.id);
  }

  /** Restarts the deadlines of these workers from now. */
  const postpone = (rows: readonly WorkerRow[]) =>
    store.transaction((tx) =>
      store.postpone(
        tx,
        rows.map((row) => ({ row, deadlineAt: deadlineAt(row.status, row, clock.now()) })),
      ),
    );

  /** Whether changes may have been missed around the last turn: the database was away or slow, or this process was suspended. */
  let wasBlind = false;
  /** When the last turn ended. */
  let lookedAt = Infinity;

  async function findOverdue(): Promise<WorkerRow[]> {
    try {
      // Orders were not carried out meanwhile, so all deadlines restart, including those that are not over.
      if (wasBlind) await postpone(await store.timed());
      const due = await store.timed(clock.now());
      wasBlind = clock.now() - lookedAt > seenForMs;
      return wasBlind ? [] : due;
    } catch (error) {
      wasBlind = true;
      throw error;
    }
  }

  async function expireDue(): Promise<void> {
    for (const row of await findOverdue())
      try {
        await expire(row);
      } catch (error) {
        log.error({ err: error, worker: row.id }, "a worker's deadline is tried again");
      }
    lookedAt = clock.now();
  }

  return createLoop({ name: "deadlines of workers", everyMs, turn: expireDue, clock, log });
}
