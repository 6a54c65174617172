// Queries of backups. A status changes only by compare-and-set, so that of two concurrent changes one fails.
import type { BackupState, BackupTrigger } from "../../contract/backups/backup.ts";
import { listFilters } from "../http/list-filters.ts";
import { backupTaskQueue } from "../jobs/job-data.ts";
import type { Connection, Database } from "../store/database.ts";
import {
  and,
  asc,
  desc,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  max,
  ne,
  notInArray,
  or,
  sql,
  type SQL,
} from "../store/drizzle.ts";
import { createFilteredRows, type ListRequest } from "../store/filtered-rows.ts";
import { insertedRow } from "../store/rows.ts";
import { backupConfigurations as configurations, backups } from "../store/tables/backups.ts";
import type { ConfigurationRow } from "./configuration-store.ts";

export type BackupRow = typeof backups.$inferSelect;
type NewBackupRow = Pick<
  typeof backups.$inferInsert,
  "configuration_id" | "storage_provider_id" | "trigger" | "started_at"
>;
/** Fields that may be changed without a change of status. */
export type BackupChange = Partial<
  Omit<typeof backups.$inferInsert, "id" | "configuration_id" | "transition" | "status">
>;

const isFinishedRun = and(
  eq(backups.status, "finished"),
  notInArray(backups.trigger, ["safety", "copy"]),
);

export function createBackupStore(db: Database) {
  const readList = createFilteredRows(db, backups, listFilters.listBackups, {
    id: backups.id,
    search: [
      sql`'backup'`,
      backups.id,
      backups.trigger,
      backups.path,
      backups.status_reason,
      sql`case when ${backups.pinned_at} is not null then 'pinned' end`,
    ],
    status: sql`case when ${backups.status} = 'finished' and ${backups.damage} is not null then 'damaged'
      else ${backups.status} end`,
    sorts: { size: backups.size },
  });
  const running = async (condition: ReturnType<typeof sql>): Promise<BackupRow[]> => {
    const rows = await db
      .select({ backup: backups })
      .from(backups)
      .innerJoin(configurations, eq(configurations.id, backups.configuration_id))
      .where(
        and(
          or(
            // A run that waits for its copy has already ended its own work.
            and(eq(backups.status, "running"), isNull(backups.ended_at)),
            and(eq(backups.status, "pending"), eq(backups.trigger, "safety")),
          ),
          // An import has a task of its own, or its file is being uploaded: see `createImportStore`.
          ne(backups.trigger, "import"),
          condition,
        ),
      );
    return rows.map(({ backup }) => backup);
  };

  return {
    /** Runs steps in a transaction, which is rolled back, including sent jobs, if they throw. */
    transaction: <Result>(steps: (tx: Connection) => Promise<Result>): Promise<Result> =>
      db.transaction(steps),

    async byId(id: number): Promise<BackupRow | null> {
      const [row] = await db.select().from(backups).where(eq(backups.id, id));
      return row ?? null;
    },

    async lock(tx: Connection, id: number): Promise<BackupRow | null> {
      const [row] = await tx.select().from(backups).where(eq(backups.id, id)).for("update");
      return row ?? null;
    },

    async withConfiguration(
      id: number,
    ): Promise<{ backup: BackupRow; configuration: ConfigurationRow } | null> {
      const [row] = await db
        .select({ backup: backups, configuration: configurations })
        .from(backups)
        .innerJoin(configurations, eq(configurations.id, backups.configuration_id))
        .where(eq(backups.id, id));
      return row ?? null;
    },

    /** Lists backups without the copies of listed runs, which are shown with their runs. */
    list: (configurationId: number, page: ListRequest) =>
      readList(
        and(eq(backups.configuration_id, configurationId), isNull(backups.copy_of_id)),
        page,
      ),

    /** Returns the newest backups of each configuration, except copies, newest first, without their manifests. */
    async newest(configurationIds: readonly number[], limit: number): Promise<BackupRow[]> {
      if (configurationIds.length === 0) return [];
      // Uses the index for each configuration, instead of numbering all rows.
      const { rows } = await db.execute<{ id: number }>(sql`
        select newest.id
        from unnest(${sql.param(configurationIds)}::int[]) as wanted(id),
          lateral (
            select id from backups where configuration_id = wanted.id and trigger <> 'copy' order by id desc limit ${limit}
          ) newest`);
      const ids = rows.map(({ id }) => id);
      if (ids.length === 0) return [];
      return db.select().from(backups).where(inArray(backups.id, ids)).orderBy(desc(backups.id));
    },

    /** Returns the finished backups of a configuration, newest first. */
    finished: (
      configurationId: number,
      limit?: number,
      tx: Connection = db,
    ): Promise<BackupRow[]> => {
      const query = tx
        .select()
        .from(backups)
        .where(and(eq(backups.configuration_id, configurationId), eq(backups.status, "finished")))
        .orderBy(desc(backups.id));
      return limit === undefined ? query : query.limit(limit);
    },

    /** Like `finished`, without safety backups and copies: for restores, and for comparison with a new run. */
    finishedRuns: (configurationId: number, limit: number): Promise<BackupRow[]> =>
      db
        .select()
        .from(backups)
        .where(and(eq(backups.configuration_id, configurationId), isFinishedRun))
        .orderBy(desc(backups.id))
        .limit(limit),

    /** Returns when the newest finished run of each configuration ended; configurations without one are absent. */
    async lastFinished(configurationIds: readonly number[]): Promise<Map<number, Date>> {
      if (configurationIds.length === 0) return new Map();
      const { rows } = await db.execute<{ id: number; at: string }>(sql`
        select wanted.id, last.ended_at as at
        from unnest(${sql.param([...configurationIds])}::int[]) as wanted(id),
          lateral (
            select ended_at from backups
            where configuration_id = wanted.id and status = 'finished' and trigger not in ('safety', 'copy')
            order by id desc limit 1
          ) last
        where last.ended_at is not null`);
      return new Map(rows.map(({ id, at }) => [id, new Date(at)]));
    },

    /** Returns the paths of a storage's newest finished backups. */
    async newestPaths(providerId: number, limit: number): Promise<string[]> {
      const rows = await db
        .select({ path: backups.path })
        .from(backups)
        .where(and(eq(backups.storage_provider_id, providerId), eq(backups.status, "finished")))
        .orderBy(desc(backups.id))
        .limit(limit);
      return rows.map(({ path }) => path);
    },

    /** Number of pinned backups of a configuration. */
    async pinned(tx: Connection, configurationId: number): Promise<number> {
      const rows = await tx
        .select({ id: backups.id })
        .from(backups)
        .where(and(eq(backups.configuration_id, configurationId), isNotNull(backups.pinned_at)));
      return rows.length;
    },

    /** Whether a file for an import of a configuration is being uploaded. */
    async isReceiving(tx: Connection, configurationId: number): Promise<boolean> {
      const rows = await tx
        .select({ id: backups.id })
        .from(backups)
        .where(
          and(
            eq(backups.configuration_id, configurationId),
            eq(backups.trigger, "import"),
            inArray(backups.status, ["pending", "running"]),
          ),
        )
        .limit(1);
      return rows.length > 0;
    },

    /** Returns when the last lock of a configuration's backups ends, of those that are locked at `at`; null = none is. */
    async lockedUntil(tx: Connection, configurationId: number, at: Date): Promise<Date | null> {
      const [last] = await tx
        .select({ until: max(backups.locked_until) })
        .from(backups)
        .where(and(eq(backups.configuration_id, configurationId), gt(backups.locked_until, at)));
      return last?.until ?? null;
    },

    /** Returns all backups that have, or may have, a file. */
    withFiles: (configurationId: number): Promise<BackupRow[]> =>
      db
        .select()
        .from(backups)
        .where(and(eq(backups.configuration_id, configurationId), ne(backups.path, "")))
        .orderBy(asc(backups.id)),

    /** Returns the backups of a server with the status `running`, and pending safety backups, which have no task. */
    cutOff: (serverId: number): Promise<BackupRow[]> =>
      running(sql`${configurations.server_id} = ${serverId}`),

    /** Returns the server of a backup. */
    async serverIdOf(tx: Connection, { configuration_id }: BackupRow): Promise<number> {
      const [row] = await tx
        .select({ id: configurations.server_id })
        .from(configurations)
        .where(eq(configurations.id, configuration_id));
      if (row === undefined) throw new Error("A backup has no configuration.");
      return row.id;
    },

    /** Like `cutOff`, for all servers without a claimed task. */
    orphans: (): Promise<BackupRow[]> =>
      running(sql`not exists (
        select from pgboss.job j where j.name = ${backupTaskQueue} and j.state in ('retry', 'active')
          and j.singleton_key = ${configurations.server_id}::text)`),

    async insert(tx: Connection, values: NewBackupRow): Promise<BackupRow> {
      const rows = await tx
        .insert(backups)
        .values({ ...values, status: "pending" })
        .returning();
      return insertedRow(rows);
    },

    /** Inserts a pending run for each configuration. @returns the ids of the runs, in no particular order */
    async insertWaiting(
      tx: Connection,
      configurationIds: readonly number[],
      trigger: BackupTrigger,
      at: Date,
    ): Promise<Pick<BackupRow, "id" | "configuration_id">[]> {
      const { rows } = await tx.execute<Pick<BackupRow, "id" | "configuration_id">>(sql`
        insert into ${backups} (configuration_id, storage_provider_id, trigger, status, started_at)
        select id, storage_provider_id, ${trigger}, 'pending', ${at.toISOString()}::timestamptz
        from ${configurations} where id = any(${sql.param([...configurationIds])}::int[])
        returning id, configuration_id`);
      return rows;
    },

    /**
     * Changes the status of a backup from the given row.
     * @returns the new row; null where the status was changed meanwhile
     */
    async move(
      tx: Connection,
      from: Pick<BackupRow, "id" | "transition">,
      status: BackupState,
      change: BackupChange = {},
    ): Promise<BackupRow | null> {
      const [row] = await tx
        .update(backups)
        .set({ ...change, status, transition: sql`${backups.transition} + 1` })
        .where(and(eq(backups.id, from.id), eq(backups.transition, from.transition)))
        .returning();
      return row ?? null;
    },

    async update(tx: Connection, id: number, change: BackupChange): Promise<void> {
      await tx.update(backups).set(change).where(eq(backups.id, id));
    },

    /** Stores the progress of a run, unless it has ended. @param isOwn SQL: whether the runner still has the claim */
    async progress(id: number, change: BackupChange, isOwn: SQL): Promise<void> {
      await db
        .update(backups)
        .set(change)
        .where(and(eq(backups.id, id), eq(backups.status, "running"), isOwn));
    },

    async remove(tx: Connection, from: Pick<BackupRow, "id" | "transition">): Promise<void> {
      await tx
        .delete(backups)
        .where(and(eq(backups.id, from.id), eq(backups.transition, from.transition)));
    },
  };
}

export type BackupStore = ReturnType<typeof createBackupStore>;
