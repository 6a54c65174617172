// Backup configurations and the backups they make: fields, bounds and states.
import * as z from "zod/mini";
import { allowedIn } from "../states.ts";
import { keepRules } from "./keep-rules.ts";
import { id, orUnsaid, stateOf, timestamp } from "../values.ts";

export const backupConfigurationStates = ["installing", "installed", "failed", "removing"] as const;
export type BackupConfigurationState = (typeof backupConfigurationStates)[number];

export const backupStates = ["pending", "running", "finished", "failed", "deleting"] as const;
export type BackupState = (typeof backupStates)[number];

export const restoreStates = ["running", "finished", "failed"] as const;
export type RestoreState = (typeof restoreStates)[number];

/** States of a backup that allow each action. Whether its target is free is for the service to check. */
export const canBackup = {
  restore: allowedIn<BackupState>(["finished"]),
  copy: allowedIn<BackupState>(["finished"]),
  remove: allowedIn<BackupState>(["finished", "failed"]),
  pin: allowedIn<BackupState>(["finished"]),
};

/** @returns the work of a backup that waits or runs, and can be canceled; null = none */
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

/** `late`: a good backup exists, but it or the runs since need attention. */
export const protectionStates = ["protected", "late", "unprotected"] as const;

export const backupableTypes = ["database", "site"] as const;
export type BackupableType = (typeof backupableTypes)[number];

/** Default of `hold`. */
export const defaultHold = 7;

/** Maximum of `hold`. */
export const maxHold = 8760;

/** Default compression level of zstd. */
export const usualCompressionLevel = 3;
export const maxCompressionLevel = 19;

/** Minimum of a bandwidth limit; with less, a backup would hardly end. */
export const minBytesPerSecond = 10_000;

/** Days for which a safety backup is kept; it never counts towards the hold. */
export const safetyKeptDays = 7;

/**
 * What asked for a backup. A safety backup is what a restore takes of its target first; an adopted one was made by an earlier
 * installation, a copy has the file of a run in a second storage, and an imported one is of a file that Quarterdeck did not make.
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
    /** The last 16 KiB of the run's output; inside a configuration, the last 1 KiB. */
    output: z.string(),
    status: stateOf(backupStates),
    restore_output: z.nullable(z.string()),
    restore_status: z.nullable(stateOf(restoreStates)),
    started_at: timestamp,
    ended_at: z.nullable(timestamp),
    restored_at: z.nullable(timestamp),
    duration: z.string(),
    // From here on: extras.
    configuration_id: z.optional(id),
    /** The storage of its file. */
    storage_provider_id: z.optional(id),
    trigger: z.optional(stateOf(backupTriggers)),
    /** Why it failed, for the operator. */
    status_reason: extra(z.string()),
    /** While it waits: number of tasks of its server that are ahead of it. */
    jobs_ahead: extra(z.int().check(z.gte(0))),
    /** While it runs: bytes read from the source, and bytes stored, so far. */
    progress: extra(z.object({ plain_bytes: bytes, stored_bytes: bytes })),
    /** Hex SHA-256 of the file as stored. */
    checksum: extra(z.string()),
    /** Whether the file is encrypted to the recipients of its storage. */
    encrypted: z.optional(z.boolean()),
    /** The full backup that this incremental one needs; null = it is a full one. */
    base_id: extra(id),
    /** Bytes before compression. */
    plain_size: extra(bytes),
    /** Warnings about a finished backup. */
    warnings: z.optional(z.array(z.string())),
    /** When the stored file was last read and found sound. */
    verified_at: extra(timestamp),
    /** How the stored file is damaged; null = no damage is known. */
    damage: extra(z.string()),
    /** Target of the last restore; null = the backup's own source. */
    restore_target: extra(
      z.object({
        type: z.enum(backupableTypes),
        id,
        name: z.string(),
        server_id: id,
        /** The name of a database that the restore made on that one's server; null = it went into that one. */
        database: z.nullable(z.string()),
        /** What alone was restored, tables or a path; null = all of it. */
        part: z.nullable(z.string()),
        /** The backup that it made of what was there: restoring that one undoes the restore. */
        safety_backup_id: z.nullable(id),
      }),
    ),
    /** The last restore drill of this backup. */
    drill_status: extra(stateOf(restoreStates)),
    drill_output: extra(z.string()),
    drilled_at: extra(timestamp),
    /** Since when it is pinned: neither retention nor a request deletes it; null = it is not. */
    pinned_at: extra(timestamp),
    /** Until when its storage refuses to delete the file; null = it doesn't, as far as anybody knows. */
    locked_until: extra(timestamp),
    /** Of a copy: the run that it is of; null once that one is deleted. */
    copy_of_id: extra(id),
    /** Of a copy: when that run began. */
    taken_at: extra(timestamp),
    /** Of a run: its newest copy in each other storage. */
    copies: z.optional(z.array(z.object({ id, storage_provider_id: id, status: z.string() }))),
    /** Of a site: what was left out, and a restore leaves as it is; null = nothing. */
    excluded: extra(z.object({ patterns: z.array(z.string()), caches: z.boolean() })),
  })
  .register(z.globalRegistry, { id: "Backup" });
export type Backup = z.infer<typeof backup>;

/** Whether a run made it. Safety backups and copies are no answer to the question of what is protected. */
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
    // From here on: extras.
    server_id: z.optional(id),
    /** Why the status is what it is, in the operator's words. */
    status_reason: extra(z.string()),
    /** Since when the status is what it is; null = that was not noted. */
    status_since: extra(timestamp),
    /** The frequency in words, e.g. "At 02:30, every day". */
    schedule_words: z.optional(z.string()),
    next_run_at: extra(timestamp),
    /** Since when a run is overdue; null = none is. */
    missed_since: extra(timestamp),
    /** Milliseconds between two runs of the schedule, around now. */
    gap_ms: extra(z.int()),
    /** End of the newest finished backup of a run. */
    last_finished_at: extra(timestamp),
    /** A restore drill every so many days; null = none. */
    drill: extra(z.int()),
    /** When a backup of it was last proven restorable by a drill. */
    last_proven_at: extra(timestamp),
    /** Where each run is copied to; null = nowhere. */
    copy_storage_provider_id: extra(id),
    /** The one of both storages that the newest good backup is missing in; null = it is in both, or there is one only. */
    copy_missing: extra(z.object({ storage: z.string(), since: timestamp })),
    /** What stays beyond `hold`; null = nothing. */
    keep: extra(keepRules),
    /** Of a site: patterns of files that are left out, as gitignore has them; null = none are. */
    exclude: extra(z.array(z.string())),
    /** Of a site: the content of folders with a CACHEDIR.TAG is left out. */
    exclude_caches: z.optional(z.boolean()),
    /** Of zstd; null = 3. */
    compression_level: extra(z.int()),
    /** How fast runs write to the storage; null = as fast as they can. */
    bytes_per_second: extra(z.int()),
    /** Backups hold what has changed since the last full one where that is smaller. */
    incremental: z.optional(z.boolean()),
    /** When its backups were taken over from an earlier installation: until it is changed there is no schedule, and nothing is removed. */
    adopted_at: extra(timestamp),
    /** What the operator should know although nothing failed. */
    warnings: z.optional(z.array(z.string())),
  })
  .register(z.globalRegistry, { id: "BackupConfiguration" });
export type BackupConfiguration = z.infer<typeof backupConfiguration>;

/** An extra: what comes next for a configuration. */
export const backupSchedule = z
  .object({
    frequency: z.string(),
    /** IANA name of the zone that the frequency is read in. */
    time_zone: z.string(),
    /** The next five. */
    next_runs: z.array(timestamp),
    /** What a change of the clocks does to one of the coming runs, in words; null = nothing. */
    clock_change: z.nullable(z.string()),
    /** What retention will have removed once the next scheduled run has finished; oldest first. */
    removes_next: z.array(z.object({ id, path: z.string(), size: bytes, ended_at: timestamp })),
  })
  .register(z.globalRegistry, { id: "BackupSchedule" });
export type BackupSchedule = z.infer<typeof backupSchedule>;

/** How long a download link works. */
export const downloadLinkSeconds = 60;

export const downloadLink = z
  .object({
    /** Works once, and only until then; it stops working when the token that asked for it is revoked. */
    url: z.string(),
    expires_at: timestamp,
  })
  .register(z.globalRegistry, { id: "DownloadLink" });
export type DownloadLink = z.infer<typeof downloadLink>;
