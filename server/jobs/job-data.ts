// What each job carries. It lies in the database for as long as the job waits: an older or newer version may read it.
import type { BackupTaskKind } from "../store/tables.ts";

/** What a job carries that only the instance may do which looks after the server. */
type OfServer<Data extends object> = Data & { server_id: number };

/** The jobs that only a server's own instance does. */
export type ServerJobs = {
  /** A worker's state was changed by a request; its processes are to follow. */
  "worker.apply": OfServer<{ id: number; transition: number }>;
  /**
   * A worker's site was deployed; what its row says of that is to be carried out.
   * `transition` is null where its state did not change for it.
   */
  "worker.deploy": OfServer<{ id: number; transition: number | null }>;
  /** A configuration was made or changed; its parts are to be tried. */
  "backup-configuration.installing": OfServer<{ id: number; transition: number }>;
  /** A configuration's files are to go, and then itself. */
  "backup-configuration.removing": OfServer<{ id: number; transition: number }>;
  /** A backup's file is to go, and then its row. */
  "backup.deleting": OfServer<{ id: number; transition: number }>;
  /** A run failed; what it may have left in its storage is to go. */
  "backup.clean": OfServer<{ storage_provider_id: number; path: string }>;
};

/** Every queue, and what a job of it carries. */
export type JobData = ServerJobs & {
  "backup-configuration.deadline": { id: number; transition: number };
  "backup.deadline": { id: number; transition: number };
  /** A heavy job should have begun by now. */
  "backup-task.deadline": { id: string };
  /** Once an hour: what is old goes, and what is due and has no job gets one. */
  upkeep: Record<string, never>;
  /** Once a night: the service backs itself up. */
  "self-backup": Record<string, never>;
};

/** Where a restore goes that does not go back into the backup's own source. */
export type RestoreDestination = {
  database_id: number | null;
  site_id: number | null;
  /** A database that the restore makes on the server of the entry; null = the entry's own. */
  database: string | null;
  /** Whether owners and permissions are those of the backup; else everything belongs to the account of the entry. */
  keeps_owners: boolean;
  /** Of a backup of a whole server: the only database that is restored. */
  from_database?: string;
  /** Of a database: the only tables that are restored. */
  tables?: string[];
  /** Of a site: the only file or folder that is restored, below its folder. */
  path?: string;
};

/** A kind of its own: a version that does not know of destinations would restore into the source. */
export const restoreInto = "restore into";

/** A file that Quarterdeck did not make, which is to become a backup. */
export type ImportedFile = {
  storage_provider_id: number;
  path: string;
  /** As stored. */
  size: number;
  /** As people know it. */
  name: string;
  /** Of one that a request has sent, which is removed afterwards: its SHA-256 as stored, and whether it was encrypted for the time. */
  upload: { checksum: string; is_sealed: boolean } | null;
};

/** A heavy job of a server: hours of work, one at a time for each server. */
export type BackupTask = {
  backup_id: number;
  kind: BackupTaskKind | typeof restoreInto;
  /** Of a restore: what is there now is not saved first. */
  skip_safety_backup: boolean;
  /** Of a restore into something else than the source. Left out by older versions. */
  destination?: RestoreDestination | null;
  /** Of an import. */
  file?: ImportedFile;
  /** When it began, as a moment in ISO 8601; null while it waits. A claim after that finds it cut off. */
  begun_at: string | null;
};
export const backupTaskQueue = "backup.task";
