import { boolean, check, index, integer, pgTable, sql, text } from "../drizzle.ts";
import type { PgColumn, SQL } from "../drizzle.ts";
import type { WorkerSettings } from "../../../contract/workers/bodies.ts";
import type { TakeOverState } from "../../../contract/workers/take-over.ts";
import type { StopSignal, WorkerState } from "../../../contract/workers/worker.ts";
import { createdAt, jsonb, moment } from "./columns.ts";
import { sites } from "./inventory.ts";

/** A worker's settings with their `settings_version`. */
export type VersionedSettings = {
  version: number;
  settings: Omit<WorkerSettings, "directory"> & { directory: string | null };
};

/** A program of a server's supervisord that a worker takes over. */
export type TakenProgram = {
  server_id: number;
  program: string;
  file: string;
  /** The command that supervisord runs; a program with another command is a different one. */
  command: string;
  /** Configuration file of supervisord; null where `supervisorctl` finds it by itself. */
  config: string | null;
  /** Whether its file contains nothing but the program. */
  is_alone: boolean;
  status: TakeOverState;
  /** Time in ISO 8601. */
  since: string;
  reason: string | null;
  /** Whether the program was removed from supervisord and its file, so that it does not return. */
  is_removed: boolean;
};

/**
 * Matches workers that failed, restart by themselves, or cannot be reached. Only restarts that were not requested have a reason.
 */
export const isInTrouble = (
  table: Record<"status" | "status_reason" | "unreachable_since", PgColumn>,
): SQL =>
  sql`(${table.unreachable_since} is not null or ${table.status} = 'failed'
    or (${table.status} = 'restarting' and ${table.status_reason} is not null))`;

export const workers = pgTable(
  "workers",
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    site_id: integer()
      .notNull()
      .references(() => sites.id),
    connection: text().notNull(),
    queue: text().notNull(),
    max_jobs: integer().notNull(),
    max_time: integer().notNull(),
    force: boolean().notNull(),
    memory: integer().notNull(),
    sleep: integer().notNull(),
    timeout: integer().notNull(),
    tries: integer().notNull(),
    processes: integer().notNull(),
    /** As it was entered: absolute or relative to the site's root; null = the root itself. */
    directory: text(),
    startsecs: integer().notNull(),
    stopwaitsecs: integer().notNull(),
    startretries: integer().notNull(),
    stopsignal: text().$type<StopSignal>().notNull(),
    stopasgroup: boolean().notNull().default(false),
    status: text().$type<WorkerState>().notNull(),
    status_reason: text(),
    /** When the status last changed; null in rows from before this column. */
    status_since: moment("status_since").defaultNow(),
    /** Whether its failure was reported, and its recovery not yet. */
    notified_failed: boolean().notNull().default(false),
    /** Incremented with each change of status, so that decisions based on an older status change nothing. */
    transition: integer().notNull().default(1),
    /** Transition of the newest restart order: processes that were started before it have to be replaced. */
    restart_order: integer(),
    /** Transition of the newest change of settings; processes that were started with older settings have to be replaced. */
    settings_version: integer().notNull().default(0),
    /**
     * The settings before a change that is being rolled out, to be restored if a process does not start; null = no change is
     * being rolled out.
     */
    changed_from: jsonb().$type<VersionedSettings>(),
    /** What was killed or undone during the transition, to be included in the reason of the next state. */
    kill_reason: text(),
    /** When a state in transit counts as failed; null for a settled state. */
    deadline_at: moment("deadline_at"),
    /** Newest finished deployment of its site since the worker was created; processes record it when they start. */
    deployment_id: integer(),
    /** Newest deployment that restarts workers: processes of an older one have to be replaced. */
    required_deployment_id: integer(),
    /** Since when its processes are crash-looping; null = they are not. */
    crash_loop_since: moment("crash_loop_since"),
    crash_loop_reason: text(),
    /** Since when and why its process manager is unreachable, and the status before that; null = it is reachable. */
    unreachable_since: moment("unreachable_since"),
    unreachable_reason: text(),
    last_status: text().$type<WorkerState>(),
    /**
     * Transition of an order that the process manager may not have received; it is pending while the row has the same transition.
     */
    waiting_order: integer(),
    /** Null = the worker did not take over a program. */
    take_over: jsonb().$type<TakenProgram>(),
    created_at: createdAt,
  },
  (table) => [
    // The few workers that have taken over a program.
    index("workers_take_over")
      .on(table.id)
      .where(sql`${table.take_over} is not null`),
    // Lists are read newest first, page by page.
    index("workers_of_site").on(table.site_id, table.id),
    index("workers_deadline")
      .on(table.deadline_at)
      .where(sql`${table.deadline_at} is not null`),
    // The few workers that the overview lists.
    index("workers_in_trouble").on(table.site_id).where(isInTrouble(table)),
    check(
      "workers_status",
      sql`${table.status} in ('installing', 'installed', 'stopping', 'stopped', 'starting', 'restarting', 'failed', 'removing')`,
    ),
  ],
);

/** State of the processes that a server's supervisord runs, for the instance that looks after the server next. */
export const workerRecords = pgTable("worker_records", {
  worker_id: integer()
    .primaryKey()
    .references(() => workers.id, { onDelete: "cascade" }),
  /** Written by `workers/supervisord/records.ts`. */
  records: text().notNull(),
});

/** Position in the log of a worker on its server, for the instance that reads it next. */
export const workerLogs = pgTable("worker_logs", {
  worker_id: integer()
    .primaryKey()
    .references(() => workers.id, { onDelete: "cascade" }),
  /** Written by `workers/supervisord/log-state.ts`. */
  state: text().notNull(),
});
