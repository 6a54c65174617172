// What can be backed up. Each kind of source implements this type: it streams its content, and restores such a stream completely
// or not at all.
import type { Readable, Writable } from "node:stream";
import type { ForeignFile } from "../foreign/foreign-file.ts";
import type { Content, Unpacked } from "../pipeline/unpacker.ts";

/** The source failed. The message is for the operator: what, where, why, what to do. */
export class SourceError extends Error {
  override name = "SourceError";
}

/** The database that a restore was to create exists already. */
export const databaseTaken = ({ name, database }: { name: string; database: string }) =>
  new SourceError(
    `The server of ${name} already has a database “${database}”. Nothing was changed. Choose another name.`,
  );

/** Restores the class of an error from a child process, which is known only by its name. */
export const reviveSourceError = (error: unknown): unknown =>
  error instanceof Error && error.name === "SourceError" && !(error instanceof SourceError)
    ? new SourceError(error.message, { cause: error })
    : error;

/** What a backup of a folder excludes. */
export type Excludes = {
  /** Patterns as in gitignore(5). */
  patterns: string[];
  /** The content of folders with a CACHEDIR.TAG. */
  caches: boolean;
};

/** A SQLite database inside a folder. */
export type SiteDatabase = {
  /** Its path below the folder, in printable ASCII. */
  name: string;
  /** SQLite's error about the database in the folder itself; null = it was sound. */
  problem: string | null;
  /** False where SQLite could not open the database, so that its state is unknown. */
  isOpened?: false;
};

/** Owner and mode of a file: permission bits, user and group by number. */
export type FileOwner = { mode: number; uid: number; gid: number };

export type Checksums = {
  /** Version of the program whose output is summed: another version may write the same rows differently. */
  by: string;
  /** Hex checksum by table, independent of the order of rows. */
  tables: Record<string, string>;
  /** For a whole server: other values of `by`, by database. */
  others?: Record<string, string>;
};

/** Where a dump came from, for a restore without the service. */
export type Origin = { database?: string; path?: string; tools: Record<string, string> };

/** What a dump contains. A drill compares it with the restored content. Stored as JSON. */
export type Manifest =
  | {
      kind: "database";
      /** Rows by table, as of the dump's own snapshot. */ tables: Record<string, number>;
      /** For a database that is one file; absent in older backups. */
      file?: FileOwner;
      /** Absent where the engine has none, and in older backups. */
      checksums?: Checksums;
      /** For a whole server: its databases. Names of tables begin with the name of their database. */
      databases?: string[];
    }
  | {
      kind: "folder";
      entries: number;
      bytes: number;
      /** Hex SHA-256 over the archiver's listing. */
      digest: string;
      /** What was excluded, which a restore leaves as it is; absent = nothing. */
      excluded?: Excludes;
      /** SQLite databases in the folder; absent in older backups. */
      databases?: SiteDatabase[];
    };

export type Attempt = {
  /** Id of the backup. Names of temporary objects contain it, so that `settle` finds them. */
  id: number;
  /** Adds a line to the output of the run, including problems that do not fail it. */
  say(line: string): void;
  signal: AbortSignal;
  /** Level of zstd where the source's machine compresses; absent = the default. */
  compressionLevel?: number | undefined;
  /** Opens the content again, where it has to be read twice. */
  reopen?: (() => Promise<Readable>) | undefined;
};

export type CompressedDump = {
  /** Kind of the compressed content; archives are inspected while they are dumped. */
  content: Content;
  /**
   * Writes the dump compressed by zstd.
   * @returns builds the manifest once all of the dump was decompressed
   */
  dump(into: Writable, attempt: Attempt): Promise<(archive: Unpacked["archive"]) => Manifest>;
};

/** A place for drills outside the source itself. */
export type Drill = Pick<Source, "drill"> & {
  /** Removes what a drill left that was killed. Safe to call where nothing is left. */
  settle(attempt: Attempt): Promise<unknown>;
};

/** Commands that run before and after a backup, on the source's server. */
export type Hooks = {
  /**
   * Checks that the hooks could run, without running them.
   * @throws SourceError where there is no account for them, or ServerAway
   */
  rehearse?(): Promise<void>;
  /**
   * @param mark identifies the processes of this run
   * @throws SourceError where the hook fails; nothing must be backed up then
   */
  before(say: Attempt["say"], signal: AbortSignal, mark: string): Promise<void>;
  /**
   * Runs after every backup, whether it succeeded or failed.
   * @param left the mark of a run that was killed: its first hook may still run, and is ended first
   * @returns why the hook failed; null = it did not
   */
  after(say: Attempt["say"], left?: string): Promise<string | null>;
};

/** Turns a file that something else made into a backup. */
export type Intake = {
  /**
   * Does what must be done or known before anything is stored.
   * @throws SourceError
   */
  prepare?(attempt: Attempt): Promise<void>;
  /**
   * Writes what `Source.dump` would have written. Reads the file to its end.
   * @throws SourceError
   */
  dump: Source["dump"];
  /** Removes what `prepare` has made, whether the import succeeded or failed. After a kill, `Source.settle` does. */
  discard?(attempt: Attempt): Promise<void>;
};

export type Source = {
  /** Absent where no hooks are configured. */
  readonly hooks?: Hooks;

  /** Extension of its files, before `.zst`: `dump`, `sql`, `sqlite`, `tar`, `server.tar`, `mysql-server.tar`. */
  readonly extension: string;

  /** For a database on a database server: its name there. */
  readonly database?: string;

  /** @returns versions by program, as found by the last rehearsal */
  tools?(): Record<string, string>;

  /**
   * Checks that a backup could succeed now: the source responds, and the tool is installed and new enough.
   * @returns a line for the operator, e.g. "PostgreSQL 15.18 answers; pg_dump 15.18."
   * @throws SourceError
   */
  rehearse(signal: AbortSignal): Promise<string>;

  /**
   * @returns sentences that an operator should read although backups work, e.g. why a restore would be refused
   * @throws SourceError
   */
  warnings?(signal: AbortSignal): Promise<string[]>;

  /**
   * Writes the content into `into` and ends it, or destroys it on failure. The memory of a piece is reused as soon as its write
   * is done. Resolves only once the tool has succeeded.
   * @throws SourceError
   */
  dump(into: Writable, attempt: Attempt): Promise<Manifest>;

  /**
   * @returns a text that stays the same only as long as a dump would be the same, found without reading the content; null where
   *   it is unknown now
   */
  state?(signal: AbortSignal): Promise<string | null>;

  /**
   * @returns what to use in place of `dump` where the source's machine can compress; null where it cannot
   * @param isUnpacked whether the service decompresses before it stores, so that only a transfer over the network gains by it
   */
  compressed?(signal: AbortSignal, use?: { isUnpacked: boolean }): Promise<CompressedDump | null>;

  /** Whether there is data that a restore would replace and a safety backup should save. */
  exists(): Promise<boolean>;

  /**
   * Whether a restore would replace nothing, where that is more precise than `exists`.
   * @throws SourceError
   */
  isEmpty?(signal: AbortSignal): Promise<boolean>;

  /**
   * Counts the rows of the live database as a dump would, within a time limit.
   * @returns rows by table; null where the database does not exist
   * @throws SourceError
   */
  countRows?(signal: AbortSignal): Promise<Record<string, number> | null>;

  /**
   * Checks a restore before it begins. The state may change after that, so `restore` checks again.
   * @throws SourceError where the restore would be refused
   */
  refuseRestore?(attempt: Pick<Attempt, "id" | "signal">, manifest: Manifest | null): Promise<void>;

  /**
   * Whether a restore builds the data beside the current one and swaps the two only after it has read `from` to its end, so that
   * the stored file can be verified at the same time. False where the dump is run as statements, which could change anything
   * before the end.
   */
  readonly isBuiltAside: boolean;

  /**
   * Replaces the data by `from`, completely or not at all: after any failure, abort or kill, and the `settle` that follows, the
   * source is as before or as in the backup.
   * @throws SourceError
   */
  restore(from: Readable, attempt: Attempt, manifest?: Manifest | null): Promise<void>;

  /**
   * @returns what to use in place of `restore`, for a compressed `from`, where the source's machine can decompress; null where it
   *   cannot
   */
  unpacking?(signal: AbortSignal): Promise<Pick<Source, "restore"> | null>;

  /** Imports a file of a kind that the engine accepts, see `acceptedKinds`. Absent where nothing can be imported. */
  intake?(file: ForeignFile): Intake;

  /**
   * Restores into a scratch place, compares the result with the manifest, and removes it.
   * @throws SourceError that says what differs
   */
  drill(from: Readable, manifest: Manifest | null, attempt: Attempt): Promise<string>;

  /**
   * Completes or undoes a restore or drill that was killed, and removes what it left. Safe to call where nothing is left.
   * @returns whether the source is `as it was`, `restored`, or `unknown`: one of the two, whole
   */
  settle(attempt: Attempt): Promise<"as it was" | "restored" | "unknown">;
};
