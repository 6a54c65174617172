// All tables, for Drizzle. `npm run migrations` generates the next migration from them.
import { sql } from "./drizzle.ts";
import type { PgColumn, SQL } from "./drizzle.ts";
import {
  bigint,
  boolean,
  check,
  customType,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uuid,
} from "./drizzle.ts";
import type { ActivityKind, ActorType } from "../../contract/activity.ts";
import type {
  BackupableType,
  BackupConfigurationState,
  BackupState,
  BackupTrigger,
  RestoreState,
} from "../../contract/backups/backup.ts";
import type { KeepRules } from "../../contract/backups/keep-rules.ts";
import type { EventType, SubscribableEvent } from "../../contract/events.ts";
import type { ChannelMessageState } from "../../contract/notifications/notification.ts";
import type { EventChoice } from "../../contract/notifications/bodies.ts";
import type { SearchKind } from "../../contract/search.ts";
import type { Ability } from "../../contract/tokens.ts";
import type { DeliveryState } from "../../contract/webhooks/delivery.ts";
import type { StopSignal, WorkerState } from "../../contract/workers/worker.ts";
import type { TakeOverState } from "../../contract/workers/take-over.ts";
import type { WorkerSettings } from "../../contract/workers/bodies.ts";
import type { InstanceRole } from "../instances/role.ts";
import type { EntryAccount } from "../inventory/one-account.ts";
import type { InventoryKind } from "../../contract/inventory/entries.ts";
import type { Inventory } from "../inventory/schema.ts";
import { storableJson } from "./storable.ts";

/** Drizzle's own `jsonb` would send values that PostgreSQL rejects, such as the NUL of a tool's output. */
const jsonb = customType<{ data: unknown; driverData: string }>({
  dataType: () => "jsonb",
  toDriver: storableJson,
});

const moment = (name: string) => timestamp(name, { withTimezone: true, precision: 3 });
const createdAt = moment("created_at").notNull().defaultNow();

/** Settings that the installation stores about itself, such as the id that marks its workers. */
export const settings = pgTable("settings", {
  key: text().primaryKey(),
  value: text().notNull(),
});

export const tokens = pgTable("tokens", {
  id: integer().primaryKey().generatedAlwaysAsIdentity(),
  name: text().notNull(),
  /** Hex SHA-256 of the secret part. The secret itself is not stored. */
  hash: text().notNull().unique(),
  abilities: text().array().$type<Ability[]>().notNull(),
  /** The servers that the token may access; null = all. */
  server_ids: integer().array(),
  /** Whether the token comes from the environment, so that a change there replaces it. */
  from_environment: boolean().notNull().default(false),
  expires_at: moment("expires_at"),
  last_used_at: moment("last_used_at"),
  created_at: createdAt,
});

/** One-time links. Each replaces its token for one path, and is deleted with it. */
export const oneTimeLinks = pgTable("one_time_links", {
  /** Hex SHA-256 of the code in the link. The code itself is not stored. */
  hash: text().primaryKey(),
  path: text().notNull(),
  token_id: integer()
    .notNull()
    .references(() => tokens.id, { onDelete: "cascade" }),
  expires_at: moment("expires_at").notNull(),
});

/** State of rate limits that several instances share. Unlogged, so that counting does not wait for the disk. */
export const rateLimits = pgTable("rate_limits", {
  key: text().primaryKey(),
  points: integer().notNull().default(0),
  /** When the limit resets, in milliseconds. */
  expire: bigint({ mode: "number" }),
});

// Tables of the inventory. The ids are those of the file, and `entry` is the entry in the file.
const inventoryColumns = <Kind extends InventoryKind>() => ({
  id: integer().primaryKey(),
  name: text().notNull(),
  entry: jsonb().$type<Inventory[Kind][number]>().notNull(),
  created_at: createdAt,
});

export const servers = pgTable("servers", inventoryColumns<"servers">());

/** Whether a server responded to the last check. */
export const serverContacts = pgTable("server_contacts", {
  server_id: integer()
    .primaryKey()
    .references(() => servers.id, { onDelete: "cascade" }),
  reachable: boolean().notNull(),
  since: moment("since").notNull(),
  reason: text(),
  /** Whether an event reported that it is unreachable, so that its recovery is reported too. */
  is_reported: boolean().notNull().default(false),
});

/** Live instances of the service on this database. Any instance deletes the rows of expired ones. */
export const instances = pgTable("instances", {
  /** Id of one run of a process. */
  id: uuid().primaryKey(),
  /** Name for operators. */
  name: text().notNull(),
  /** Id of the data folder, the same in all runs. */
  home: uuid().notNull(),
  role: text().$type<InstanceRole>().notNull(),
  /** Base URL for other instances, without a trailing slash. */
  address: text().notNull(),
  version: text().notNull(),
  started_at: moment("started_at").notNull().defaultNow(),
  /** When the instance expires unless it renews its row. */
  until: moment("until").notNull(),
});

/** Which instance looks after each server. */
export const serverLeases = pgTable("server_leases", {
  server_id: integer()
    .primaryKey()
    .references(() => servers.id, { onDelete: "cascade" }),
  /** The lease is held while that instance's row exists; null = it was released. */
  instance_id: uuid(),
  /** Name of the instance, which is still shown once its row is gone. */
  instance_name: text().notNull(),
  /** Incremented with each new holder. */
  epoch: integer().notNull().default(1),
  /**
   * Home (data folder) of the instance whose machine the server is; null for a server over SSH, which any instance may look
   * after.
   */
  home: uuid(),
  since: moment("since").notNull().defaultNow(),
});

/**
 * The account that was chosen when the entry was accepted; null for entries without files, and until the inventory is read again.
 */
const entryAccount = () => jsonb("account").$type<EntryAccount>();

const ofServer = () =>
  integer()
    .notNull()
    .references(() => servers.id);

export const sites = pgTable(
  "sites",
  {
    ...inventoryColumns<"sites">(),
    server_id: ofServer(),
    account: entryAccount(),
    /** Maintained by a trigger of the workers' table: counting 100,000 rows for each page costs more than the page itself. */
    worker_count: integer().notNull().default(0),
  },
  (table) => [
    index("sites_of_server").on(table.server_id, table.id),
    // To find the sites that list a database, which get its events.
    index("sites_of_database").using("gin", sql`(${table.entry} -> 'databases') jsonb_path_ops`),
    // To find the site that the first start creates.
    index("sites_of_root").using("hash", sql`(${table.entry} ->> 'root')`),
  ],
);

export const databases = pgTable(
  "databases",
  {
    ...inventoryColumns<"databases">(),
    server_id: ofServer(),
    account: entryAccount(),
  },
  (table) => [index("databases_of_server").on(table.server_id, table.id)],
);

export const storageProviders = pgTable("storage_providers", {
  ...inventoryColumns<"storage_providers">(),
  /** The folder in which a marker file was found or created; if it disappears from there, the disk is not mounted. */
  marked_path: text(),
});

export const notificationChannels = pgTable(
  "notification_channels",
  inventoryColumns<"notification_channels">(),
);

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

export const backupConfigurations = pgTable(
  "backup_configurations",
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    server_id: ofServer(),
    name: text().notNull(),
    frequency: text().notNull(),
    hold: integer().notNull(),
    /** Keep rules beyond the hold; null = none. */
    keep: jsonb().$type<KeepRules>(),
    /** For sites: patterns of excluded files; null = none. */
    exclude: jsonb().$type<string[]>(),
    /** For sites: whether the content of folders with a CACHEDIR.TAG is excluded. */
    exclude_caches: boolean().notNull().default(false),
    /** Compression level of zstd; null = the default. */
    compression_level: integer(),
    /** Limit of writing to the storage; null = unlimited. */
    bytes_per_second: bigint({ mode: "number" }),
    /** Whether runs store only the changes since the newest full backup where that is smaller. */
    incremental: boolean().notNull().default(false),
    directory: text().notNull(),
    storage_provider_id: integer()
      .notNull()
      .references(() => storageProviders.id),
    /** Storage that each run is copied to; null = none. */
    copy_storage_provider_id: integer().references(() => storageProviders.id),
    type: text().$type<BackupableType>().notNull(),
    database_id: integer().references(() => databases.id),
    site_id: integer().references(() => sites.id),
    /** Days between restore drills; null = no drills. */
    drill: integer(),
    status: text().$type<BackupConfigurationState>().notNull(),
    status_reason: text(),
    /** When the status last changed; null in rows from before this column. */
    status_since: moment("status_since").defaultNow(),
    /** Findings of the installation that do not affect the status, such as why a restore would be refused. */
    install_warnings: text().array().notNull().default([]),
    /** Incremented with each change of status, so that decisions based on an older status change nothing. */
    transition: integer().notNull().default(1),
    /** Next time of the schedule without a run; null until the configuration is installed. */
    next_run_at: moment("next_run_at"),
    /** Time zone by which overdue runs are found; null until the first check. */
    schedule_zone: text(),
    /** Since when the schedule or its time zone is the present one; null = always. */
    schedule_since: moment("schedule_since"),
    /** Since when a run is overdue. */
    missed_since: moment("missed_since"),
    last_proven_at: moment("last_proven_at"),
    /**
     * When it was created for backups of an earlier installation; null once it has settings of its own, or for any other
     * configuration.
     */
    adopted_at: moment("adopted_at"),
    created_at: createdAt,
  },
  (table) => [
    index("backup_configurations_of_server").on(table.server_id, table.id),
    index("backup_configurations_due").on(table.next_run_at),
    index("backup_configurations_of_site")
      .on(table.site_id, table.status)
      .where(sql`${table.site_id} is not null`),
    index("backup_configurations_of_database")
      .on(table.database_id, table.status)
      .where(sql`${table.database_id} is not null`),
    // The few configurations that make no backups, which the overview reads.
    index("backup_configurations_adopted")
      .on(table.id)
      .where(sql`${table.adopted_at} is not null`),
    // The few configurations with copies, which the overview checks.
    index("backup_configurations_copied")
      .on(table.copy_storage_provider_id)
      .where(sql`${table.copy_storage_provider_id} is not null`),
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

/** What a restore replaced, where that is not the backup's own source. */
export type RestoreTarget = {
  type: BackupableType;
  id: number;
  /** Name in the inventory. */
  name: string;
  server_id: number;
  /** Name of a database that the restore created on its server; null = it restored into the entry's own database. */
  database: string | null;
  /** The restored part: tables, or a path; null = everything. */
  part: string | null;
  /** The safety backup that the restore took first; null = none, or not yet. */
  safety_backup_id: number | null;
};

export const backups = pgTable(
  "backups",
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    configuration_id: integer()
      .notNull()
      .references(() => backupConfigurations.id, { onDelete: "cascade" }),
    /** Storage of the file: that of the configuration at the time of the run. */
    storage_provider_id: integer()
      .notNull()
      .references(() => storageProviders.id),
    trigger: text().$type<BackupTrigger>().notNull(),
    status: text().$type<BackupState>().notNull(),
    status_reason: text(),
    transition: integer().notNull().default(1),
    /** Name of the file in its storage; empty until the run begins. */
    path: text().notNull().default(""),
    /**
     * The full backup that this incremental one needs; null = it is a full one itself. A trigger prevents deleting a full backup
     * before its incremental ones.
     */
    base_id: integer(),
    /**
     * State that the source reported for this dump: the content is the same as long as the source reports the same state. Null =
     * unknown.
     */
    source_state: text(),
    /** Bytes as stored. */
    size: bigint({ mode: "number" }).notNull().default(0),
    /** Bytes before compression; while it runs, so far. */
    plain_size: bigint({ mode: "number" }).notNull().default(0),
    /** While it runs: bytes stored so far. */
    stored_bytes: bigint({ mode: "number" }).notNull().default(0),
    /** Hex SHA-256 of the file as stored. */
    checksum: text(),
    /** Content of the dump by its own account; a drill compares it with what was restored. */
    manifest: jsonb().$type<Record<string, unknown>>(),
    warnings: text().array().notNull().default([]),
    output: text().notNull().default(""),
    restore_status: text().$type<RestoreState>(),
    restore_output: text(),
    restored_at: moment("restored_at"),
    /** Target of the last restore, where that was not the backup's own source; with the names at that time. */
    restore_target: jsonb().$type<RestoreTarget>(),
    drill_status: text().$type<RestoreState>(),
    drill_output: text(),
    drilled_at: moment("drilled_at"),
    /** For a copy: the run whose file it holds; null also once that run was deleted. */
    copy_of_id: integer().references((): PgColumn => backups.id, { onDelete: "set null" }),
    /** For a copy: when the run whose file it holds began. */
    taken_at: moment("taken_at"),
    /** Null = not pinned, so that retention and requests may delete it. */
    pinned_at: moment("pinned_at"),
    /** Until when the storage itself refuses to delete the file; null = no lock is known. */
    locked_until: moment("locked_until"),
    verified_at: moment("verified_at"),
    /** When the stored file was last read again, whatever the result. */
    checked_at: moment("checked_at"),
    damage: text(),
    /** Until it runs: when it was requested. */
    started_at: moment("started_at").notNull().defaultNow(),
    /** For a run that waits for its copy: when its own file was stored. */
    ended_at: moment("ended_at"),
  },
  (table) => [
    index("backups_of_configuration").on(table.configuration_id, table.id),
    // The few backups that are in transit.
    index("backups_unsettled")
      .on(table.status)
      .where(sql`${table.status} in ('pending', 'running', 'deleting')`),
    // The few failed backups whose file retention still has to remove.
    index("backups_not_removed")
      .on(table.configuration_id)
      .where(sql`${table.status} = 'failed' and ${table.path} <> ''`),
    // The few backups that were restored.
    index("backups_restored")
      .on(table.restored_at)
      .where(sql`${table.restored_at} is not null`),
    // The few backups that need another one.
    index("backups_of_base")
      .on(table.base_id)
      .where(sql`${table.base_id} is not null`),
    index("backups_of_restores")
      .on(table.ended_at)
      .where(sql`${table.trigger} = 'safety'`),
    index("backups_copied")
      .on(table.copy_of_id)
      .where(sql`${table.copy_of_id} is not null`),
    index("backups_copies")
      .on(table.configuration_id, table.id)
      .where(sql`${table.trigger} = 'copy'`),
    check(
      "backups_status",
      sql`${table.status} in ('pending', 'running', 'finished', 'failed', 'deleting')`,
    ),
  ],
);

/** What of a run decides on protection. */
export type DecidingRun = {
  id: number;
  status: BackupState;
  trigger: BackupTrigger;
  damage: string | null;
  /** First line of the reason. */
  reason: string | null;
  warnings: string[];
  /** Seconds since 1970. */
  ended: number | null;
};

/** How far the runs of a configuration were copied, by id of the storage provider. */
type Copied = Record<
  string,
  {
    /** The newest run with a good copy. */
    run: number;
    /** Seconds since 1970: when the oldest finished run after that one ended; null = there is none. */
    since: number | null;
  }
>;

/**
 * Summary of each configuration's backups. A trigger of the backups' table updates it at each commit, because finding the newest
 * backup of every configuration costs more than all other work on them. Safety backups and copies do not count as runs.
 */
export const newestBackups = pgTable("newest_backups", {
  configuration_id: integer()
    .primaryKey()
    .references(() => backupConfigurations.id, { onDelete: "cascade" }),
  /** Status of the newest run; null = there is none. */
  status: text().$type<BackupState>(),
  is_damaged: boolean().notNull().default(false),
  /** When the newest run that has begun did so. */
  begun_at: moment("begun_at"),
  /** The newest run that finished and is not damaged. */
  good_id: integer(),
  good_started_at: moment("good_started_at"),
  good_ended_at: moment("good_ended_at"),
  good_size: bigint({ mode: "number" }),
  good_plain_size: bigint({ mode: "number" }),
  /** The backup that a restore would take: the newest finished run or, without one, the newest safety backup. */
  stored_id: integer(),
  /** When the file of that backup was last read. */
  stored_checked_at: moment("stored_checked_at"),
  /** Those of the ten newest backups that decide on protection, newest first; null = only the good run does. */
  runs: jsonb().$type<DecidingRun[]>(),
  /** When the oldest of those ten ended. */
  oldest_ended_at: moment("oldest_ended_at"),
  /** Null = there are no copies. */
  copied: jsonb().$type<Copied>(),
});

export const backupTaskKinds = ["run", "copy", "import", "restore", "drill", "verify"] as const;
export type BackupTaskKind = (typeof backupTaskKinds)[number];

/** Tasks that wait or run; each server runs one at a time, in the order of their ids. */
export const backupTasks = pgTable(
  "backup_tasks",
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    server_id: ofServer(),
    backup_id: integer()
      .notNull()
      .references(() => backups.id, { onDelete: "cascade" }),
    kind: text().$type<BackupTaskKind>().notNull(),
    /** For a restore: whether it skips the safety backup. */
    skip_safety_backup: boolean().notNull().default(false),
    /** Null while the task waits. */
    started_at: moment("started_at"),
    created_at: createdAt,
  },
  (table) => [
    index("backup_tasks_of_server").on(table.server_id, table.id),
    index("backup_tasks_of_backup").on(table.backup_id),
  ],
);

/** What a notification says about an event. Its time and server are added when it is sent. */
export type NotificationPayload = {
  /** What the event is about, such as the name of a configuration. */
  subject: string;
  facts: [label: string, value: string][];
  /** Timestamps, shown in UTC and in the server's time zone. */
  moments: [label: string, at: string][];
  /** The reason, in the words of a tool or of the service. */
  reason: string | null;
  /** Path of a page of the dashboard. */
  path: string;
};

export const events = pgTable(
  "events",
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    type: text().$type<EventType>().notNull(),
    /** Null = the event belongs to the installation, not to a server. */
    server_id: integer(),
    /** The site that the event belongs to; null = it belongs to a database. */
    site_id: integer(),
    /** The database that the event belongs to: every site whose inventory entry lists it is notified. */
    database_id: integer(),
    /** `webhook-id`: the same for all receivers and attempts. */
    message_id: text().notNull(),
    /** Payload for receivers, without secrets. */
    data: jsonb().$type<Record<string, unknown>>().notNull(),
    /** Texts for notifications. */
    notification: jsonb().$type<NotificationPayload>().notNull(),
    /**
     * What the event is about, such as `worker:7`: deliveries with the same key keep the order of their events. Null = any order.
     */
    order_key: text(),
    /** When deliveries and messages were created for it; null = not yet. */
    dispatched_at: moment("dispatched_at"),
    created_at: createdAt,
  },
  (table) => [
    index("events_undispatched")
      .on(table.id)
      .where(sql`${table.dispatched_at} is null`),
    index("events_by_age").on(table.created_at),
    index("events_by_subject").on(table.order_key, table.id),
  ],
);

/** Matches webhooks that are failing or were disabled by the service, and that no user has paused. */
export const isUnreached = (
  table: Record<"paused_at" | "disabled_at" | "failing_since", PgColumn>,
): SQL =>
  sql`(${table.paused_at} is null and (${table.disabled_at} is not null or ${table.failing_since} is not null))`;

export const webhooks = pgTable(
  "webhooks",
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    site_id: integer()
      .notNull()
      .references(() => sites.id),
    url: text().notNull(),
    secret: text().notNull(),
    /** The secret before the last rotation, which also signs until its time is over. */
    previous_secret: text(),
    previous_secret_until: moment("previous_secret_until"),
    description: text().notNull().default(""),
    /** Selected events; null = all. */
    events: text().array().$type<SubscribableEvent[]>(),
    /** Since when nothing is delivered automatically: the service disabled it, or a user paused it. */
    disabled_at: moment("disabled_at"),
    /** Why the service disabled it; null = the service did not. */
    disabled_reason: text(),
    /** Since when a user has paused it; only a user ends that. */
    paused_at: moment("paused_at"),
    /** Since when every attempt has failed. */
    failing_since: moment("failing_since"),
    /** When the newest of those attempts was made. */
    last_failed_at: moment("last_failed_at"),
    /**
     * How long it has been failing: the sum of the waits between attempts, each counted as the schedule's longest wait at most.
     */
    failing_seconds: integer().notNull().default(0),
    /** Whether a delivery was given up since the last successful one, and the site's receivers were notified. */
    notified_exhausted: boolean().notNull().default(false),
    /** Until when the receiver asked for a pause. */
    paused_until: moment("paused_until"),
    created_at: createdAt,
  },
  (table) => [
    index("webhooks_of_site").on(table.site_id, table.id),
    // The few webhooks that the overview lists.
    index("webhooks_unreached").on(table.id).where(isUnreached(table)),
  ],
);

/** An event for one webhook. `next_attempt_at` says when it is due. */
export const webhookDeliveries = pgTable(
  "webhook_deliveries",
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    webhook_id: integer()
      .notNull()
      .references(() => webhooks.id, { onDelete: "cascade" }),
    event_id: integer()
      .notNull()
      .references(() => events.id),
    /** Key of its event: a delivery waits for earlier ones with the same key. */
    order_key: text(),
    status: text().$type<DeliveryState>().notNull().default("pending"),
    status_reason: text(),
    code: integer(),
    duration_ms: integer(),
    attempts: integer().notNull().default(0),
    /** Attempts since the delivery was last started, by an event or by a user; determines the next wait. */
    round_attempts: integer().notNull().default(0),
    /** Whether a user requested it, so that it is sent to a disabled webhook too. */
    by_hand: boolean().notNull().default(false),
    /** Whether it was not sent, or not again, because its webhook was disabled or paused; it can be sent later. */
    is_missed: boolean().notNull().default(false),
    /** Null once the delivery has ended. Unchanged during an attempt. */
    next_attempt_at: moment("next_attempt_at"),
    /** Kept when a user requests the delivery again: as it has ended once, it holds up no others. */
    ended_at: moment("ended_at"),
    created_at: createdAt,
  },
  (table) => [
    index("webhook_deliveries_of_webhook").on(table.webhook_id, table.id),
    index("webhook_deliveries_of_event").on(table.event_id),
    // Unfinished deliveries of a webhook, in the order in which they are sent.
    index("webhook_deliveries_unsent")
      .on(table.webhook_id, table.id)
      .where(sql`${table.next_attempt_at} is not null`),
    index("webhook_deliveries_missed")
      .on(table.webhook_id, table.id)
      .where(sql`${table.is_missed}`),
    // Unfinished deliveries of a webhook with the same key, which have to keep their order.
    index("webhook_deliveries_in_order")
      .on(table.webhook_id, table.order_key, table.id)
      .where(sql`${table.next_attempt_at} is not null`),
    check(
      "webhook_deliveries_status",
      sql`${table.status} in ('pending', 'retrying', 'delivered', 'failed')`,
    ),
  ],
);

export const webhookAttempts = pgTable(
  "webhook_attempts",
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    delivery_id: integer()
      .notNull()
      .references(() => webhookDeliveries.id, { onDelete: "cascade" }),
    /** URL of the request; null in rows from before this column. */
    url: text(),
    started_at: moment("started_at").notNull(),
    duration_ms: integer().notNull(),
    code: integer(),
    error: text(),
    request_headers: jsonb().$type<Record<string, string>>().notNull(),
    response_headers: jsonb().$type<Record<string, string>>(),
    response_body: text(),
  },
  (table) => [index("webhook_attempts_of_delivery").on(table.delivery_id, table.id)],
);

/** The events that a channel is notified about. */
const chosenEvents = () =>
  jsonb()
    .$type<EventChoice>()
    .notNull()
    .default(sql`'"all"'`);

/** The channels of a site. */
export const siteChannels = pgTable(
  "site_channels",
  {
    site_id: integer()
      .notNull()
      .references(() => sites.id),
    channel_id: integer()
      .notNull()
      .references(() => notificationChannels.id),
    events: chosenEvents(),
  },
  (table) => [
    primaryKey({ columns: [table.site_id, table.channel_id] }),
    index("site_channels_of_channel").on(table.channel_id),
  ],
);

/** The channels that are notified about a server, and about what belongs to none of its sites. */
export const serverChannels = pgTable(
  "server_channels",
  {
    server_id: ofServer(),
    channel_id: integer()
      .notNull()
      .references(() => notificationChannels.id),
    events: chosenEvents(),
  },
  (table) => [
    primaryKey({ columns: [table.server_id, table.channel_id] }),
    index("server_channels_of_channel").on(table.channel_id),
  ],
);

/** A message to a channel: one event, or several of a burst. */
export const channelMessages = pgTable(
  "channel_messages",
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    channel_id: integer()
      .notNull()
      .references(() => notificationChannels.id, { onDelete: "cascade" }),
    /** Type of its events; `channel.test` for a test message without events. */
    event: text().notNull(),
    title: text().notNull(),
    count: integer().notNull().default(1),
    status: text().$type<ChannelMessageState>().notNull().default("pending"),
    answer: text(),
    attempts: integer().notNull().default(0),
    next_attempt_at: moment("next_attempt_at"),
    ended_at: moment("ended_at"),
    created_at: createdAt,
  },
  (table) => [
    index("channel_messages_of_channel").on(table.channel_id, table.id),
    index("channel_messages_due")
      .on(table.next_attempt_at)
      .where(sql`${table.next_attempt_at} is not null`),
    check(
      "channel_messages_status",
      sql`${table.status} in ('pending', 'retrying', 'delivered', 'failed')`,
    ),
  ],
);

export const channelMessageEvents = pgTable(
  "channel_message_events",
  {
    message_id: integer()
      .notNull()
      .references(() => channelMessages.id, { onDelete: "cascade" }),
    event_id: integer()
      .notNull()
      .references(() => events.id),
  },
  (table) => [
    primaryKey({ columns: [table.message_id, table.event_id] }),
    index("channel_message_events_of_event").on(table.event_id),
  ],
);

/**
 * Text search vector of the timeline: words, separated by any ASCII character that is not alphanumeric. An index has the same
 * expression. What counts as a letter beyond ASCII depends on the database's locale, so no pattern refers to that.
 */
export const activityWords = (
  table: Record<
    "kind" | "action" | "actor_name" | "object_type" | "object_name" | "detail",
    PgColumn
  >,
): SQL =>
  sql`to_tsvector('simple'::regconfig, regexp_replace(${table.kind} || ' ' || ${table.action} || ' ' || ${table.actor_name} || ' ' || ${table.object_type} || ' ' || ${table.object_name} || ' ' || coalesce(${table.detail}, ''), '[\\x01-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7f]+', ' ', 'g'))`;

/** The timeline. Without foreign keys, because entries outlive the objects that they are about. */
export const activity = pgTable(
  "activity",
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    at: moment("at").notNull().defaultNow(),
    kind: text().$type<ActivityKind>().notNull(),
    action: text().notNull(),
    outcome: text().$type<"good" | "bad">(),
    actor_type: text().$type<ActorType>().notNull(),
    actor_name: text().notNull(),
    object_type: text().notNull(),
    object_id: integer().notNull(),
    object_name: text().notNull(),
    server_id: integer(),
    site_id: integer(),
    detail: text(),
  },
  (table) => [
    index("activity_of_server").on(table.server_id, table.id),
    index("activity_of_site").on(table.site_id, table.id),
    index("activity_by_age").on(table.at),
    index("activity_of_actor").on(table.actor_name, table.actor_type, table.server_id, table.id),
    index("activity_words").using("gin", activityWords(table)),
  ],
);

/**
 * Names of sites, databases, configurations, workers and webhooks for the search, without those of their parents. Maintained by
 * triggers of their tables, because reading all rows and folding their names at each keystroke would cost several times as much.
 */
export const searchNames = pgTable(
  "search_names",
  {
    kind: text().$type<Exclude<SearchKind, "server" | "token">>().notNull(),
    id: integer().notNull(),
    /** A trigger of this table folds the value. */
    folded: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.id] })],
);
