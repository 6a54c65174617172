// Queries of schedules, which are stored with their configurations: which are due, which comes next, which are watched.
import type { Connection, Database } from "../../store/database.ts";
import { and, asc, eq, inArray, isNull, lte, min, sql } from "../../store/drizzle.ts";
import {
  backupConfigurations as configurations,
  newestBackups,
} from "../../store/tables/backups.ts";
import { servers } from "../../store/tables/inventory.ts";
import { isNotOn, type ConfigurationRow } from "../configuration-store.ts";

/** Data that determines whether a run is overdue, or its next run is stored too late. */
export type WatchedConfiguration = {
  id: number;
  serverId: number;
  frequency: string;
  timeZone: string;
  /**
   * When the newest run began; before the first run, when the configuration was created; after a change of the schedule or time
   * zone, the time of that change.
   */
  begun: Date;
  /** Null where a deletion that failed has removed it. */
  nextRunAt: Date | null;
  /** Whether a missed run was recorded. */
  isMissed: boolean;
};

export type DueConfiguration = { configuration: ConfigurationRow; timeZone: string };
/** A due time of a schedule, and the time after it; null = there is none. */
export type Moment = { configuration: ConfigurationRow; next: Date | null };

export function createScheduleStore(db: Database) {
  return {
    /**
     * @param elsewhere servers that are left out
     * @returns due configurations, with the time zone of their server
     */
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

    /**
     * @param elsewhere servers that are left out
     * @returns the earliest next time of all active schedules; null = none
     */
    async nextMoment(elsewhere: readonly number[]): Promise<Date | null> {
      const [row] = await db
        .select({ at: min(configurations.next_run_at) })
        .from(configurations)
        .where(isNotOn(elsewhere));
      return row?.at ?? null;
    },

    /**
     * Stores which schedules have a new time zone, because what was stored about earlier times no longer applies.
     * @param latest times later than this were stored by a clock that was ahead
     */
    async noteZones(now: Date, latest: Date): Promise<void> {
      await db.execute(sql`
        update ${configurations} set schedule_zone = zone.name,
          schedule_since = case when ${configurations.schedule_zone} is null then ${configurations.schedule_since} else ${now.toISOString()}::timestamptz end
        from (select id, coalesce(entry ->> 'time_zone', 'UTC') as name from ${servers}) zone
        where zone.id = ${configurations.server_id} and (${configurations.schedule_zone} is distinct from zone.name
          or ${configurations.schedule_since} > ${latest.toISOString()}::timestamptz)`);
    },

    /** @returns configurations that have an active schedule, or should have one */
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

    /**
     * Replaces the next time.
     * @returns false where it was changed meanwhile
     */
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

    /**
     * Replaces the next times of schedules, and locks their configurations until the transaction ends.
     * @returns configurations whose time or schedule was not changed meanwhile
     */
    async takeMoments(tx: Connection, moments: readonly Moment[]): Promise<ConfigurationRow[]> {
      const read = new Map(moments.map((moment) => [moment.configuration.id, moment]));
      const locked = await tx
        .select()
        .from(configurations)
        .where(inArray(configurations.id, [...read.keys()]))
        // Every transaction that locks several configurations locks them in this order.
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
  };
}

export type ScheduleStore = ReturnType<typeof createScheduleStore>;
