// Every table, as Drizzle and its migrations know it. `npm run migrations` writes the next migration from this.
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

/** Drizzle's own writes what `jsonb` refuses, e.g. the NUL that a tool printed. */
const jsonb = customType<{ data: unknown; driverData: string }>({
  dataType: () => "jsonb",
  toDriver: storableJson,
});

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

/** Each stands in for its token at one path. A revoked token takes its links with it. */
export const oneTimeLinks = pgTable("one_time_links", {
  /** Hex SHA-256 of the code in the link. The code itself is nowhere. */
  hash: text().primaryKey(),
  path: text().notNull(),
  token_id: integer()
    .notNull()
    .references(() => tokens.id, { onDelete: "cascade" }),
  expires_at: moment("expires_at").notNull(),
});

/** What is left of a limit that several instances share. Unlogged: no count waits for the disk. */
export const rateLimits = pgTable("rate_limits", {
  key: text().primaryKey(),
  points: integer().notNull().default(0),
  /** When it starts anew, in milliseconds. */
  expire: bigint({ mode: "number" }),
});

// The inventory's rows. Their ids are the file's, and `entry` is what the file says of them.
const inventoryColumns = <Kind extends InventoryKind>() => ({
  id: integer().primaryKey(),
  name: text().notNull(),
  entry: jsonb().$type<Inventory[Kind][number]>().notNull(),
  created_at: createdAt,
});

export const servers = pgTable("servers", inventoryColumns<"servers">());

/** Whether a server over SSH responded when it was last asked. */
export const serverContacts = pgTable("server_contacts", {
  server_id: integer()
    .primaryKey()
    .references(() => servers.id, { onDelete: "cascade" }),
  reachable: boolean().notNull(),
  since: moment("since").notNull(),
  reason: text(),
  /** That it is unreachable was reported, so its recovery will be. */
  is_reported: boolean().notNull().default(false),
});

/** Instances of the service on this database that live: who finds one whose time is over deletes it. */
export const instances = pgTable("instances", {
  /** Of one life of a process. */
  id: uuid().primaryKey(),
  /** As operators know it. */
  name: text().notNull(),
  /** Of its data folder, through all its lives. */
  home: uuid().notNull(),
  role: text().$type<InstanceRole>().notNull(),
  /** Where other instances reach it; without a slash at the end. */
  address: text().notNull(),
  version: text().notNull(),
  started_at: moment("started_at").notNull().defaultNow(),
  /** It counts as alive until then. */
  until: moment("until").notNull(),
});

/** Which instance looks after a server. */
export const serverLeases = pgTable("server_leases", {
  server_id: integer()
    .primaryKey()
    .references(() => servers.id, { onDelete: "cascade" }),
  /** It holds the lease for as long as it is there; null = it was handed back. */
  instance_id: uuid(),
  /** Its name, which is known for longer than itself. */
  instance_name: text().notNull(),
  /** Counts its holders. */
  epoch: integer().notNull().default(1),
  /** The data folder of the machine that the server is; null for one over SSH, which any instance may look after. */
  home: uuid(),
  since: moment("since").notNull().defaultNow(),
});

/** Decided when the entry was accepted; null for entries without files, and until the inventory is read again. */
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
    /** Kept by a trigger of the workers' table: counting 100,000 rows for each page costs more than the page. */
    worker_count: integer().notNull().default(0),
  },
  (table) => [
    index("sites_of_server").on(table.server_id, table.id),
    // For the sites that list a database, whose events they get.
    index("sites_of_database").using("gin", sql`(${table.entry} -> 'databases') jsonb_path_ops`),
    // For the one that the first start makes.
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
  /** The folder in which a marker file was found or put; without it there, the storage is away. */
  marked_path: text(),
});

export const notificationChannels = pgTable(
  "notification_channels",
  inventoryColumns<"notification_channels">(),
);

/** A worker's settings, with their `settings_version`. */
export type VersionedSettings = {
  version: number;
  settings: Omit<WorkerSettings, "directory"> & { directory: string | null };
};

/** A program of a server's supervisord whose place a worker takes. */
export type TakenProgram = {
  server_id: number;
  program: string;
  file: string;
  /** What supervisord runs for it: one that runs something else by now is another program. */
  command: string;
  /** supervisord's own configuration file, where it is not one that `supervisorctl` finds by itself. */
  config: string | null;
  /** Nothing but the program stands in its file. */
  is_alone: boolean;
  status: TakeOverState;
  /** A moment in ISO 8601. */
  since: string;
  reason: string | null;
  /** Somebody has taken it out of supervisord and of its file, so that it does not come back. */
  is_removed: boolean;
};

/** A worker that failed, restarts by itself or cannot be asked for. A restart that somebody asked for has no reason to give. */
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
    /** As it was typed: absolute, or from the site's root on; null = the root itself. */
    directory: text(),
    startsecs: integer().notNull(),
    stopwaitsecs: integer().notNull(),
    startretries: integer().notNull(),
    stopsignal: text().$type<StopSignal>().notNull(),
    stopasgroup: boolean().notNull().default(false),
    status: text().$type<WorkerState>().notNull(),
    status_reason: text(),
    /** Since when the status is what it is; null where that was not noted yet. */
    status_since: moment("status_since").defaultNow(),
    /** Its failure was reported, and its recovery is still to be. */
    notified_failed: boolean().notNull().default(false),
    /** Counts the changes of status, so that what was decided on an older one changes nothing. */
    transition: integer().notNull().default(1),
    /** The transition of the newest order to restart: processes that were started before it are to be replaced. */
    restart_order: integer(),
    /** The transition of the newest change of its settings; a process that was started with another one's is to be replaced. */
    settings_version: integer().notNull().default(0),
    /** The settings before a change that is being rolled out, to go back to if a process does not start; null = none is. */
    changed_from: jsonb().$type<VersionedSettings>(),
    /** What was killed or undone on the way to the next state, which is to say so. */
    kill_reason: text(),
    /** When a state in transit counts as failed; null for a state that is settled. */
    deadline_at: moment("deadline_at"),
    /** Newest finished deployment of its site since it was made, which processes started from then on carry. */
    deployment_id: integer(),
    /** Newest deployment that restarts workers: a process that carries an older one is to be replaced. */
    required_deployment_id: integer(),
    /** Since when its processes come up again and again; null = they do not. */
    crash_loop_since: moment("crash_loop_since"),
    crash_loop_reason: text(),
    /** Since when and why what keeps it up cannot be asked, and its status before that; null = it can. */
    unreachable_since: moment("unreachable_since"),
    unreachable_reason: text(),
    last_status: text().$type<WorkerState>(),
    /** The transition of an order that may not have been taken up; it waits for as long as the row has the same one. */
    waiting_order: integer(),
    /** Null = it was made for itself. */
    take_over: jsonb().$type<TakenProgram>(),
    created_at: createdAt,
  },
  (table) => [
    // The few that have taken over a program.
    index("workers_take_over")
      .on(table.id)
      .where(sql`${table.take_over} is not null`),
    // Lists are read newest first, page by page.
    index("workers_of_site").on(table.site_id, table.id),
    index("workers_deadline")
      .on(table.deadline_at)
      .where(sql`${table.deadline_at} is not null`),
    // The few that the overview names.
    index("workers_in_trouble").on(table.site_id).where(isInTrouble(table)),
    check(
      "workers_status",
      sql`${table.status} in ('installing', 'installed', 'stopping', 'stopped', 'starting', 'restarting', 'failed', 'removing')`,
    ),
  ],
);

/** What is known of the processes that a server's supervisord keeps, for whichever instance looks after it next. */
export const workerRecords = pgTable("worker_records", {
  worker_id: integer()
    .primaryKey()
    .references(() => workers.id, { onDelete: "cascade" }),
  /** As `workers/supervisord/records.ts` writes it. */
  records: text().notNull(),
});

/** How far the log of a worker was read that is on its server, for whichever instance reads it next. */
export const workerLogs = pgTable("worker_logs", {
  worker_id: integer()
    .primaryKey()
    .references(() => workers.id, { onDelete: "cascade" }),
  /** As `workers/supervisord/log-state.ts` writes it. */
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
    /** What stays beyond the hold; null = nothing. */
    keep: jsonb().$type<KeepRules>(),
    /** Of a site: patterns of what is left out; null = nothing. */
    exclude: jsonb().$type<string[]>(),
    /** Of a site: the content of folders with a CACHEDIR.TAG is left out. */
    exclude_caches: boolean().notNull().default(false),
    /** Of zstd; null = the usual one. */
    compression_level: integer(),
    /** How fast a run may write to its storage; null = as fast as it can. */
    bytes_per_second: bigint({ mode: "number" }),
    /** Runs store what has changed since the newest full where that is smaller. */
    incremental: boolean().notNull().default(false),
    directory: text().notNull(),
    storage_provider_id: integer()
      .notNull()
      .references(() => storageProviders.id),
    /** Where each run is copied to; null = nowhere. */
    copy_storage_provider_id: integer().references(() => storageProviders.id),
    type: text().$type<BackupableType>().notNull(),
    database_id: integer().references(() => databases.id),
    site_id: integer().references(() => sites.id),
    /** A restore drill every so many days; null = none. */
    drill: integer(),
    status: text().$type<BackupConfigurationState>().notNull(),
    status_reason: text(),
    /** Since when the status is what it is; null where that was not noted yet. */
    status_since: moment("status_since").defaultNow(),
    /** What the installation found that no status says, e.g. why a restore would be refused. */
    install_warnings: text().array().notNull().default([]),
    /** Counts the changes of status, so that what was decided on an older one changes nothing. */
    transition: integer().notNull().default(1),
    /** The next moment of the schedule that no run was made for yet; null until it is installed. */
    next_run_at: moment("next_run_at"),
    /** The time zone by which runs are found overdue; null until somebody has looked. */
    schedule_zone: text(),
    /** Since when the schedule is this one, or its time zone; null = always. */
    schedule_since: moment("schedule_since"),
    /** Since when a run is overdue. */
    missed_since: moment("missed_since"),
    last_proven_at: moment("last_proven_at"),
    /** When it was made for backups of an earlier installation; null once it has settings of its own, or always had. */
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
    // The few that make no backups, among all that are read for the overview.
    index("backup_configurations_adopted")
      .on(table.id)
      .where(sql`${table.adopted_at} is not null`),
    // The few that the overview holds against what was copied.
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

/** What a restore replaced that is not the backup's own source. */
export type RestoreTarget = {
  type: BackupableType;
  id: number;
  /** In the inventory. */
  name: string;
  server_id: number;
  /** Of a database that the restore made, its name on its server; null = it went into the entry's own. */
  database: string | null;
  /** What alone was restored: tables, or a path; null = all of it. */
  part: string | null;
  /** The backup that it made of what was there; null = none, or not yet. */
  safety_backup_id: number | null;
};

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
    /**
     * The full whose changes it holds: nothing opens it without that one. Null = it is a full. A trigger keeps a full from being
     * deleted before them.
     */
    base_id: integer(),
    /** What the source said of itself while this was dumped: as long as it says the same, it has the same content. Null = nobody can tell. */
    source_state: text(),
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
    /** Where the last restore went, if not back into its own source; its names as they were then. */
    restore_target: jsonb().$type<RestoreTarget>(),
    drill_status: text().$type<RestoreState>(),
    drill_output: text(),
    drilled_at: moment("drilled_at"),
    /** Of a copy: the run whose file it holds; null also once that one was deleted. */
    copy_of_id: integer().references((): PgColumn => backups.id, { onDelete: "set null" }),
    /** Of a copy: when the run began whose file it holds. */
    taken_at: moment("taken_at"),
    /** Null: nothing keeps retention and requests from deleting it. */
    pinned_at: moment("pinned_at"),
    /** Until then the storage itself refuses to delete its file; null = not that anybody knows. */
    locked_until: moment("locked_until"),
    verified_at: moment("verified_at"),
    /** When the stored file was last read again, whatever was found. */
    checked_at: moment("checked_at"),
    damage: text(),
    /** Until it runs: when it was asked for. */
    started_at: moment("started_at").notNull().defaultNow(),
    /** Of a run that waits for its copy: when its own file was stored. */
    ended_at: moment("ended_at"),
  },
  (table) => [
    index("backups_of_configuration").on(table.configuration_id, table.id),
    // The few that work goes on with, among all that were ever made.
    index("backups_unsettled")
      .on(table.status)
      .where(sql`${table.status} in ('pending', 'running', 'deleting')`),
    // The few that retention looks for without a run.
    index("backups_not_removed")
      .on(table.configuration_id)
      .where(sql`${table.status} = 'failed' and ${table.path} <> ''`),
    // The few that were ever restored.
    index("backups_restored")
      .on(table.restored_at)
      .where(sql`${table.restored_at} is not null`),
    // The few that need another one.
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

/** A run as far as it decides on protection. */
export type DecidingRun = {
  id: number;
  status: BackupState;
  trigger: BackupTrigger;
  damage: string | null;
  /** The first line of it. */
  reason: string | null;
  warnings: string[];
  /** Seconds since 1970. */
  ended: number | null;
};

/** How far the runs of a configuration were copied, by the id of the storage provider. */
type Copied = Record<
  string,
  {
    /** The newest run of which there is a good copy. */
    run: number;
    /** Seconds since 1970: when the oldest finished run after that one ended; null = there is none. */
    since: number | null;
  }
>;

/**
 * What the backups of a configuration come to: kept by a trigger of the backups' table at each commit, because looking for the newest
 * of every configuration costs more than all that is made of them. Safety backups and copies are no runs.
 */
export const newestBackups = pgTable("newest_backups", {
  configuration_id: integer()
    .primaryKey()
    .references(() => backupConfigurations.id, { onDelete: "cascade" }),
  /** Of the newest run; null = there is none. */
  status: text().$type<BackupState>(),
  is_damaged: boolean().notNull().default(false),
  /** When the newest run began of those that have. */
  begun_at: moment("begun_at"),
  /** The newest run that finished and is not damaged. */
  good_id: integer(),
  good_started_at: moment("good_started_at"),
  good_ended_at: moment("good_ended_at"),
  good_size: bigint({ mode: "number" }),
  good_plain_size: bigint({ mode: "number" }),
  /** What a restore would take: the newest run that finished, or where there is none, the newest safety backup. */
  stored_id: integer(),
  /** When the file of that one was last read. */
  stored_checked_at: moment("stored_checked_at"),
  /** Of the ten newest backups those that decide on protection, newest first; null = the good run alone does. */
  runs: jsonb().$type<DecidingRun[]>(),
  /** When the oldest of those ten ended. */
  oldest_ended_at: moment("oldest_ended_at"),
  /** Null: there are no copies. */
  copied: jsonb().$type<Copied>(),
});

export const backupTaskKinds = ["run", "copy", "import", "restore", "drill", "verify"] as const;
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
    /** Of a restore: what is there now is not saved first. */
    skip_safety_backup: boolean().notNull().default(false),
    /** Null while it waits. */
    started_at: moment("started_at"),
    created_at: createdAt,
  },
  (table) => [
    index("backup_tasks_of_server").on(table.server_id, table.id),
    index("backup_tasks_of_backup").on(table.backup_id),
  ],
);

/** What happened and is to be dispatched, stored in the transaction that made it happen. */
/** What a notification says of an event. When and on which server is added where it is sent. */
export type NotificationPayload = {
  /** What it is about, e.g. the name of a configuration. */
  subject: string;
  facts: [label: string, value: string][];
  /** Timestamps, which are written in UTC and in the server's own time. */
  moments: [label: string, at: string][];
  /** Why, in a tool's or the service's own words. */
  reason: string | null;
  /** Page of the dashboard, from its root. */
  path: string;
};

export const events = pgTable(
  "events",
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    type: text().$type<EventType>().notNull(),
    /** Null: it is of the installation itself, and of no server. */
    server_id: integer(),
    /** The site it is of; null = it is of a database. */
    site_id: integer(),
    /** The database it is of: every site whose inventory entry names it is notified. */
    database_id: integer(),
    /** `webhook-id`: the same for every receiver and every attempt. */
    message_id: text().notNull(),
    /** What receivers get; it holds no secret. */
    data: jsonb().$type<Record<string, unknown>>().notNull(),
    /** The texts for people. */
    notification: jsonb().$type<NotificationPayload>().notNull(),
    /** What it is about, e.g. `worker:7`: about one thing nothing older is sent after something newer. Null = in any order. */
    order_key: text(),
    /** When deliveries and messages were made of it; null = they are still to be made. */
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

/** A webhook that was given up or fails, and that somebody wants to be on. */
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
    /** The secret before the last rotation; it signs too until its time is over. */
    previous_secret: text(),
    previous_secret_until: moment("previous_secret_until"),
    description: text().notNull().default(""),
    /** The events that it gets; null = all. */
    events: text().array().$type<SubscribableEvent[]>(),
    /** Since when nothing is sent to it by itself: the service gave it up, or a user paused it. */
    disabled_at: moment("disabled_at"),
    /** Why the service gave it up; it did, as long as this is not null. */
    disabled_reason: text(),
    /** Since when a user has it paused; only a user ends that. */
    paused_at: moment("paused_at"),
    /** Since when every attempt has failed. */
    failing_since: moment("failing_since"),
    /** When the newest of those attempts was made. */
    last_failed_at: moment("last_failed_at"),
    /** For how long it was tried in vain since then: waits between attempts, none longer than the schedule's longest. */
    failing_seconds: integer().notNull().default(0),
    /** Since it last took something, a delivery was given up, and its site's receivers know. */
    notified_exhausted: boolean().notNull().default(false),
    /** The receiver asked to be left alone until then. */
    paused_until: moment("paused_until"),
    created_at: createdAt,
  },
  (table) => [
    index("webhooks_of_site").on(table.site_id, table.id),
    // The few that the overview names.
    index("webhooks_unreached").on(table.id).where(isUnreached(table)),
  ],
);

/** An event on its way to one webhook. `next_attempt_at` says when it is due. */
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
    /** Of its event: a delivery waits for those before it with the same one. */
    order_key: text(),
    status: text().$type<DeliveryState>().notNull().default("pending"),
    status_reason: text(),
    code: integer(),
    duration_ms: integer(),
    attempts: integer().notNull().default(0),
    /** Attempts since it was last sent off, by an event or by hand; it says which wait comes next. */
    round_attempts: integer().notNull().default(0),
    /** Somebody asked for it, so it is sent to a disabled webhook too. */
    by_hand: boolean().notNull().default(false),
    /** It was not sent, or not again, because its webhook was disabled or paused; it can be sent later. */
    is_missed: boolean().notNull().default(false),
    /** Null once it is over. It stays while an attempt is made. */
    next_attempt_at: moment("next_attempt_at"),
    /** It stays when somebody requests the delivery once more: that one has had its turn, and holds up none. */
    ended_at: moment("ended_at"),
    created_at: createdAt,
  },
  (table) => [
    index("webhook_deliveries_of_webhook").on(table.webhook_id, table.id),
    index("webhook_deliveries_of_event").on(table.event_id),
    // What is not over of one webhook, in the order in which it is sent.
    index("webhook_deliveries_unsent")
      .on(table.webhook_id, table.id)
      .where(sql`${table.next_attempt_at} is not null`),
    index("webhook_deliveries_missed")
      .on(table.webhook_id, table.id)
      .where(sql`${table.is_missed}`),
    // What is not over of one webhook, for the order of what is about one thing.
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
    /** Where it went; null where that was not noted yet. */
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

/** Which events a channel is notified about. */
const chosenEvents = () =>
  jsonb()
    .$type<EventChoice>()
    .notNull()
    .default(sql`'"all"'`);

/** Which channels a site uses. */
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

/** Which channels are notified of what belongs to a server and to none of its sites. */
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
    /** The type of its events; `channel.test` has none. */
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
 * What a search of the timeline looks in: words, whatever of ASCII stands between them. An index has the same. What a letter is
 * beyond ASCII depends on the database's locale, so no pattern asks for it.
 */
export const activityWords = (
  table: Record<
    "kind" | "action" | "actor_name" | "object_type" | "object_name" | "detail",
    PgColumn
  >,
): SQL =>
  sql`to_tsvector('simple'::regconfig, regexp_replace(${table.kind} || ' ' || ${table.action} || ' ' || ${table.actor_name} || ' ' || ${table.object_type} || ' ' || ${table.object_name} || ' ' || coalesce(${table.detail}, ''), '[\\x01-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7f]+', ' ', 'g'))`;

/** The timeline. Nothing in it refers to a row: it outlives what it records. */
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
 * The name of each site, database, configuration, worker and webhook as the search reads it, without those of the places that it is
 * in: kept by triggers of their tables, because reading all rows and folding their names at each key costs several times as much.
 */
export const searchNames = pgTable(
  "search_names",
  {
    kind: text().$type<Exclude<SearchKind, "server" | "token">>().notNull(),
    id: integer().notNull(),
    /** A trigger of this table folds what is written. */
    folded: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.id] })],
);
