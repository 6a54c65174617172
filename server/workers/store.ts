import {
  and,
  asc,
  desc,
  eq,
  isNotNull,
  isNull,
  lte,
  notInArray,
  or,
  sql,
} from "../store/drizzle.ts";
import { rangeOf } from "../../contract/paging.ts";
import { listFilters } from "../http/list-filters.ts";
import type { Connection, Database } from "../store/database.ts";
import { createFilteredRows, type ListRequest, type Rows } from "../store/filtered-rows.ts";
import { insertedRow } from "../store/rows.ts";
import { sites } from "../store/tables/inventory.ts";
import { workerLogs, workerRecords, workers } from "../store/tables/workers.ts";
import { createWorkerMoves, serverIdOfWorker, type WorkerLeases } from "./status/moves.ts";
import { createTakeOverStore } from "./take-over/take-over-store.ts";

export type WorkerRow = typeof workers.$inferSelect;
type NewWorkerRow = Omit<
  typeof workers.$inferInsert,
  | "id"
  | "created_at"
  | "transition"
  | "status"
  | "restart_order"
  | "settings_version"
  | "changed_from"
  | "kill_reason"
  | "unreachable_since"
  | "unreachable_reason"
  | "last_status"
  | "waiting_order"
>;

export function createWorkerStore(db: Database, leases: WorkerLeases) {
  const isOwn = () => leases.condition(serverIdOfWorker);
  // Prepared once, because dashboards poll it.
  const selectPage = db
    .select()
    .from(workers)
    .where(eq(workers.site_id, sql.placeholder("siteId")))
    .orderBy(desc(workers.id))
    .limit(sql.placeholder("limit"))
    .offset(sql.placeholder("offset"))
    .prepare("workers_of_site");
  const readFiltered = createFilteredRows(db, workers, listFilters.listWorkers, {
    id: workers.id,
    search: [sql`'worker'`, workers.id, workers.queue, sql`'on'`, workers.connection],
    // A worker that is being stopped or deleted does not show its crash loop.
    status: sql`case when ${workers.unreachable_since} is not null then 'unreachable'
      when ${workers.crash_loop_reason} is not null
      and ${workers.status} in ('installing', 'installed', 'starting', 'restarting')
      then 'crash_looping' else ${workers.status} end`,
    sorts: { queue: workers.queue, connection: workers.connection },
  });

  return {
    ...createWorkerMoves(db, leases),
    ...createTakeOverStore(db, leases),

    /** Runs several steps in one transaction; if it throws, all writes and jobs are rolled back. */
    transaction: <Result>(steps: (tx: Connection) => Promise<Result>): Promise<Result> =>
      db.transaction(steps),

    /** @param total number of the site's workers, as stored in its row */
    async list(siteId: number, total: number, page: ListRequest): Promise<Rows<WorkerRow>> {
      if (page.wanted) return readFiltered(eq(workers.site_id, siteId), page);
      return { rows: await selectPage.execute({ siteId, ...rangeOf(page) }), total };
    },

    async byId(id: number): Promise<WorkerRow | null> {
      const [row] = await db.select().from(workers).where(eq(workers.id, id));
      return row ?? null;
    },

    /** Reads and locks a row until the transaction ends. */
    async lock(tx: Connection, id: number): Promise<WorkerRow | null> {
      const [row] = await tx.select().from(workers).where(eq(workers.id, id)).for("update");
      return row ?? null;
    },

    /** Returns a worker with the server of its site. */
    async withServer(id: number): Promise<{ worker: WorkerRow; serverId: number } | null> {
      const [row] = await db
        .select({ worker: workers, serverId: sites.server_id })
        .from(workers)
        .innerJoin(sites, eq(sites.id, workers.site_id))
        .where(eq(workers.id, id));
      return row ?? null;
    },

    /** Returns the server of each worker by the worker's id, without workers that no longer exist. */
    async serverIdsOf(ids: readonly number[]): Promise<Map<number, number>> {
      const { rows } = await db.execute<{ id: number; server_id: number }>(sql`
        select ${workers.id}, ${sites.server_id} from ${workers} join ${sites} on ${sites.id} = ${workers.site_id}
        where ${workers.id} = any(${sql.param([...ids])}::int[])`);
      return new Map(rows.map(({ id, server_id }) => [id, server_id]));
    },

    /** Reads and locks a site's workers until the transaction ends. */
    lockOfSite: (tx: Connection, siteId: number): Promise<WorkerRow[]> =>
      tx
        .select()
        .from(workers)
        .where(eq(workers.site_id, siteId))
        .orderBy(workers.id)
        .for("update"),

    /** Returns workers with a deadline, the earliest first. @param untilMs latest deadline to return; by default, all */
    timed: (untilMs?: number): Promise<WorkerRow[]> =>
      db
        .select()
        .from(workers)
        // Excludes workers whose server is away, because their deadlines do not count.
        .where(
          and(
            untilMs === undefined
              ? isNotNull(workers.deadline_at)
              : lte(workers.deadline_at, new Date(untilMs)),
            isNull(workers.unreachable_since),
            isOwn(),
          ),
        )
        .orderBy(asc(workers.deadline_at)),

    /** Changes the deadlines of workers, except those that were moved since they were read. */
    async postpone(
      tx: Connection,
      later: readonly { row: WorkerRow; deadlineAt: Date | null }[],
    ): Promise<void> {
      if (later.length === 0) return;
      await tx.execute(sql`
        update workers set deadline_at = later.deadline_at
        from unnest(
          ${sql.param(later.map(({ row }) => row.id))}::int[],
          ${sql.param(later.map(({ row }) => row.transition))}::int[],
          ${sql.param(later.map(({ deadlineAt }) => deadlineAt?.toISOString() ?? null))}::timestamptz[]
        ) as later(id, transition, deadline_at)
        where workers.id = later.id and workers.transition = later.transition and ${isOwn() ?? sql`true`}`);
    },

    /** Stores a site's newest deployment. @param isRequired whether processes of older deployments have to be replaced */
    async noteDeployment(
      tx: Connection,
      siteId: number,
      deploymentId: number,
      isRequired: boolean,
    ): Promise<void> {
      await tx
        .update(workers)
        .set({
          deployment_id: deploymentId,
          ...(isRequired && { required_deployment_id: deploymentId }),
        })
        .where(eq(workers.site_id, siteId));
    },

    /** Returns the ids of workers in a crash loop that should be up. */
    async crashLooping(): Promise<number[]> {
      const rows = await db
        .select({ id: workers.id })
        .from(workers)
        .where(
          and(
            isNotNull(workers.crash_loop_reason),
            notInArray(workers.status, ["stopping", "stopped", "failed", "removing"]),
          ),
        );
      return rows.map(({ id }) => id);
    },

    /** @returns the row; null if it was deleted */
    async setCrashLoop(
      tx: Connection,
      id: number,
      loop: { since: Date; reason: string } | null,
    ): Promise<WorkerRow | null> {
      const [row] = await tx
        .update(workers)
        .set({ crash_loop_since: loop?.since ?? null, crash_loop_reason: loop?.reason ?? null })
        .where(and(eq(workers.id, id), isOwn()))
        .returning();
      return row ?? null;
    },

    /**
     * Returns the workers that are stopped, and those that have, or should have, processes.
     * @param serverIds null = of all servers
     */
    async byRest(
      serverIds: readonly number[] | null,
    ): Promise<[stopped: WorkerRow[], others: WorkerRow[]]> {
      const isOnThem =
        serverIds === null
          ? undefined
          : sql`${serverIdOfWorker} = any(${sql.param([...serverIds])}::int[])`;
      const rows = await db.select().from(workers).where(isOnThem);
      const isStopped = ({ status }: WorkerRow) => status === "stopped";
      return [rows.filter(isStopped), rows.filter((row) => !isStopped(row))];
    },

    /** Returns the records of processes by worker. An instance that runs alone stores none in the database. */
    async recordsOf(ids: readonly number[]): Promise<Map<number, string>> {
      const rows = await db
        .select()
        .from(workerRecords)
        .where(sql`${workerRecords.worker_id} = any(${sql.param([...ids])}::int[])`);
      return new Map(rows.map(({ worker_id, records }) => [worker_id, records]));
    },

    /** Stores the records of processes by worker, except those on servers of other instances. */
    async keepRecords(records: readonly (readonly [id: number, text: string])[]): Promise<void> {
      const known = JSON.stringify(records.map(([id, text]) => ({ id, text })));
      await db.execute(sql`
        insert into worker_records (worker_id, records)
        select ${workers.id}, known.text from ${workers}
        join json_to_recordset(${known}::json) as known(id int, text text) on known.id = ${workers.id}
        where ${isOwn() ?? sql`true`}
        on conflict (worker_id) do update set records = excluded.records`);
    },

    /** Stores how far the log of a worker on its server was read. */
    logOf: (id: number) => ({
      async find(): Promise<string | null> {
        const [row] = await db.select().from(workerLogs).where(eq(workerLogs.worker_id, id));
        return row?.state ?? null;
      },
      async keep(text: string): Promise<void> {
        const { rowCount } = await db.execute(sql`
          insert into worker_logs (worker_id, state)
          select ${workers.id}, ${text}::text from ${workers}
          where ${workers.id} = ${id} and ${isOwn() ?? sql`true`}
          on conflict (worker_id) do update set state = excluded.state`);
        if (rowCount === 0) throw new Error("Another instance looks after its server by now.");
      },
    }),

    async insert(tx: Connection, values: NewWorkerRow): Promise<WorkerRow> {
      const rows = await tx
        .insert(workers)
        .values({ ...values, status: "installing" })
        .returning();
      return insertedRow(rows);
    },

    /** Stores the reason of a kill, which the next settled state of the worker shows. */
    async noteKill(tx: Connection, id: number, reason: string): Promise<void> {
      await tx
        .update(workers)
        .set({ status_reason: reason, kill_reason: reason })
        .where(and(eq(workers.id, id), isOwn()));
    },

    /** Deletes a worker, even if it failed by its deadline meanwhile. @param transition of the order to remove it */
    async remove({ id, transition }: Pick<WorkerRow, "id" | "transition">): Promise<void> {
      const isStillToGo = or(
        eq(workers.status, "removing"),
        and(eq(workers.status, "failed"), eq(workers.transition, transition + 1)),
      );
      await db.delete(workers).where(and(eq(workers.id, id), isStillToGo, isOwn()));
    },
  };
}

export type WorkerStore = ReturnType<typeof createWorkerStore>;
