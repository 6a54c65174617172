// Backup configurations and the backups they make: fields, bounds and states.
import * as z from "zod/mini";
import { allowedIn } from "../states.ts";
import { keepRules } from "./keep-rules.ts";
import { id, orUnsaid, stateOf, timestamp } from "../values.ts";

export const backupConfigurationStates = ["installing", "installed", "failed", "removing"] as const;
export type BackupConfigurationState = (typeof backupConfigurationStates)[number];

export const backupStates = ["pending", "running", "finished", "failed", "deleting"] as const;
export type BackupState = (typeof backupStates)[number];

const restoreStates = ["running", "finished", "failed"] as const;
export type RestoreState = (typeof restoreStates)[number];

/** A drill that is canceled, or interrupted by the end of the service, says nothing about its backup. */
export const drillStates = [...restoreStates, "canceled", "interrupted"] as const;
export type DrillState = (typeof drillStates)[number];

/** Which states of a backup allow which action. The service also checks that the target is not in use. */
export const canBackup = {
  restore: allowedIn<BackupState>(["finished"]),
  copy: allowedIn<BackupState>(["finished"]),
  remove: allowedIn<BackupState>(["finished", "failed"]),
  pin: allowedIn<BackupState>(["finished"]),
};

/** The operation of a backup that is waiting or running, and can be canceled; null = none. */
export function runningWork(
  backup: Pick<Backup, "status" | "restore_status" | "drill_status">,
): "run" | "restore" | "drill" | null {
  if (backup.status === "pending" || backup.status === "running") return "run";
  if (backup.restore_status === "running") return "restore";
  return backup.drill_status === "running" ? "drill" : null;
}

/** States of a configuration that allow each action. */
export const canBackupConfiguration = {
  run: allowedIn<BackupConfigurationState>(["installed", "failed"]),
  update: allowedIn<BackupConfigurationState>(["installing", "installed", "failed"]),
  remove: allowedIn<BackupConfigurationState>(["installing", "installed", "failed"]),
};

/** `late`: a good backup exists, but it has a problem or a later run failed or is overdue. */
export const protectionStates = ["protected", "late", "unprotected"] as const;

export const backupableTypes = ["database", "site"] as const;
export type BackupableType = (typeof backupableTypes)[number];

/** Number of finished backups that a configuration keeps by default. */
export const defaultHold = 7;

/** Maximum number of finished backups that a configuration can keep. */
export const maxHold = 8760;

/** Default level of zstd: a higher level makes smaller backups and takes longer. */
export const usualCompressionLevel = 3;
export const maxCompressionLevel = 19;

/** Lower bound of a bandwidth limit: a slower backup would hardly ever finish. */
export const minBytesPerSecond = 10_000;

/** How long a safety backup is kept. It never counts towards the hold. */
export const safetyKeptDays = 7;

/**
 * What started a backup. A restore first takes a safety backup of its target; an adopted backup was made by an earlier
 * installation; a copy is the file of a run in a second storage; an imported backup is made from a file that
 * Quarterdeck did not make.
 */
export const backupTriggers = [
  "schedule",
  "manual",
  "safety",
  "adopted",
  "copy",
  "import",
] as const;
export type BackupTrigger = (typeof backupTriggers)[number];

const bytes = z.int().check(z.gte(0));
const extra = <Schema extends z.ZodMiniType>(schema: Schema) => z.optional(z.nullable(schema));

export const backup = z
  .object({
    id,
    path: z.string(),
    /** Stored size in bytes; 0 while the backup runs. */
    size: bytes,
    /** The last 16 KiB of the run's output; inside a configuration the last 1 KiB. */
    output: z.string(),
    status: stateOf(backupStates),
    restore_output: z.nullable(z.string()),
    restore_status: z.nullable(stateOf(restoreStates)),
    started_at: timestamp,
    ended_at: z.nullable(timestamp),
    restored_at: z.nullable(timestamp),
    duration: z.string(),
    // The fields below are extras.
    configuration_id: z.optional(id),
    /** The storage that holds its file. */
    storage_provider_id: z.optional(id),
    trigger: z.optional(stateOf(backupTriggers)),
    /** Why it failed, for the operator. */
    status_reason: extra(z.string()),
    /** Number of jobs of its server that run before it; only while it waits. */
    jobs_ahead: extra(z.int().check(z.gte(0))),
    /** Bytes read from the source and bytes stored so far; only while it runs. */
    progress: extra(z.object({ plain_bytes: bytes, stored_bytes: bytes })),
    /** Hex SHA-256 of the file as stored. */
    checksum: extra(z.string()),
    /**
     * Whether the file is encrypted to the recipients of its storage, and can be read only with one of their private
     * keys.
     */
    encrypted: z.optional(z.boolean()),
    /** The full backup that this incremental one depends on; null = this is a full backup. */
    base_id: extra(id),
    /** Bytes before compression. */
    plain_size: extra(bytes),
    /** Problems of a backup that finished. */
    warnings: z.optional(z.array(z.string())),
    /** When the stored file was last verified successfully. */
    verified_at: extra(timestamp),
    /** What is wrong with the stored file; null = no damage is known. */
    damage: extra(z.string()),
    /** Target of the last restore, unless that was its own source. */
    restore_target: extra(
      z.object({
        type: z.enum(backupableTypes),
        id,
        name: z.string(),
        server_id: id,
        /**
         * The database that the restore created on the server of the target; null = it restored into the target itself.
         */
        database: z.nullable(z.string()),
        /** The tables or path that were restored; null = everything. */
        part: z.nullable(z.string()),
        /** The safety backup of the previous data. Restoring it undoes the restore. */
        safety_backup_id: z.nullable(id),
      }),
    ),
    /** The last restore drill of this backup. */
    drill_status: extra(stateOf(drillStates)),
    drill_output: extra(z.string()),
    drilled_at: extra(timestamp),
    /** Since when it is pinned: neither retention nor a request deletes it; null = it is not pinned. */
    pinned_at: extra(timestamp),
    /** Until when its storage refuses to delete the file; null = no lock is known. */
    locked_until: extra(timestamp),
    /** For a copy: the run that it was copied from; null once that run is deleted. */
    copy_of_id: extra(id),
    /** For a copy: when its run began. */
    taken_at: extra(timestamp),
    /** For a run: its newest copy in each other storage. */
    copies: z.optional(z.array(z.object({ id, storage_provider_id: id, status: z.string() }))),
    /** For a site: what was excluded, which a restore leaves as it is; null = nothing. */
    excluded: extra(z.object({ patterns: z.array(z.string()), caches: z.boolean() })),
  })
  .register(z.globalRegistry, { id: "Backup" });
export type Backup = z.infer<typeof backup>;

/** Whether a run made it. Safety backups and copies do not count towards protection. */
export const isOfRun = ({ trigger }: Pick<Backup, "trigger">): boolean =>
  trigger !== "safety" && trigger !== "copy";

export const isFinishedRun = (backup: Pick<Backup, "status" | "trigger">): boolean =>
  backup.status === "finished" && isOfRun(backup);

export const backupConfiguration = z
  .object({
    id,
    name: z.string(),
    frequency: z.string(),
    hold: orUnsaid(z.int()),
    directory: z.string(),
    status: stateOf(backupConfigurationStates),
    storage_provider_id: id,
    type: z.enum(backupableTypes),
    backupable: z.object({
      id,
      name: z.string(),
      status: z.string(),
      created_at: timestamp,
    }),
    last_backup: z.nullable(backup),
    last_backup_at: z.nullable(timestamp),
    /** Newest first: at most 10 in a list, 100 where one configuration is shown. */
    backups: z.array(backup),
    // The fields below are extras.
    server_id: z.optional(id),
    /** Why the status is what it is, for the operator. */
    status_reason: extra(z.string()),
    /** Since when the status is what it is; null = not recorded. */
    status_since: extra(timestamp),
    /** Human-readable frequency, e.g. "At 02:30, every day". */
    schedule_words: z.optional(z.string()),
    next_run_at: extra(timestamp),
    /** Since when a run is overdue; null = no run is overdue. */
    missed_since: extra(timestamp),
    /** Milliseconds between two runs of the schedule, at the current time. */
    gap_ms: extra(z.int()),
    /** End of the newest finished backup of a run. */
    last_finished_at: extra(timestamp),
    /** Days between restore drills; null = no drills. */
    drill: extra(z.int()),
    /** When a drill last proved that a backup of it can be restored. */
    last_proven_at: extra(timestamp),
    /** The newest backup whose drill failed, unless a drill of it or of a newer one passed since; null = there is none. */
    failed_drill: extra(z.object({ backup_id: id, at: timestamp })),
    /** The storage to which each run is copied; null = runs are not copied. */
    copy_storage_provider_id: extra(id),
    /** The storage that lacks the newest good backup; null = both storages have it, or there is only one. */
    copy_missing: extra(z.object({ storage: z.string(), since: timestamp })),
    /** What is kept beyond `hold`; null = nothing. */
    keep: extra(keepRules),
    /** For a site: patterns of excluded files, as in gitignore(5); null = none. */
    exclude: extra(z.array(z.string())),
    /** For a site: whether the content of folders with a CACHEDIR.TAG is excluded. */
    exclude_caches: z.optional(z.boolean()),
    /** Level of zstd; null = 3. */
    compression_level: extra(z.int()),
    /** Limit of the rate at which runs write to the storage; null = no limit. */
    bytes_per_second: extra(z.int()),
    /** Whether runs store only the changes since the last full backup where that is smaller. */
    incremental: z.optional(z.boolean()),
    /**
     * When its backups were adopted from an earlier installation. Until the configuration is changed, it has no
     * schedule and nothing is removed.
     */
    adopted_at: extra(timestamp),
    /** Problems that an operator should read although nothing failed. */
    warnings: z.optional(z.array(z.string())),
  })
  .register(z.globalRegistry, { id: "BackupConfiguration" });
export type BackupConfiguration = z.infer<typeof backupConfiguration>;

/** An extra: the upcoming runs of a configuration. */
export const backupSchedule = z
  .object({
    frequency: z.string(),
    /** IANA name of the time zone of the frequency. */
    time_zone: z.string(),
    /** The next five runs. */
    next_runs: z.array(timestamp),
    /** How a change of the clocks affects one of the upcoming runs; null = it affects none. */
    clock_change: z.nullable(z.string()),
    /** Backups that retention will have removed after the next scheduled run, oldest first. */
    removes_next: z.array(z.object({ id, path: z.string(), size: bytes, ended_at: timestamp })),
  })
  .register(z.globalRegistry, { id: "BackupSchedule" });
export type BackupSchedule = z.infer<typeof backupSchedule>;

/** How long a download link is valid. */
export const downloadLinkSeconds = 60;

export const downloadLink = z
  .object({
    /** Works once, until `expires_at`. Revoking the token that requested it invalidates it. */
    url: z.string(),
    expires_at: timestamp,
  })
  .register(z.globalRegistry, { id: "DownloadLink" });
export type DownloadLink = z.infer<typeof downloadLink>;
