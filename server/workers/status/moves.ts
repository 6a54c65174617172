// Changes a worker's row by compare-and-set with the row as it was read, so that only one of two concurrent changes succeeds.
import type { WorkerState } from "../../../contract/workers/worker.ts";
import { and, eq, sql } from "../../store/drizzle.ts";
import type { Connection, Database } from "../../store/database.ts";
import { insertedRow } from "../../store/rows.ts";
import { workers, type VersionedSettings } from "../../store/tables/workers.ts";
import type { Leases } from "../../instances/leases.ts";
import type { Away } from "../processes/process-manager.ts";

type WorkerRow = typeof workers.$inferSelect;
/** Conditions that exclude an instance that no longer looks after the worker's server. */
export type WorkerLeases = Pick<Leases, "condition" | "holdOfSite" | "holdFree">;

/** Values that change with a worker's status. */
type Move = {
  notifiedFailed: boolean;
  deadlineAt: Date | null;
  /** Whether a restart was ordered, so that the processes that run now have to be replaced. */
  isRestart: boolean;
  /** Time of an order that begins a new count of exits; null = no such order. */
  countFrom: Date | null;
  /** See `Change`. */
  lastStatus: WorkerState | null;
};

/** Values that change with a worker's settings. */
type Change = {
  settings: VersionedSettings["settings"];
  version: number;
  /** Previous settings, kept until every process has the new ones; null = no process is replaced, or the previous ones are restored. */
  changedFrom: VersionedSettings | null;
  status: WorkerState;
  /** Reason of the new state; if that is in transit, the settled state after it has the same reason. */
  reason: string | null;
  deadlineAt: Date | null;
  /** Last known status before the order that causes this change; null = no order causes it. */
  lastStatus: WorkerState | null;
  /** See `Move`. */
  countFrom: Date | null;
};

/** While a worker's server is away, orders do not change its last known status. */
const keptLastStatus = (otherwise: WorkerState | null) =>
  sql`case when ${workers.unreachable_since} is null then ${otherwise} else ${workers.last_status} end`;

/** An order, which has a last known status, waits until it has certainly reached the server. */
const waitingOrder = (lastStatus: WorkerState | null) =>
  lastStatus !== null && { waiting_order: sql`${workers.transition} + 1` };

/** Hides a reported crash loop until exits after `from` make one again, or until its end is reported. */
const countAnew = ({ crash_loop_since: since }: WorkerRow, from: Date | null) =>
  since !== null && from !== null && { crash_loop_since: from, crash_loop_reason: null };

/** SQL for the server of a worker. */
export const serverIdOfWorker = sql`(select server_id from sites where sites.id = ${workers.site_id})`;

export function createWorkerMoves(db: Database, leases: WorkerLeases) {
  /** Matches the row if it is unchanged and this instance looks after its server. */
  const isStill = ({ id, transition }: WorkerRow) =>
    and(eq(workers.id, id), eq(workers.transition, transition), leases.condition(serverIdOfWorker));

  return {
    /**
     * Stores that a worker's process manager cannot reach its server.
     * @param isTaken whether the order that led to its status has certainly reached the server, so that it does not wait
     * @returns false if the row was changed since it was read
     */
    async setUnreachable(
      from: WorkerRow,
      { since, reason }: Away,
      isTaken: boolean,
    ): Promise<boolean> {
      const isKnown = from.unreachable_since === null && isTaken;
      const rows = await db
        .update(workers)
        .set({
          unreachable_since: since,
          unreachable_reason: reason,
          last_status: isKnown ? from.status : (from.last_status ?? from.status),
          ...(isKnown && { waiting_order: null }),
        })
        .where(isStill(from))
        .returning({ id: workers.id });
      return rows.length > 0;
    },

    /** Stores that no instance looks after a server, so that the state of its workers is unknown. @throws LeaseLost if one does again */
    setAbandoned: (serverId: number, { since, reason }: Away): Promise<void> =>
      db.transaction(async (tx) => {
        await leases.holdFree(tx, serverId);
        await tx.execute(sql`
          update workers set unreachable_since = ${since.toISOString()}::timestamptz, unreachable_reason = ${reason},
            last_status = coalesce(last_status, status)
          where unreachable_since is null and site_id in (select id from sites where server_id = ${serverId})`);
      }),

    /** Stores that a worker's server can be reached again. @returns the new row; null if it was changed since it was read */
    async setReachable(from: WorkerRow, deadline: Date | null): Promise<WorkerRow | null> {
      const [row] = await db
        .update(workers)
        .set({
          unreachable_since: null,
          unreachable_reason: null,
          // Kept while an order waits, because the server may be away again before it gets the order.
          last_status: sql`case when ${workers.waiting_order} = ${workers.transition} then ${workers.last_status} end`,
          deadline_at: deadline,
        })
        .where(isStill(from))
        .returning();
      return row ?? null;
    },

    /**
     * Moves a worker to another status.
     * @returns the new row; null if it was changed since it was read
     */
    async move(
      tx: Connection,
      from: WorkerRow,
      status: WorkerState,
      reason: string | null,
      { notifiedFailed, deadlineAt, isRestart, lastStatus, countFrom }: Move,
    ): Promise<WorkerRow | null> {
      await leases.holdOfSite(tx, from.site_id);
      const [row] = await tx
        .update(workers)
        .set({
          status,
          status_reason: reason,
          ...(status !== from.status && { status_since: sql`now()` }),
          last_status: keptLastStatus(lastStatus),
          ...waitingOrder(lastStatus),
          notified_failed: notifiedFailed,
          kill_reason: null,
          changed_from: null,
          deadline_at: deadlineAt,
          transition: sql`${workers.transition} + 1`,
          // Equal to the new value of `transition`.
          ...(isRestart && { restart_order: sql`${workers.transition} + 1` }),
          ...countAnew(from, countFrom),
        })
        .where(isStill(from))
        .returning();
      return row ?? null;
    },

    /**
     * Changes a worker's settings.
     * @returns the new row; null if it was changed since it was read
     */
    async change(
      tx: Connection,
      from: WorkerRow,
      { settings, version, changedFrom, status, reason, deadlineAt, lastStatus, countFrom }: Change,
    ): Promise<WorkerRow | null> {
      await leases.holdOfSite(tx, from.site_id);
      const [row] = await tx
        .update(workers)
        .set({
          ...settings,
          settings_version: version,
          changed_from: changedFrom,
          status,
          status_reason: reason,
          ...(status !== from.status && { status_since: sql`now()` }),
          last_status: keptLastStatus(lastStatus),
          ...waitingOrder(lastStatus),
          kill_reason: deadlineAt === null ? from.kill_reason : reason,
          deadline_at: deadlineAt,
          transition: sql`${workers.transition} + 1`,
          ...countAnew(from, countFrom),
        })
        .where(isStill(from))
        .returning();
      return row ?? null;
    },

    /**
     * Withdraws an order that was not carried out, and restores the previous settings.
     * @param from a locked row
     */
    async withdraw(
      tx: Connection,
      { id, site_id, status: from, changed_from: changed, settings_version: version }: WorkerRow,
      status: WorkerState,
      deadline: Date | null,
    ): Promise<WorkerRow> {
      await leases.holdOfSite(tx, site_id);
      const rows = await tx
        .update(workers)
        .set({
          ...changed?.settings,
          settings_version: changed?.version ?? version,
          changed_from: null,
          status,
          status_reason: null,
          status_since: sql`now()`,
          kill_reason: null,
          deadline_at: deadline,
          transition: sql`${workers.transition} + 1`,
          // The next start of the service must not carry it out.
          ...(from === "restarting" && { restart_order: null }),
        })
        .where(eq(workers.id, id))
        .returning();
      return insertedRow(rows);
    },
  };
}
