// Queries of backups that are due for a weekly verification or for a drill.
import type { Database } from "../../store/database.ts";
import { and, eq, inArray, notBetween, sql, type SQL } from "../../store/drizzle.ts";
import {
  backupConfigurations as configurations,
  backups,
  newestBackups,
} from "../../store/tables/backups.ts";
import type { BackupRow } from "../backup-store.ts";
import { isNotOn } from "../configuration-store.ts";

/** Period in which a file was verified. */
export type LookedAt = { since: Date; until: Date };

export function createDueStore(db: Database) {
  return {
    /**
     * Returns the newest finished run of each configuration or, where there is none, the newest safety backup, if its file was not verified
     * within a period. Includes damaged ones, which may be intact again.
     * @param elsewhere servers to ignore
     */
    async unverified(
      { since, until }: LookedAt,
      elsewhere: readonly number[],
    ): Promise<BackupRow[]> {
      const rows = await db
        .select({ backup: backups })
        .from(newestBackups)
        .innerJoin(backups, eq(backups.id, newestBackups.stored_id))
        .innerJoin(configurations, eq(configurations.id, newestBackups.configuration_id))
        .where(and(notBetween(newestBackups.stored_checked_at, since, until), isNotOn(elsewhere)));
      return rows.map(({ backup }) => backup);
    },

    /**
     * Returns the newest finished run of each configuration with drills whose last successful one is old enough, unless a drill is queued.
     * @param latest later stored times are ignored
     * @param elsewhere servers to ignore
     */
    async undrilled(now: Date, latest: Date, elsewhere: readonly number[]): Promise<BackupRow[]> {
      const noted = (at: SQL) =>
        sql`case when ${at} <= ${latest.toISOString()}::timestamptz then ${at} end`;
      const proven = noted(sql`${configurations.last_proven_at}`);
      const isOld = (at: SQL) => sql`coalesce(${at}, '-infinity')
        <= ${now.toISOString()}::timestamptz - ${configurations.drill} * interval '24 hours'`;
      const { rows } = await db.execute<{ id: number }>(sql`
        select newest.id
        from ${configurations},
          lateral (
            select id, drill_status, drilled_at from ${backups}
            where configuration_id = ${configurations.id} and status = 'finished' and trigger not in ('safety', 'copy')
            order by id desc limit 1
          ) newest
        where ${configurations.next_run_at} is not null and ${configurations.drill} is not null
          -- Says nothing that the last condition does not; by it the backups of few are looked at.
          and ${isOld(proven)}
          and newest.drill_status is distinct from 'running'
          and ${isOld(sql`greatest(${proven}, ${noted(sql`newest.drilled_at`)})`)}
          and ${isNotOn(elsewhere) ?? sql`true`}`);
      const ids = rows.map(({ id }) => id);
      return ids.length === 0 ? [] : db.select().from(backups).where(inArray(backups.id, ids));
    },
  };
}

export type DueStore = ReturnType<typeof createDueStore>;
