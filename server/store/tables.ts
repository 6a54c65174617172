// Every table, as Drizzle and its migrations know it. `npm run migrations` writes the next migration from this.
import { sql } from "./drizzle.ts";
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  timestamp,
} from "./drizzle.ts";
import type {
  BackupableType,
  BackupConfigurationState,
  BackupState,
  BackupTrigger,
  RestoreState,
} from "../../contract/backups/backup.ts";
import type { Ability } from "../../contract/tokens.ts";
import type { StopSignal, WorkerState } from "../../contract/workers/worker.ts";

const moment = (name: string) => timestamp(name, { withTimezone: true, precision: 3 });
const createdAt = moment("created_at").notNull().defaultNow();

/** What the installation knows of itself, e.g. the name its workers are marked with. */
export const settings = pgTable("settings", {
  key: text().primaryKey(),
  value: text().notNull(),
});

export const tokens = pgTable("tokens", {
  id: integer().primaryKey().generatedAlwaysAsIdentity(),
  name: text().notNull(),
  /** Hex SHA-256 of the secret part. The secret itself is nowhere. */
  hash: text().notNull().unique(),
  abilities: text().array().$type<Ability[]>().notNull(),
  /** The servers it may reach; null = all. */
  server_ids: integer().array(),
  /** It came from the environment, so a change there replaces it. */
  from_environment: boolean().notNull().default(false),
  expires_at: moment("expires_at"),
  last_used_at: moment("last_used_at"),
  created_at: createdAt,
});

// The inventory's rows. Their ids are the file's, and `entry` is what the file says of them.
const inventoryColumns = {
  id: integer().primaryKey(),
  name: text().notNull(),
  entry: jsonb().$type<Record<string, unknown>>().notNull(),
  created_at: createdAt,
};

export const servers = pgTable("servers", inventoryColumns);

const ofServer = () =>
  integer()
    .notNull()
    .references(() => servers.id);

export const sites = pgTable(
  "sites",
  {
    ...inventoryColumns,
    server_id: ofServer(),
    /** Kept by a trigger of the workers' table: counting 100,000 rows for each page costs more than the page. */
    worker_count: integer().notNull().default(0),
  },
  (table) => [index("sites_of_server").on(table.server_id, table.id)],
);

export const databases = pgTable("databases", { ...inventoryColumns, server_id: ofServer() });

export const storageProviders = pgTable("storage_providers", inventoryColumns);

export const notificationChannels = pgTable("notification_channels", inventoryColumns);

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
    directory: text().notNull(),
    startsecs: integer().notNull(),
    stopwaitsecs: integer().notNull(),
    startretries: integer().notNull(),
    stopsignal: text().$type<StopSignal>().notNull(),
    status: text().$type<WorkerState>().notNull(),
    status_reason: text(),
    /** Counts the changes of status, so that what was decided on an older one changes nothing. */
    transition: integer().notNull().default(1),
    created_at: createdAt,
  },
  (table) => [
    // Lists are read newest first, page by page.
    index("workers_of_site").on(table.site_id, table.id),
    check(
      "workers_status",
      sql`${table.status} in ('installing', 'installed', 'stopping', 'stopped', 'starting', 'restarting', 'failed', 'removing')`,
    ),
  ],
);

export const backupConfigurations = pgTable(
  "backup_configurations",
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    server_id: ofServer(),
    name: text().notNull(),
    frequency: text().notNull(),
    hold: integer().notNull(),
    directory: text().notNull(),
    storage_provider_id: integer()
      .notNull()
      .references(() => storageProviders.id),
    type: text().$type<BackupableType>().notNull(),
    database_id: integer().references(() => databases.id),
    site_id: integer().references(() => sites.id),
    /** A restore drill every so many days; null = none. */
    drill: integer(),
    status: text().$type<BackupConfigurationState>().notNull(),
    status_reason: text(),
    /** Counts the changes of status, so that what was decided on an older one changes nothing. */
    transition: integer().notNull().default(1),
    /** The next moment of the schedule that no run was made for yet; null until it is installed. */
    next_run_at: moment("next_run_at"),
    /** Since when a run is overdue. */
    missed_since: moment("missed_since"),
    last_proven_at: moment("last_proven_at"),
    created_at: createdAt,
  },
  (table) => [
    index("backup_configurations_of_server").on(table.server_id, table.id),
    index("backup_configurations_due").on(table.next_run_at),
    check(
      "backup_configurations_status",
      sql`${table.status} in ('installing', 'installed', 'failed', 'removing')`,
    ),
    check(
      "backup_configurations_source",
      sql`(${table.type} = 'database') = (${table.database_id} is not null) and (${table.type} = 'site') = (${table.site_id} is not null)`,
    ),
  ],
);

export const backups = pgTable(
  "backups",
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    configuration_id: integer()
      .notNull()
      .references(() => backupConfigurations.id, { onDelete: "cascade" }),
    /** Where its file is: the configuration's provider at the time of the run. */
    storage_provider_id: integer()
      .notNull()
      .references(() => storageProviders.id),
    trigger: text().$type<BackupTrigger>().notNull(),
    status: text().$type<BackupState>().notNull(),
    status_reason: text(),
    transition: integer().notNull().default(1),
    /** Name of the file in its storage; empty until the run begins. */
    path: text().notNull().default(""),
    /** Bytes as stored. */
    size: bigint({ mode: "number" }).notNull().default(0),
    /** Bytes before compression; while it runs, so far. */
    plain_size: bigint({ mode: "number" }).notNull().default(0),
    /** While it runs: bytes stored so far. */
    stored_bytes: bigint({ mode: "number" }).notNull().default(0),
    /** Hex SHA-256 of the file as stored. */
    checksum: text(),
    /** What the dump says its content is; a drill holds what came back against it. */
    manifest: jsonb().$type<Record<string, unknown>>(),
    warnings: text().array().notNull().default([]),
    output: text().notNull().default(""),
    restore_status: text().$type<RestoreState>(),
    restore_output: text(),
    restored_at: moment("restored_at"),
    drill_status: text().$type<RestoreState>(),
    drill_output: text(),
    drilled_at: moment("drilled_at"),
    verified_at: moment("verified_at"),
    damage: text(),
    /** Until it runs: when it was asked for. */
    started_at: moment("started_at").notNull().defaultNow(),
    ended_at: moment("ended_at"),
  },
  (table) => [
    index("backups_of_configuration").on(table.configuration_id, table.id),
    check(
      "backups_status",
      sql`${table.status} in ('pending', 'running', 'finished', 'failed', 'deleting')`,
    ),
  ],
);

export const backupTaskKinds = ["run", "restore", "drill", "verify"] as const;
export type BackupTaskKind = (typeof backupTaskKinds)[number];

/** The heavy jobs that wait or run; a server does one at a time, in the order of their ids. */
export const backupTasks = pgTable(
  "backup_tasks",
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    server_id: ofServer(),
    backup_id: integer()
      .notNull()
      .references(() => backups.id, { onDelete: "cascade" }),
    kind: text().$type<BackupTaskKind>().notNull(),
    /** Null while it waits. */
    started_at: moment("started_at"),
    created_at: createdAt,
  },
  (table) => [
    index("backup_tasks_of_server").on(table.server_id, table.id),
    index("backup_tasks_of_backup").on(table.backup_id),
  ],
);

/** What happened and is to be told, stored in the transaction that made it happen. */
export const events = pgTable(
  "events",
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    type: text().notNull(),
    server_id: integer().notNull(),
    data: jsonb().$type<Record<string, unknown>>().notNull(),
    created_at: createdAt,
  },
  (table) => [index("events_of_server").on(table.server_id, table.id)],
);
