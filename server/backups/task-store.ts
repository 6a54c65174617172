// The heavy jobs that wait or run. A row is the job: it is there exactly as long as there is something to do.
import type { Connection, Database } from "../store/database.ts";
import { and, asc, eq, isNotNull, isNull, or, sql } from "../store/drizzle.ts";
import {
  backupConfigurations as configurations,
  backups,
  backupTasks as tasks,
  type BackupTaskKind,
} from "../store/tables.ts";

export type TaskRow = typeof tasks.$inferSelect;
export type Target = { database_id: number | null; site_id: number | null };

export function createTaskStore(db: Database) {
  return {
    async insert(
      tx: Connection,
      task: Pick<
        typeof tasks.$inferInsert,
        "server_id" | "backup_id" | "kind" | "skip_safety_backup"
      >,
    ): Promise<TaskRow> {
      const [row] = await tx.insert(tasks).values(task).returning();
      if (row === undefined) throw new Error("An insert answered no row.");
      return row;
    },

    async byId(id: number): Promise<TaskRow | null> {
      const [row] = await db.select().from(tasks).where(eq(tasks.id, id));
      return row ?? null;
    },

    /** Marks the oldest waiting task of a server as begun; null when none waits or one is under way. */
    async take(serverId: number, at: Date): Promise<TaskRow | null> {
      const [row] = await db
        .update(tasks)
        .set({ started_at: at })
        .where(
          sql`${tasks.id} = (
            select id from backup_tasks waiting
            where waiting.server_id = ${serverId} and waiting.started_at is null
              and not exists (
                select 1 from backup_tasks begun
                where begun.server_id = ${serverId} and begun.started_at is not null
              )
            order by id limit 1 for update skip locked
          )`,
        )
        .returning();
      return row ?? null;
    },

    /** Those that were under way; at a start of the service, those that were cut off. */
    begun: (): Promise<TaskRow[]> =>
      db.select().from(tasks).where(isNotNull(tasks.started_at)).orderBy(asc(tasks.id)),

    waiting: (): Promise<TaskRow[]> =>
      db.select().from(tasks).where(isNull(tasks.started_at)).orderBy(asc(tasks.id)),

    /** @returns false when it was gone already, so that somebody else has told how it ended */
    async end(tx: Connection, id: number): Promise<boolean> {
      const rows = await tx.delete(tasks).where(eq(tasks.id, id)).returning({ id: tasks.id });
      return rows.length > 0;
    },

    /** @returns false when it has begun, or is gone already */
    async endWaiting(tx: Connection, id: number): Promise<boolean> {
      const rows = await tx
        .delete(tasks)
        .where(and(eq(tasks.id, id), isNull(tasks.started_at)))
        .returning({ id: tasks.id });
      return rows.length > 0;
    },

    ofConfiguration: (
      tx: Connection,
      configurationId: number,
    ): Promise<{ kind: BackupTaskKind }[]> =>
      tx
        .select({ kind: tasks.kind })
        .from(tasks)
        .innerJoin(backups, eq(backups.id, tasks.backup_id))
        .where(eq(backups.configuration_id, configurationId)),

    ofBackup: (tx: Connection, backupId: number): Promise<TaskRow[]> =>
      tx.select().from(tasks).where(eq(tasks.backup_id, backupId)),

    /** Tasks of any configuration that touch the same database or site. */
    ofTarget: (tx: Connection, target: Target): Promise<{ kind: BackupTaskKind }[]> =>
      tx
        .select({ kind: tasks.kind })
        .from(tasks)
        .innerJoin(backups, eq(backups.id, tasks.backup_id))
        .innerJoin(configurations, eq(configurations.id, backups.configuration_id))
        .where(
          and(
            or(
              target.database_id === null
                ? undefined
                : eq(configurations.database_id, target.database_id),
              target.site_id === null ? undefined : eq(configurations.site_id, target.site_id),
            ),
          ),
        ),

    /** How many tasks of its server are before each waiting backup's own; by backup id. */
    async jobsAhead(backupIds: readonly number[]): Promise<Map<number, number>> {
      if (backupIds.length === 0) return new Map();
      const { rows } = await db.execute<{ backup_id: number; ahead: number }>(sql`
        select own.backup_id, count(before.id)::int as ahead
        from backup_tasks own
        left join backup_tasks before on before.server_id = own.server_id and before.id < own.id
        where own.backup_id = any(${sql.param(backupIds)}::int[]) and own.kind = 'run'
        group by own.backup_id`);
      return new Map(rows.map(({ backup_id, ahead }) => [backup_id, ahead]));
    },
  };
}

export type TaskStore = ReturnType<typeof createTaskStore>;
