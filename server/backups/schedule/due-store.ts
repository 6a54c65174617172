// What is due by the clock: the weekly look at a stored file, and the restore drills.
import type { Database } from "../../store/database.ts";
import { and, eq, inArray, notBetween, sql, type SQL } from "../../store/drizzle.ts";
import {
  backupConfigurations as configurations,
  backups,
  newestBackups,
} from "../../store/tables.ts";
import type { BackupRow } from "../backup-store.ts";
import { isNotOn } from "../configuration-store.ts";

/** When a file was looked at. */
export type LookedAt = { since: Date; until: Date };

export function createDueStore(db: Database) {
  return {
    /**
     * Of each configuration the newest finished backup of a run, or where there is none, the newest safety backup: those
     * whose file nobody looked at within a time. A damaged one may be whole again.
     * @param elsewhere servers that are left out
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
     * Of each configuration with drills whose last proof is old enough the newest finished run, unless it is drilled just now.
     * @param latest what was noted of later moments counts for nothing
     * @param elsewhere servers that are left out
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
