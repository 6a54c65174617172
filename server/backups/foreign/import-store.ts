// Queries of the configurations for imported backups, and of imports whose upload was interrupted.
import { backupTaskQueue } from "../../jobs/job-data.ts";
import type { Connection, Database } from "../../store/database.ts";
import { and, desc, eq, isNotNull, isNull, ne, sql } from "../../store/drizzle.ts";
import { backupConfigurations as configurations, backups } from "../../store/tables/backups.ts";
import type { BackupRow } from "../backup-store.ts";
import { isNotOn, type ConfigurationRow } from "../configuration-store.ts";

/** Advisory lock for creating such a configuration. Taken before any other lock. */
const importLock = 7_382_148;

export function createImportStore(db: Database) {
  return {
    lock: async (tx: Connection): Promise<void> => {
      await tx.execute(sql`select pg_advisory_xact_lock(${importLock})`);
    },

    /** Returns a target's configuration of this name that has no schedule, and locks it; null = there is none. */
    async configurationOf(
      tx: Connection,
      { database_id, site_id }: Pick<ConfigurationRow, "database_id" | "site_id">,
      name: string,
    ): Promise<ConfigurationRow | null> {
      const [row] = await tx
        .select()
        .from(configurations)
        .where(
          and(
            database_id === null
              ? eq(configurations.site_id, site_id ?? 0)
              : eq(configurations.database_id, database_id),
            eq(configurations.name, name),
            isNotNull(configurations.adopted_at),
            ne(configurations.status, "removing"),
          ),
        )
        .orderBy(desc(configurations.id))
        .limit(1)
        .for("update");
      return row ?? null;
    },

    /** Lists imports with the status `running` and without a task. @param elsewhere servers of other instances */
    async withoutTask(
      elsewhere: readonly number[],
    ): Promise<{ backup: BackupRow; configuration: ConfigurationRow }[]> {
      return db
        .select({ backup: backups, configuration: configurations })
        .from(backups)
        .innerJoin(configurations, eq(configurations.id, backups.configuration_id))
        .where(
          and(
            eq(backups.trigger, "import"),
            eq(backups.status, "running"),
            // An import that waits for its copy has its file, and the task is that of the copy.
            isNull(backups.ended_at),
            isNotOn(elsewhere),
            sql`not exists (select from pgboss.job j where j.name = ${backupTaskQueue}
              and j.state in ('created', 'retry', 'active') and (j.data->>'backup_id')::int = ${backups.id})`,
          ),
        );
    },
  };
}

export type ImportStore = ReturnType<typeof createImportStore>;
