import { bigint, boolean, check, index, integer, pgTable, sql, text } from "../drizzle.ts";
import type { PgColumn } from "../drizzle.ts";
import type {
  BackupableType,
  BackupConfigurationState,
  BackupState,
  BackupTrigger,
  DrillState,
  RestoreState,
} from "../../../contract/backups/backup.ts";
import type { KeepRules } from "../../../contract/backups/keep-rules.ts";
import { createdAt, jsonb, moment } from "./columns.ts";
import { databases, ofServer, sites, storageProviders } from "./inventory.ts";

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
    /** The newest backup whose drill failed, unless a drill of it or of a newer one passed since. It may be deleted by now. */
    failed_drill_id: integer(),
    failed_drill_at: moment("failed_drill_at"),
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
    drill_status: text().$type<DrillState>(),
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
