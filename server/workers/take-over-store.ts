// The programs of supervisord whose place workers take, in the workers' rows.
import { isInTransit } from "../../contract/states.ts";
import { and, eq, sql } from "../store/drizzle.ts";
import type { Connection, Database } from "../store/database.ts";
import { servers, workers, type TakenProgram } from "../store/tables.ts";
import { serverIdOfWorker, type WorkerLeases } from "./moves.ts";

type WorkerRow = typeof workers.$inferSelect;
export type TakingWorker = WorkerRow & { take_over: TakenProgram };

const isTaking = (row: WorkerRow): row is TakingWorker => row.take_over !== null;

/** A program as it is now, and the site whose queue it runs; the command is null or empty where supervisord does not say it. */
type Now = { program: string; siteId: number | null; command: string | null };

/**
 * The worker that is on its way to a program's place, or has taken it. One that made way when it ran something else, by the
 * same name, does none of its jobs.
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
    /** Those that have not come to their end, and those whose program may come back. */
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

    /** All that have taken, or are to take, the place of a server's programs. */
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

    /** Those for a program. Until the transaction ends nobody else looks for one on that server, to make it where there is none. */
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

    /** @returns false where it is not as it was read any more */
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
