// The workers' rows. A status changes by compare-and-set only, so that two deciders cannot both win.
import { and, desc, eq, ne, sql } from "../store/drizzle.ts";
import type { PageRequest } from "../../contract/paging.ts";
import type { WorkerState } from "../../contract/workers/worker.ts";
import type { Connection, Database } from "../store/database.ts";
import { sites, workers } from "../store/tables.ts";

export type WorkerRow = typeof workers.$inferSelect;
export type NewWorkerRow = Omit<
  typeof workers.$inferInsert,
  "id" | "created_at" | "transition" | "status"
>;

export function createWorkerStore(db: Database) {
  // Dashboards poll this one, so it is put together once and not each time.
  const selectPage = db
    .select()
    .from(workers)
    .where(eq(workers.site_id, sql.placeholder("siteId")))
    .orderBy(desc(workers.id))
    .limit(sql.placeholder("limit"))
    .offset(sql.placeholder("offset"))
    .prepare("workers_of_site");

  return {
    /** Runs several steps as one; what is sent or written in it is undone if it throws. */
    transaction: <Result>(steps: (tx: Connection) => Promise<Result>): Promise<Result> =>
      db.transaction(steps),

    list: (siteId: number, { page, perPage }: PageRequest): Promise<WorkerRow[]> =>
      selectPage.execute({ siteId, limit: perPage, offset: (page - 1) * perPage }),

    async byId(id: number): Promise<WorkerRow | null> {
      const [row] = await db.select().from(workers).where(eq(workers.id, id));
      return row ?? null;
    },

    /** Reads a row and keeps everybody else from changing it until the transaction ends. */
    async lock(tx: Connection, id: number): Promise<WorkerRow | null> {
      const [row] = await tx.select().from(workers).where(eq(workers.id, id)).for("update");
      return row ?? null;
    },

    /** A worker with the server its site is on. */
    async withServer(id: number): Promise<{ worker: WorkerRow; serverId: number } | null> {
      const [row] = await db
        .select({ worker: workers, serverId: sites.server_id })
        .from(workers)
        .innerJoin(sites, eq(sites.id, workers.site_id))
        .where(eq(workers.id, id));
      return row ?? null;
    },

    ofSite: (siteId: number): Promise<WorkerRow[]> =>
      db.select().from(workers).where(eq(workers.site_id, siteId)).orderBy(workers.id),

    /** Workers that have, or should have, processes. */
    notStopped: (): Promise<WorkerRow[]> =>
      db.select().from(workers).where(ne(workers.status, "stopped")),

    async insert(tx: Connection, values: NewWorkerRow): Promise<WorkerRow> {
      const [row] = await tx
        .insert(workers)
        .values({ ...values, status: "installing" })
        .returning();
      if (row === undefined) throw new Error("An insert answered no row.");
      return row;
    },

    /**
     * Moves a worker on from the row as it was read.
     * @returns the new row, or null when somebody else moved it first
     */
    async move(
      tx: Connection,
      from: WorkerRow,
      status: WorkerState,
      reason: string | null,
      toldFailed: boolean,
    ): Promise<WorkerRow | null> {
      const [row] = await tx
        .update(workers)
        .set({
          status,
          status_reason: reason,
          ...(status !== from.status && { status_since: sql`now()` }),
          told_failed: toldFailed,
          transition: sql`${workers.transition} + 1`,
        })
        .where(and(eq(workers.id, from.id), eq(workers.transition, from.transition)))
        .returning();
      return row ?? null;
    },

    async remove(id: number): Promise<void> {
      await db.delete(workers).where(and(eq(workers.id, id), eq(workers.status, "removing")));
    },
  };
}

export type WorkerStore = ReturnType<typeof createWorkerStore>;
