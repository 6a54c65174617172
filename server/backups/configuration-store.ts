// Queries of configurations. A status changes only by compare-and-set, so that of two concurrent changes one fails.
import { rangeOf } from "../../contract/paging.ts";
import type { BackupConfigurationState } from "../../contract/backups/backup.ts";
import { listFilters } from "../http/list-filters.ts";
import type { Connection, Database } from "../store/database.ts";
import {
  and,
  desc,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  notExists,
  sql,
  type PgColumn,
} from "../store/drizzle.ts";
import { createFilteredRows, type ListRequest, type Rows } from "../store/filtered-rows.ts";
import { insertedRow } from "../store/rows.ts";
import {
  backupConfigurations as configurations,
  backups,
  newestBackups,
} from "../store/tables/backups.ts";
import { databases, sites } from "../store/tables/inventory.ts";
import { isCopyMissing } from "./copies/copy-missing.ts";

type DrilledBackup = Pick<typeof backups.$inferSelect, "id" | "configuration_id">;

export type ConfigurationRow = typeof configurations.$inferSelect;
type NewConfigurationRow = Omit<typeof configurations.$inferInsert, "id" | "transition" | "status">;
/** Fields that may be changed together with the status. */
export type ConfigurationChange = Partial<
  Omit<typeof configurations.$inferInsert, "id" | "transition" | "status">
>;

/** SQL condition; undefined for no servers, so that PostgreSQL can use the index of due times alone. */
export const isNotOn = (elsewhere: readonly number[]) =>
  elsewhere.length === 0
    ? undefined
    : sql`${configurations.server_id} <> all(${sql.param([...elsewhere])}::int[])`;

/** Status of an installed configuration according to its newest run; null where there was none yet. Safety backups are no runs. */
const statusOfRuns = sql`(
  select case
    when run.status in ('pending', 'running') then 'running'
    when run.status = 'failed' or run.is_damaged
      or run.status is not null and ${configurations.missed_since} is not null
      or ${isCopyMissing(sql`${configurations}`, sql`run`)} then 'failing'
    end
  from ${newestBackups} run where run.configuration_id = ${configurations.id})`;

/** Whether a configuration that makes backups has no good run yet. */
const isUnprotected = sql`(${configurations.adopted_at} is null and not exists (
  select from ${newestBackups} run where run.configuration_id = ${configurations.id} and run.good_id is not null))`;

/** Whether there is a warning, as `warningsOf` tells, or a restore drill failed or is overdue by a quarter of its days, as `protectionOf` tells. */
const isWarned = sql`(${configurations.install_warnings} <> '{}' or exists (
  select from ${newestBackups} run where run.configuration_id = ${configurations.id} and (
    jsonb_path_exists(run.runs, '$[*] ? (@.damage != null || @.status == "finished" && @.warnings.size() > 0)')
    or ${configurations.failed_drill_id} is not null
      and (${configurations.drill} is not null or ${configurations.failed_drill_id} >= run.good_id)
    or coalesce(${configurations.last_proven_at}, run.oldest_ended_at) < now() - ${configurations.drill} * interval '30 hours')))`;

export function createConfigurationStore(db: Database) {
  const selectPage = db
    .select()
    .from(configurations)
    .where(eq(configurations.server_id, sql.placeholder("serverId")))
    .orderBy(desc(configurations.id))
    .limit(sql.placeholder("limit"))
    .offset(sql.placeholder("offset"))
    .prepare("backup_configurations_of_server");
  const readFiltered = createFilteredRows(
    db,
    configurations,
    listFilters.listBackupConfigurations,
    {
      id: configurations.id,
      search: [
        configurations.name,
        configurations.type,
        sql`(select name from ${databases} where id = ${configurations.database_id})`,
        sql`(select name from ${sites} where id = ${configurations.site_id})`,
        configurations.directory,
      ],
      status: sql`case when ${configurations.status} <> 'installed' then ${configurations.status}
        else coalesce(${statusOfRuns}, case when ${configurations.missed_since} is not null then 'failing'
          when ${isUnprotected} then 'unprotected' when ${isWarned} then 'warning' end, 'installed') end`,
      sorts: { name: sql`lower(${configurations.name})`, next_run_at: configurations.next_run_at },
    },
  );

  return {
    async list(serverId: number, page: ListRequest): Promise<Rows<ConfigurationRow>> {
      if (page.wanted) return readFiltered(eq(configurations.server_id, serverId), page);
      const [rows, total] = await Promise.all([
        selectPage.execute({ serverId, ...rangeOf(page) }),
        db.$count(configurations, eq(configurations.server_id, serverId)),
      ]);
      return { rows, total };
    },

    async byId(id: number): Promise<ConfigurationRow | null> {
      const [row] = await db.select().from(configurations).where(eq(configurations.id, id));
      return row ?? null;
    },

    /**
     * Returns the configuration for the safety backup of a database or site: the newest that works and makes backups, not one for adopted
     * or imported files, or one whose newest run failed; otherwise the newest.
     */
    async saverOf({
      database_id,
      site_id,
    }: Pick<ConfigurationRow, "database_id" | "site_id">): Promise<ConfigurationRow | null> {
      const [row] = await db
        .select()
        .from(configurations)
        .where(
          and(
            database_id === null
              ? eq(configurations.site_id, site_id ?? 0)
              : eq(configurations.database_id, database_id),
            inArray(configurations.status, ["installed", "failed"]),
          ),
        )
        .orderBy(
          desc(sql`${configurations.status} = 'installed'`),
          desc(sql`${configurations.adopted_at} is null`),
          sql`exists (select from ${newestBackups} run
            where run.configuration_id = ${configurations.id} and run.status = 'failed')`,
          desc(configurations.id),
        )
        .limit(1);
      return row ?? null;
    },

    /**
     * Locks a row until the transaction ends.
     *
     * A transaction that changes a backup or its task as well must lock the configuration first: two transactions that lock
     * them in different orders deadlock.
     */
    async lock(tx: Connection, id: number): Promise<ConfigurationRow | null> {
      const [row] = await tx
        .select()
        .from(configurations)
        .where(eq(configurations.id, id))
        .for("update");
      return row ?? null;
    },

    async insert(tx: Connection, values: NewConfigurationRow): Promise<ConfigurationRow> {
      const rows = await tx
        .insert(configurations)
        .values({ ...values, status: "installing" })
        .returning();
      return insertedRow(rows);
    },

    /**
     * Changes the status of a configuration from the given row.
     * @returns the new row; null where the status was changed meanwhile
     */
    async move(
      tx: Connection,
      from: ConfigurationRow,
      status: BackupConfigurationState,
      change: ConfigurationChange,
    ): Promise<ConfigurationRow | null> {
      const [row] = await tx
        .update(configurations)
        .set({
          ...change,
          status,
          ...(status !== from.status && { status_since: sql`now()` }),
          transition: sql`${configurations.transition} + 1`,
        })
        .where(and(eq(configurations.id, from.id), eq(configurations.transition, from.transition)))
        .returning();
      return row ?? null;
    },

    /** @returns false where it was already set */
    async setMissed(tx: Connection, id: number, since: Date): Promise<boolean> {
      const rows = await tx
        .update(configurations)
        .set({ missed_since: since })
        .where(and(eq(configurations.id, id), isNull(configurations.missed_since)))
        .returning({ id: configurations.id });
      return rows.length > 0;
    },

    /** @returns whether a run was overdue until now */
    async clearMissed(tx: Connection, id: number): Promise<boolean> {
      const rows = await tx
        .update(configurations)
        .set({ missed_since: null })
        .where(and(eq(configurations.id, id), isNotNull(configurations.missed_since)))
        .returning({ id: configurations.id });
      return rows.length > 0;
    },

    async setInstallWarnings(tx: Connection, id: number, warnings: string[]): Promise<void> {
      await tx
        .update(configurations)
        .set({ install_warnings: warnings })
        .where(eq(configurations.id, id));
    },

    /** Stores that a drill passed. */
    async setProven(
      tx: Connection,
      { id, configuration_id }: DrilledBackup,
      at: Date,
    ): Promise<void> {
      const unlessOlder = (column: PgColumn) =>
        sql`case when ${configurations.failed_drill_id} > ${id} then ${column} end`;
      await tx
        .update(configurations)
        .set({
          last_proven_at: at,
          failed_drill_id: unlessOlder(configurations.failed_drill_id),
          failed_drill_at: unlessOlder(configurations.failed_drill_at),
        })
        .where(eq(configurations.id, configuration_id));
    },

    /** Stores that a drill failed, unless one of a newer backup passed or failed before. */
    async setDrillFailed(
      tx: Connection,
      { id, configuration_id }: DrilledBackup,
      at: Date,
    ): Promise<void> {
      const newerPassed = tx
        .select()
        .from(backups)
        .where(
          and(
            eq(backups.configuration_id, configuration_id),
            gt(backups.id, id),
            eq(backups.drill_status, "finished"),
          ),
        );
      await tx
        .update(configurations)
        .set({ failed_drill_id: id, failed_drill_at: at })
        .where(
          and(
            eq(configurations.id, configuration_id),
            sql`${configurations.failed_drill_id} > ${id} is not true`,
            notExists(newerPassed),
          ),
        );
    },

    /** Removes the row and those of its backups, but no files. */
    async remove(tx: Connection, id: number): Promise<void> {
      await tx.delete(backups).where(eq(backups.configuration_id, id));
      await tx.delete(configurations).where(eq(configurations.id, id));
    },
  };
}

export type ConfigurationStore = ReturnType<typeof createConfigurationStore>;
