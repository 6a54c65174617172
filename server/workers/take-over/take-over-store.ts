// Queries of take-overs, which are stored in the rows of the workers that replace supervisord's programs.
import { isInTransit } from "../../../contract/states.ts";
import { and, eq, sql } from "../../store/drizzle.ts";
import type { Connection, Database } from "../../store/database.ts";
import { servers } from "../../store/tables/inventory.ts";
import { workers, type TakenProgram } from "../../store/tables/workers.ts";
import { serverIdOfWorker, type WorkerLeases } from "../status/moves.ts";

type WorkerRow = typeof workers.$inferSelect;
export type TakingWorker = WorkerRow & { take_over: TakenProgram };

const isTaking = (row: WorkerRow): row is TakingWorker => row.take_over !== null;

/** Current state of a program, and the site whose queue it runs; the command is null or empty if supervisord does not report it. */
type Now = { program: string; siteId: number | null; command: string | null };

/**
 * Returns the worker that is replacing a program, or has replaced it; null = none. A worker that replaced an earlier program of the same
 * name for another site or with another command does not count.
 */
export function takerOf(
  takers: readonly TakingWorker[],
  { program, siteId, command }: Now,
): TakingWorker | null {
  const its = takers.filter(({ take_over: taken }) => taken.program === program);
  const does = (row: TakingWorker) =>
    row.site_id === siteId &&
    (!command || row.take_over.command === "" || row.take_over.command === command);
  const moving = its.find(({ take_over: taken }) => isInTransit(taken.status));
  return moving ?? its.findLast(does) ?? null;
}

export function createTakeOverStore(db: Database, leases: WorkerLeases) {
  const programIs = (serverId: number, program: string) =>
    and(
      sql`${workers.take_over} is not null`,
      sql`${workers.take_over} @> ${JSON.stringify({ server_id: serverId, program })}::jsonb`,
    );

  return {
    /** Returns take-overs that are under way, and finished ones whose program is not yet removed. */
    async takingOver(): Promise<TakingWorker[]> {
      const rows = await db
        .select()
        .from(workers)
        .where(
          and(
            sql`${workers.take_over} is not null`,
            sql`${workers.take_over} ->> 'status' <> 'failed'`,
            sql`${workers.take_over} ->> 'is_removed' = 'false'`,
            leases.condition(serverIdOfWorker),
          ),
        );
      return rows.filter(isTaking);
    },

    /** Returns all take-overs of a server's programs, with any status. */
    async takersOn(serverId: number): Promise<TakingWorker[]> {
      const rows = await db
        .select()
        .from(workers)
        .where(
          and(
            sql`${workers.take_over} is not null`,
            sql`${workers.take_over} @> ${JSON.stringify({ server_id: serverId })}::jsonb`,
          ),
        )
        .orderBy(workers.id);
      return rows.filter(isTaking);
    },

    /** Returns the take-overs of a program. Locks the server until the transaction ends, so that no second one is created concurrently. */
    async lockTakers(tx: Connection, serverId: number, program: string): Promise<TakingWorker[]> {
      await tx
        .select({ id: servers.id })
        .from(servers)
        .where(eq(servers.id, serverId))
        .for("no key update");
      const rows = await tx
        .select()
        .from(workers)
        .where(programIs(serverId, program))
        .orderBy(workers.id);
      return rows.filter(isTaking);
    },

    /** Changes a take-over by compare-and-set. @returns false if it was changed since it was read */
    async setTakeOver(
      tx: Connection,
      { id, take_over: from }: TakingWorker,
      next: TakenProgram,
    ): Promise<boolean> {
      const rows = await tx
        .update(workers)
        .set({ take_over: next })
        .where(
          and(
            eq(workers.id, id),
            sql`${workers.take_over} = ${JSON.stringify(from)}::jsonb`,
            leases.condition(serverIdOfWorker),
          ),
        )
        .returning({ id: workers.id });
      return rows.length > 0;
    },
  };
}
