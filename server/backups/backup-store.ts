// The backups' rows. A status changes by compare-and-set only, so that two deciders cannot both win.
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
import { backupConfigurations as configurations, backups } from "../store/tables.ts";
import type { ConfigurationRow } from "./configuration-store.ts";

export type BackupRow = typeof backups.$inferSelect;
type NewBackupRow = Pick<
  typeof backups.$inferInsert,
  "configuration_id" | "storage_provider_id" | "trigger" | "started_at"
>;
/** What may be written without a change of status. */
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
            // A run that waits for its copy has ended all that was its own.
            and(eq(backups.status, "running"), isNull(backups.ended_at)),
            and(eq(backups.status, "pending"), eq(backups.trigger, "safety")),
          ),
          // It has a task of its own, or somebody is sending its file: see `createImportStore`.
          ne(backups.trigger, "import"),
          condition,
        ),
      );
    return rows.map(({ backup }) => backup);
  };

  return {
    /** Runs several steps as one; what is sent or written in it is undone if it throws. */
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

    /** Without the copies of runs that are there: those are shown with them. */
    list: (configurationId: number, page: ListRequest) =>
      readList(
        and(eq(backups.configuration_id, configurationId), isNull(backups.copy_of_id)),
        page,
      ),

    /** The newest backups of each configuration that are no copies, newest first, without their manifests. */
    async newest(configurationIds: readonly number[], limit: number): Promise<BackupRow[]> {
      if (configurationIds.length === 0) return [];
      // Each configuration's newest by its index, instead of numbering all the rows there are.
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

    /** The finished backups of a configuration, newest first. */
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

    /** The same without safety backups and copies: what a restore would take, and what a new run is held against. */
    finishedRuns: (configurationId: number, limit: number): Promise<BackupRow[]> =>
      db
        .select()
        .from(backups)
        .where(and(eq(backups.configuration_id, configurationId), isFinishedRun))
        .orderBy(desc(backups.id))
        .limit(limit),

    /** When the newest of those of each configuration ended; configurations without one are not in it. */
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

    /** Where the files of a storage's newest finished backups are. */
    async newestPaths(providerId: number, limit: number): Promise<string[]> {
      const rows = await db
        .select({ path: backups.path })
        .from(backups)
        .where(and(eq(backups.storage_provider_id, providerId), eq(backups.status, "finished")))
        .orderBy(desc(backups.id))
        .limit(limit);
      return rows.map(({ path }) => path);
    },

    /** How many backups of a configuration are pinned. */
    async pinned(tx: Connection, configurationId: number): Promise<number> {
      const rows = await tx
        .select({ id: backups.id })
        .from(backups)
        .where(and(eq(backups.configuration_id, configurationId), isNotNull(backups.pinned_at)));
      return rows.length;
    },

    /** Whether a request sends the file of an import of a configuration. */
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

    /** Until when the last of a configuration is locked that is locked at a moment; null = none is. */
    async lockedUntil(tx: Connection, configurationId: number, at: Date): Promise<Date | null> {
      const [last] = await tx
        .select({ until: max(backups.locked_until) })
        .from(backups)
        .where(and(eq(backups.configuration_id, configurationId), gt(backups.locked_until, at)));
      return last?.until ?? null;
    },

    /** All that have, or may have, a file. */
    withFiles: (configurationId: number): Promise<BackupRow[]> =>
      db
        .select()
        .from(backups)
        .where(and(eq(backups.configuration_id, configurationId), ne(backups.path, "")))
        .orderBy(asc(backups.id)),

    /** Rows of a server that say that they run, also a safety copy that had not begun; no task waits for it. */
    cutOff: (serverId: number): Promise<BackupRow[]> =>
      running(sql`${configurations.server_id} = ${serverId}`),

    /** The server that a backup is of. */
    async serverIdOf(tx: Connection, { configuration_id }: BackupRow): Promise<number> {
      const [row] = await tx
        .select({ id: configurations.server_id })
        .from(configurations)
        .where(eq(configurations.id, configuration_id));
      if (row === undefined) throw new Error("A backup has no configuration.");
      return row.id;
    },

    /** The same of all servers that nobody works on. */
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

    /** Inserts runs that wait, however many, by the ids of their configurations. @returns their own, in no order */
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
     * Moves a backup on from the row as it was read.
     * @returns the new row, or null when somebody else moved it first
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

    /** What a run did so far; nothing once it is over. @param isOwn whether it is still its runner's */
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
