// Backup configurations and the backups they make: fields, bounds and states.
import * as z from "zod/mini";
import { allowedIn } from "../states.ts";
import { id, integer, line, stateOf, timestamp } from "../values.ts";

export const backupConfigurationStates = ["installing", "installed", "failed", "removing"] as const;
export type BackupConfigurationState = (typeof backupConfigurationStates)[number];

export const backupStates = ["pending", "running", "finished", "failed", "deleting"] as const;
export type BackupState = (typeof backupStates)[number];

export const restoreStates = ["running", "finished", "failed"] as const;
export type RestoreState = (typeof restoreStates)[number];

/** Which states of a backup allow which action. That its target is free is the service's to check. */
export const canBackup = {
  restore: allowedIn<BackupState>(["finished"]),
  remove: allowedIn<BackupState>(["finished", "failed"]),
};

/** Which states of a configuration allow which action. */
export const canBackupConfiguration = {
  run: allowedIn<BackupConfigurationState>(["installed", "failed"]),
  update: allowedIn<BackupConfigurationState>(["installing", "installed", "failed"]),
  remove: allowedIn<BackupConfigurationState>(["installing", "installed", "failed"]),
};

export const backupableTypes = ["database", "site"] as const;
export type BackupableType = (typeof backupableTypes)[number];

/** How many finished backups a configuration keeps when it does not say. */
export const defaultHold = 7;

export const backup = z
  .object({
    id,
    path: z.string(),
    /** Bytes as stored; 0 while the backup runs. */
    size: z.int().check(z.gte(0)),
    output: z.string(),
    status: stateOf(backupStates),
    restore_output: z.nullable(z.string()),
    restore_status: z.nullable(stateOf(restoreStates)),
    started_at: timestamp,
    ended_at: z.nullable(timestamp),
    restored_at: z.nullable(timestamp),
    duration: z.string(),
  })
  .register(z.globalRegistry, { id: "Backup" });
export type Backup = z.infer<typeof backup>;

export const backupConfiguration = z
  .object({
    id,
    name: z.string(),
    frequency: z.string(),
    hold: z.int(),
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
    backups: z.array(backup),
    /** Extra: why the status is what it is, in the operator's words. */
    status_reason: z.optional(z.nullable(z.string())),
  })
  .register(z.globalRegistry, { id: "BackupConfiguration" });
export type BackupConfiguration = z.infer<typeof backupConfiguration>;

/** A relative directory that stays where it is put: no `..`, no leading slash, nothing unprintable. */
const storageDirectory = line(255).check(
  z.refine((path) => !path.startsWith("/") && !path.split("/").includes(".."), {
    error: "The directory field must be a relative path without “..”.",
  }),
);

const settings = {
  name: line(255),
  /** Five cron fields, read in the server's time zone. */
  frequency: line(255),
  hold: z.optional(integer(1, 8760)),
  directory: z.optional(storageDirectory),
  storage_provider_id: id,
};

export const updateBackupConfigurationBody = z
  .object(settings)
  .register(z.globalRegistry, { id: "UpdateBackupConfiguration" });

export const createBackupConfigurationBody = z
  .object({ ...settings, backupable_type: z.enum(backupableTypes), backupable_id: id })
  .register(z.globalRegistry, { id: "CreateBackupConfiguration" });
