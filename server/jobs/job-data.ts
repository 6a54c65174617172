// The data of each kind of job. It is stored while the job waits, so older or newer versions may read it.
import type { BackupTaskKind } from "../store/tables/backups.ts";

/** Data of a job that only the instance that looks after the server may run. */
type OfServer<Data extends object> = Data & { server_id: number };

/** Jobs that only the instance of their server runs. */
export type ServerJobs = {
  /** A request has changed a worker's state, which its processes have to follow. */
  "worker.apply": OfServer<{ id: number; transition: number }>;
  /**
   * A deployment of a worker's site has to be applied to the worker.
   * `transition` is null where it did not change the worker's state.
   */
  "worker.deploy": OfServer<{ id: number; transition: number | null }>;
  /** A configuration was created or changed, and has to be rehearsed. */
  "backup-configuration.installing": OfServer<{ id: number; transition: number }>;
  /** A configuration's files have to be removed, and then the configuration itself. */
  "backup-configuration.removing": OfServer<{ id: number; transition: number }>;
  /** A backup's file has to be removed, and then its row. */
  "backup.deleting": OfServer<{ id: number; transition: number }>;
  /** A run failed; what it may have left in its storage has to be removed. */
  "backup.clean": OfServer<{ storage_provider_id: number; path: string }>;
};

/** All queues, with the data of their jobs. */
export type JobData = ServerJobs & {
  "backup-configuration.deadline": { id: number; transition: number };
  "backup.deadline": { id: number; transition: number };
  /** Deadline by which a task has to begin. */
  "backup-task.deadline": { id: string };
  /** Hourly: deletes old rows, and adds jobs that are missing. */
  upkeep: Record<string, never>;
  /** Nightly: backs up the service itself. */
  "self-backup": Record<string, never>;
};

/** Target of a restore that does not restore into the backup's own source. */
export type RestoreDestination = {
  database_id: number | null;
  site_id: number | null;
  /** Name of a database that the restore creates on the entry's server; null = the entry's own database. */
  database: string | null;
  /** Whether owners and permissions of the backup are restored; otherwise everything belongs to the entry's account. */
  keeps_owners: boolean;
  /** For a backup of a whole server: the only database to restore. */
  from_database?: string;
  /** For a database: the only tables to restore. */
  tables?: string[];
  /** For a site: the only file or folder to restore, relative to the site's folder. */
  path?: string;
};

/** A separate kind, because versions that do not know destinations would restore into the source. */
export const restoreInto = "restore into";

/** A file from elsewhere that is to become a backup. */
export type ImportedFile = {
  storage_provider_id: number;
  path: string;
  /** Bytes as stored. */
  size: number;
  /** Name for people. */
  name: string;
  /**
   * For a file that a request has sent, which is removed afterwards: its SHA-256 as stored, and whether it was encrypted
   * meanwhile.
   */
  upload: { checksum: string; is_sealed: boolean } | null;
};

/** A task of a server, which may take hours. Each server runs one at a time. */
export type BackupTask = {
  backup_id: number;
  kind: BackupTaskKind | typeof restoreInto;
  /** For a restore: whether it skips the safety backup. */
  skip_safety_backup: boolean;
  /** For a restore into something other than the source. Omitted by older versions. */
  destination?: RestoreDestination | null;
  /** For an import. */
  file?: ImportedFile;
  /** When the task began, in ISO 8601; null while it waits. A claim that finds it set settles an interrupted task. */
  begun_at: string | null;
};
export const backupTaskQueue = "backup.task";
