// The configurations' rows. A status changes by compare-and-set only, so that two deciders cannot both win.
import { rangeOf } from "../../contract/paging.ts";
import type { BackupConfigurationState } from "../../contract/backups/backup.ts";
import { listFilters } from "../http/list-filters.ts";
import type { Connection, Database } from "../store/database.ts";
import { and, asc, desc, eq, inArray, isNotNull, isNull, lte, min, sql } from "../store/drizzle.ts";
import { createFilteredRows, type ListRequest, type Rows } from "../store/filtered-rows.ts";
import { insertedRow } from "../store/rows.ts";
import {
  backupConfigurations as configurations,
  backups,
  databases,
  newestBackups,
  servers,
  sites,
} from "../store/tables.ts";
import { isCopyMissing } from "./copy-missing.ts";

export type ConfigurationRow = typeof configurations.$inferSelect;
type NewConfigurationRow = Omit<typeof configurations.$inferInsert, "id" | "transition" | "status">;
/** What a move of the status may write beside it. */
export type ConfigurationChange = Partial<
  Omit<typeof configurations.$inferInsert, "id" | "transition" | "status">
>;

/** Undefined leaves the index of moments to PostgreSQL, which need not look at the servers then. */
export const isNotOn = (elsewhere: readonly number[]) =>
  elsewhere.length === 0
    ? undefined
    : sql`${configurations.server_id} <> all(${sql.param([...elsewhere])}::int[])`;

/** What says whether a run of it is overdue, or put off for too long. */
export type WatchedConfiguration = {
  id: number;
  serverId: number;
  frequency: string;
  timeZone: string;
  /** When its newest run began; before the first one, when it was made. Of a schedule or time zone that is newer, since when it is so. */
  begun: Date;
  /** Null where a deletion took it away that failed. */
  nextRunAt: Date | null;
  /** Whether a run is known to be missed. */
  isMissed: boolean;
};

export type DueConfiguration = { configuration: ConfigurationRow; timeZone: string };
/** A moment of a schedule that has come, and the one after it; null = there is none. */
export type Moment = { configuration: ConfigurationRow; next: Date | null };

/** What its newest run makes of one that is installed; safety backups are no runs. Null where there was none yet. */
const statusOfRuns = sql`(
  select case
    when run.status in ('pending', 'running') then 'running'
    when run.status = 'failed' or run.is_damaged
      or run.status is not null and ${configurations.missed_since} is not null
      or ${isCopyMissing(sql`${configurations}`, sql`run`)} then 'failing'
    end
  from ${newestBackups} run where run.configuration_id = ${configurations.id})`;

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
        else coalesce(${statusOfRuns}, case when ${configurations.missed_since} is not null then 'failing' end,
          'installed') end`,
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
     * What saves a database or site before something is restored over it: its newest configuration that works and makes
     * backups, not one of adopted or imported files, or one whose newest run failed; or else its newest.
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

    /** Those whose next run has come, with the time zone of their server. @param elsewhere servers that are left out */
    due: (now: Date, elsewhere: readonly number[]): Promise<DueConfiguration[]> =>
      db
        .select({
          configuration: configurations,
          timeZone: sql<string>`coalesce(${servers.entry} ->> 'time_zone', 'UTC')`,
        })
        .from(configurations)
        .innerJoin(servers, eq(servers.id, configurations.server_id))
        .where(and(lte(configurations.next_run_at, now), isNotOn(elsewhere)))
        .orderBy(asc(configurations.next_run_at)),

    /** Of all schedules that are in force; null where there is none. @param elsewhere servers that are left out */
    async nextMoment(elsewhere: readonly number[]): Promise<Date | null> {
      const [row] = await db
        .select({ at: min(configurations.next_run_at) })
        .from(configurations)
        .where(isNotOn(elsewhere));
      return row?.at ?? null;
    },

    /**
     * Notes which schedules have another time zone than at the last look: what it says of earlier moments is nothing.
     * @param latest what was noted of later moments was noted by a clock that was ahead
     */
    async noteZones(now: Date, latest: Date): Promise<void> {
      await db.execute(sql`
        update ${configurations} set schedule_zone = zone.name,
          schedule_since = case when ${configurations.schedule_zone} is null then ${configurations.schedule_since} else ${now.toISOString()}::timestamptz end
        from (select id, coalesce(entry ->> 'time_zone', 'UTC') as name from ${servers}) zone
        where zone.id = ${configurations.server_id} and (${configurations.schedule_zone} is distinct from zone.name
          or ${configurations.schedule_since} > ${latest.toISOString()}::timestamptz)`);
    },

    /** Those with a schedule in force, or that should have one. */
    async watched(): Promise<WatchedConfiguration[]> {
      const { rows } = await db.execute<{
        id: number;
        server_id: number;
        frequency: string;
        time_zone: string;
        begun: string;
        next_run_at: string | null;
        is_missed: boolean;
      }>(sql`
        select ${configurations.id}, ${configurations.server_id}, ${configurations.frequency},
          coalesce(${servers.entry} ->> 'time_zone', 'UTC') as time_zone,
          greatest(coalesce(newest.begun_at, ${configurations.created_at}), ${configurations.schedule_since}) as begun,
          ${configurations.next_run_at}, ${configurations.missed_since} is not null as is_missed
        from ${configurations} join ${servers} on ${servers.id} = ${configurations.server_id}
          left join ${newestBackups} newest on newest.configuration_id = ${configurations.id}
        where ${configurations.next_run_at} is not null
          or ${configurations.status} = 'installed' and ${configurations.adopted_at} is null`);
      return rows.map(({ id, server_id, frequency, time_zone, begun, next_run_at, is_missed }) => ({
        id,
        serverId: server_id,
        frequency,
        timeZone: time_zone,
        begun: new Date(begun),
        nextRunAt: next_run_at === null ? null : new Date(next_run_at),
        isMissed: is_missed,
      }));
    },

    /** Puts another next moment in place of the one that was read. @returns false when somebody else changed that before */
    async setMoment(
      { id, nextRunAt }: Pick<WatchedConfiguration, "id" | "nextRunAt">,
      next: Date | null,
    ): Promise<boolean> {
      const rows = await db
        .update(configurations)
        .set({ next_run_at: next })
        .where(
          and(
            eq(configurations.id, id),
            nextRunAt === null
              ? and(isNull(configurations.next_run_at), eq(configurations.status, "installed"))
              : eq(configurations.next_run_at, nextRunAt),
          ),
        )
        .returning({ id: configurations.id });
      return rows.length > 0;
    },

    async insert(tx: Connection, values: NewConfigurationRow): Promise<ConfigurationRow> {
      const rows = await tx
        .insert(configurations)
        .values({ ...values, status: "installing" })
        .returning();
      return insertedRow(rows);
    },

    /**
     * Moves a configuration on from the row as it was read.
     * @returns the new row, or null when somebody else moved it first
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

    /**
     * Puts the next moment of schedules in place of those that were read, and locks the configurations until the transaction ends.
     * @returns those of which nobody else took the moment, or changed the schedule, before
     */
    async takeMoments(tx: Connection, moments: readonly Moment[]): Promise<ConfigurationRow[]> {
      const read = new Map(moments.map((moment) => [moment.configuration.id, moment]));
      const locked = await tx
        .select()
        .from(configurations)
        .where(inArray(configurations.id, [...read.keys()]))
        // Whoever takes several at once takes them in this order.
        .orderBy(asc(configurations.id))
        .for("update");
      const taken = locked.flatMap((row) => {
        const moment = read.get(row.id);
        const isAsRead =
          row.next_run_at !== null &&
          row.next_run_at.getTime() === moment?.configuration.next_run_at?.getTime();
        return isAsRead ? [{ ...row, next_run_at: moment.next }] : [];
      });
      await tx.execute(sql`
        update ${configurations} set next_run_at = taken.next_run_at
        from json_to_recordset(${JSON.stringify(taken.map(({ id, next_run_at }) => ({ id, next_run_at })))}::json)
          as taken(id int, next_run_at timestamptz)
        where ${configurations.id} = taken.id`);
      return taken;
    },

    /** @returns false when it was known already */
    async setMissed(tx: Connection, id: number, since: Date): Promise<boolean> {
      const rows = await tx
        .update(configurations)
        .set({ missed_since: since })
        .where(and(eq(configurations.id, id), isNull(configurations.missed_since)))
        .returning({ id: configurations.id });
      return rows.length > 0;
    },

    /** @returns whether a run had been overdue until now */
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

    async setProven(tx: Connection, id: number, at: Date): Promise<void> {
      await tx.update(configurations).set({ last_proven_at: at }).where(eq(configurations.id, id));
    },

    /** Removes the row and those of its backups; files are not its business. */
    async remove(tx: Connection, id: number): Promise<void> {
      await tx.delete(backups).where(eq(backups.configuration_id, id));
      await tx.delete(configurations).where(eq(configurations.id, id));
    },
  };
}

export type ConfigurationStore = ReturnType<typeof createConfigurationStore>;
