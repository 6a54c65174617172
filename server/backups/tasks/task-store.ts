// Queries of tasks that wait or run. Each is a job of pg-boss, which exists exactly as long as the task does.
import {
  backupTaskQueue,
  restoreInto,
  type BackupTask,
  type ImportedFile,
  type RestoreDestination,
} from "../../jobs/job-data.ts";
import type { Claim } from "../../jobs/job-runner.ts";
import type { SerialQueue } from "../../jobs/serial-queue.ts";
import type { Visible } from "../../events/visible-messages.ts";
import type { Connection, Database } from "../../store/database.ts";
import { asc, eq, sql } from "../../store/drizzle.ts";
import { executePrepared } from "../../store/prepared.ts";
import { backupTasks as earlierTasks, type BackupTaskKind } from "../../store/tables/backups.ts";

export type TaskRow = Claim & {
  server_id: number;
  backup_id: number;
  kind: BackupTaskKind;
  skip_safety_backup: boolean;
  /** For a restore; null = back into its own source. */
  destination: RestoreDestination | null;
  /** For an import; null = another kind of task. */
  file: ImportedFile | null;
  /** Null while the task waits. */
  started_at: Date | null;
  /** Whether a runner has claimed it, or is believed to. */
  is_claimed: boolean;
};
export type RunningTask = {
  kind: Exclude<BackupTaskKind, "verify">;
  backup_id: number;
  /** Name of the configuration. */
  configuration: string;
  server_id: number;
  server: string;
  /** Bytes that the newest successful run read; null = there is none. */
  usual_size: number | null;
  /** ISO 8601. */
  begun_at: string;
  /** Bytes read from the source so far. */
  plain_size: number;
};
export type TaskDetails = Partial<Pick<TaskRow, "skip_safety_backup" | "destination" | "file">>;
type NewTask = Pick<TaskRow, "server_id" | "backup_id" | "kind"> &
  TaskDetails &
  Partial<Pick<BackupTask, "begun_at">>;
type Target = { database_id: number | null; site_id: number | null };

/** Whether a task restores into the target. */
const isInto = ({ database_id, site_id }: Target) =>
  sql`((task.destination->>'database_id')::int = ${database_id} or (task.destination->>'site_id')::int = ${site_id})`;

type Found = Omit<TaskRow, "started_at"> & { begun_at: string | null };
const toTask = ({ begun_at, ...rest }: Found): TaskRow => ({
  ...rest,
  started_at: begun_at === null ? null : new Date(begun_at),
});

/** The unfinished jobs of pg-boss as tasks; the only query of its table for them. */
const tasks = sql`(
  select id, retry_count as attempt, singleton_key::int as server_id, created_on, state,
    state = 'active' as is_claimed, (data->>'backup_id')::int as backup_id,
    case when data->>'kind' = ${restoreInto} then 'restore' else data->>'kind' end as kind,
    nullif(data->'destination', 'null') as destination, data->'file' as file, (data->>'skip_safety_backup')::boolean as skip_safety_backup, data->>'begun_at' as begun_at
  from pgboss.job where name = ${backupTaskQueue} and state in ('created', 'retry', 'active')
) task`;
const columns = sql`task.id, task.attempt, task.server_id, task.backup_id, task.kind, task.skip_safety_backup,
  task.destination, task.file, task.begun_at, task.is_claimed`;

export function createTaskStore(db: Database, queue: SerialQueue<BackupTask>) {
  const find = async (tx: Connection, condition: ReturnType<typeof sql>): Promise<TaskRow[]> => {
    const { rows } = await tx.execute<Found>(sql`
      select ${columns} from ${tasks}
      join backups on backups.id = task.backup_id
      join backup_configurations configuration on configuration.id = backups.configuration_id
      where ${condition} order by task.created_on, task.id`);
    return rows.map(toTask);
  };

  /** @returns the ids of the tasks, in the same order */
  const insert = (tx: Connection, added: readonly NewTask[]): Promise<string[]> =>
    queue.add(
      tx,
      added.map(({ server_id, kind, destination, file, ...task }) => ({
        key: String(server_id),
        data: {
          skip_safety_backup: false,
          begun_at: null,
          ...task,
          ...(file != null && { file }),
          ...(destination == null ? { kind } : { kind: restoreInto, destination }),
        },
      })),
    );

  return {
    insert,

    async byId(id: string): Promise<TaskRow | null> {
      const { rows } = await db.execute<Found>(
        sql`select ${columns} from ${tasks} where task.id = ${id}::uuid`,
      );
      return rows[0] === undefined ? null : toTask(rows[0]);
    },

    /**
     * Stores that a claimed task has begun.
     * @throws ClaimLost
     */
    begin: (claim: Claim, at: Date): Promise<void> =>
      db.transaction((tx) => queue.note(tx, claim, { begun_at: at.toISOString() })),

    /**
     * Ends a task in the transaction of its outcome.
     * @returns false where the claim is lost
     */
    end: (tx: Connection, claim: Claim): Promise<boolean> => queue.complete(tx, claim),

    /** @throws ClaimLost where another runner has the task, or it has ended */
    hold: (tx: Connection, claim: Claim): Promise<void> => queue.hold(tx, claim),

    isHeld: queue.isHeld,

    /** @returns false where the task has begun or is gone */
    endWaiting: (tx: Connection, id: string): Promise<boolean> => queue.withdraw(tx, id),

    /** Includes restores into what it backs up, because those make a safety backup of it. */
    ofConfiguration: (
      tx: Connection,
      { id, ...target }: Target & { id: number },
    ): Promise<TaskRow[]> => find(tx, sql`(configuration.id = ${id} or ${isInto(target)})`),

    /**
     * Returns which of these configurations have a run that waits or runs, or that waits for its copy. Reads tasks only if a backup is
     * pending or running, because a backup does not end before its task.
     */
    async runningOf(tx: Connection, configurationIds: readonly number[]): Promise<Set<number>> {
      const { rows: unsettled } = await tx.execute<{ id: number }>(sql`
        select id from backups where configuration_id = any(${sql.param([...configurationIds])}::int[])
          and status in ('pending', 'running')`);
      if (unsettled.length === 0) return new Set();
      const ids = sql.param(unsettled.map(({ id }) => id));
      const { rows } = await tx.execute<{ id: number }>(sql`
        select backups.configuration_id as id from ${tasks} join backups on backups.id = task.backup_id
        where (task.kind in ('run', 'import') or task.kind = 'copy' and exists (
            select from backups run where run.id = backups.copy_of_id and run.status = 'running'))
          and task.backup_id = any(${ids}::int[])`);
      return new Set(rows.map(({ id }) => id));
    },

    /** Includes tasks that copy it. */
    ofBackup: (tx: Connection, backupId: number): Promise<TaskRow[]> =>
      find(
        tx,
        sql`(backups.id = ${backupId} or task.kind = 'copy' and backups.copy_of_id = ${backupId})`,
      ),

    /**
     * Locks a database or site against other requests for work on it, until the transaction ends. Every transaction takes this
     * lock last.
     */
    async lockTarget(tx: Connection, { database_id, site_id }: Target): Promise<void> {
      const space = database_id === null ? "quarterdeck site" : "quarterdeck database";
      await tx.execute(
        sql`select pg_advisory_xact_lock(hashtext(${space}), ${database_id ?? site_id}::int)`,
      );
    },

    /** @returns tasks of all configurations that read or replace the same database or site */
    ofTarget: (tx: Connection, target: Target): Promise<TaskRow[]> =>
      find(
        tx,
        sql`case when task.destination is null
          then configuration.database_id = ${target.database_id} or configuration.site_id = ${target.site_id}
          else ${isInto(target)} end`,
      ),

    /** @returns the running tasks of visible servers, longest first */
    running: (visible: Visible, limit: number): Promise<RunningTask[]> =>
      executePrepared<RunningTask>(
        db,
        "overview_running",
        sql`
        select task.kind, task.backup_id, task.begun_at, backups.plain_size::float8 as plain_size,
          configuration.name as configuration, servers.id as server_id, servers.name as server,
          newest.good_plain_size::float8 as usual_size
        from ${tasks} join backups on backups.id = task.backup_id
          join backup_configurations configuration on configuration.id = backups.configuration_id
          join servers on servers.id = task.server_id
          left join newest_backups newest on newest.configuration_id = configuration.id
        where task.is_claimed and task.begun_at is not null and task.kind <> 'verify'
          and ${visible === null ? sql`true` : sql`task.server_id = any(${sql.param([...visible])}::int[])`}
        order by task.begun_at, task.id limit ${limit}`,
      ),

    /** @returns the number of tasks ahead of each waiting backup on its server, by id of the backup */
    async jobsAhead(backupIds: readonly number[]): Promise<Map<number, number>> {
      if (backupIds.length === 0) return new Map();
      const { rows } = await db.execute<{ backup_id: number; ahead: number }>(sql`
        select own.backup_id, own.ahead from (
          select task.backup_id, task.kind,
            (row_number() over (
              partition by task.server_id order by task.state desc, task.created_on, task.id
            ) - 1)::int as ahead
          from ${tasks}
        ) own
        where own.backup_id = any(${sql.param(backupIds)}::int[]) and own.kind in ('run', 'copy', 'import')`);
      return new Map(rows.map(({ backup_id, ahead }) => [backup_id, ahead]));
    },

    /**
     * Converts tasks that an earlier version kept in a table of its own.
     * @returns the new ids of the tasks that wait
     */
    async takeOver(): Promise<string[]> {
      const waiting: string[] = [];
      const found = await db.select().from(earlierTasks).orderBy(asc(earlierTasks.id));
      // One transaction for each, because its time orders the queue.
      for (const { id, server_id, backup_id, kind, skip_safety_backup, started_at } of found)
        await db.transaction(async (tx) => {
          const gone = await tx.delete(earlierTasks).where(eq(earlierTasks.id, id)).returning();
          if (gone.length === 0) return;
          const begun_at = started_at?.toISOString() ?? null;
          const task = { server_id, backup_id, kind, skip_safety_backup, begun_at };
          const added = await insert(tx, [task]);
          if (begun_at === null) waiting.push(...added);
        });
      return waiting;
    },
  };
}

export type TaskStore = ReturnType<typeof createTaskStore>;
