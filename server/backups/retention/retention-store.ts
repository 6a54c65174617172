// Queries of retention, other than of the finished backups of a configuration.
import type { Connection, Database } from "../../store/database.ts";
import { and, eq, isNull, lt, lte, ne, or } from "../../store/drizzle.ts";
import { backups } from "../../store/tables/backups.ts";
import type { BackupRow } from "../backup-store.ts";

export function createRetentionStore(db: Database) {
  return {
    /** Removes failed runs that are older than a backup. One with a path is a failed removal, and still has a file. */
    async removeFailedBefore(tx: Connection, configurationId: number, id: number): Promise<void> {
      await tx
        .delete(backups)
        .where(
          and(
            eq(backups.configuration_id, configurationId),
            eq(backups.status, "failed"),
            eq(backups.path, ""),
            lt(backups.id, id),
          ),
        );
    },

    /** Returns the backups of a configuration whose removal failed. */
    notRemoved: (tx: Connection, configurationId: number): Promise<BackupRow[]> =>
      tx
        .select()
        .from(backups)
        .where(
          and(
            eq(backups.configuration_id, configurationId),
            eq(backups.status, "failed"),
            ne(backups.path, ""),
          ),
        ),

    /** Returns configurations with a backup whose removal failed, or a safety backup that ended before a moment. */
    async configurationsToSweep(before: Date): Promise<number[]> {
      const rows = await db
        .selectDistinct({ id: backups.configuration_id })
        .from(backups)
        .where(
          or(
            and(eq(backups.status, "failed"), ne(backups.path, "")),
            and(
              eq(backups.status, "finished"),
              eq(backups.trigger, "safety"),
              isNull(backups.pinned_at),
              lte(backups.ended_at, before),
            ),
          ),
        );
      return rows.map(({ id }) => id);
    },
  };
}

export type RetentionStore = ReturnType<typeof createRetentionStore>;
