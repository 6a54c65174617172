// What can be backed up. Each kind is one file behind this type: it makes a stream of its content,
// and puts such a stream back, whole or not at all.
import type { Readable, Writable } from "node:stream";
import type { ForeignFile } from "../foreign/foreign-file.ts";
import type { Content, Unpacked } from "../unpacker.ts";

/** The source did not do what it was asked. The message is for the operator: what, where, why, what to do. */
export class SourceError extends Error {
  override name = "SourceError";
}

/** Of a restore into a database that it was to make. */
export const databaseTaken = ({ name, database }: { name: string; database: string }) =>
  new SourceError(
    `The server of ${name} already has a database “${database}”. Nothing was changed. Choose another name.`,
  );

/** Of an error that came over from a process that is a site's account, where only its name says what it was. */
export const reviveSourceError = (error: unknown): unknown =>
  error instanceof Error && error.name === "SourceError" && !(error instanceof SourceError)
    ? new SourceError(error.message, { cause: error })
    : error;

/** What a backup of a folder leaves out. */
export type Excludes = {
  /** As gitignore(5) has them. */
  patterns: string[];
  /** The content of folders with a CACHEDIR.TAG. */
  caches: boolean;
};

/** A SQLite database inside a folder. */
export type SiteDatabase = {
  /** Its path below the folder, in printable ASCII. */
  name: string;
  /** What was wrong with it in the folder itself, as SQLite says; null = it was sound. */
  problem: string | null;
  /** SQLite could not open it there, so nobody knows whether it was sound. */
  isOpened?: false;
};

/** Whose a file is, and who may do what with it: permission bits, user and group by number. */
export type FileOwner = { mode: number; uid: number; gid: number };

export type Checksums = {
  /** What wrote the rows that were summed up: the same rows need not read the same in another version. */
  by: string;
  /** Hex by table; the order of rows does not matter. */
  tables: Record<string, string>;
  /** Of a whole server: by database, where something else than that wrote the rows. */
  others?: Record<string, string>;
};

/** Where a dump came from, as far as a restore without the service needs it. */
export type Origin = { database?: string; path?: string; tools: Record<string, string> };

/** What a dump says its content is; a drill holds what came back against it. Kept as JSON. */
export type Manifest =
  | {
      kind: "database";
      /** Rows by table, as of the dump's own snapshot. */ tables: Record<string, number>;
      /** Of a database that is one file: left out by older backups. */
      file?: FileOwner;
      /** Of the rows of each table; absent where an engine makes none, and in what was dumped before there were any. */
      checksums?: Checksums;
      /** Of a whole server: the names of its databases. Its tables' names begin with the one of their database. */
      databases?: string[];
    }
  | {
      kind: "folder";
      entries: number;
      bytes: number;
      /** Hex SHA-256 over what the archiver says of each entry. */
      digest: string;
      /** What was left out; absent = nothing. A restore leaves that as it is. */
      excluded?: Excludes;
      /** Those that were found; left out by older backups, which did not look. */
      databases?: SiteDatabase[];
    };

export type Attempt = {
  /** Names the restore or drill in scratch names, so that `settle` finds them: the backup's id. */
  id: number;
  /** A line for the run's output; what goes wrong without failing the run is said here too. */
  say(line: string): void;
  signal: AbortSignal;
  /** Of zstd, where the source's machine compresses; absent = the usual one. */
  compressionLevel?: number | undefined;
  /** Opens what is restored once more, for what has to be read twice. */
  reopen?: (() => Promise<Readable>) | undefined;
};

export type CompressedDump = {
  /** What is compressed; an archive is inspected on the way. */
  content: Content;
  /**
   * Like that of a source, but what it writes is compressed by zstd.
   * @returns what makes the manifest, once all of it was unpacked again
   */
  dump(into: Writable, attempt: Attempt): Promise<(archive: Unpacked["archive"]) => Manifest>;
};

/** Where restores are tried that is not the source itself. */
export type Drill = Pick<Source, "drill"> & {
  /** After a drill that a kill cut off: removes what it left. Safe to call when nothing is left. */
  settle(attempt: Attempt): Promise<unknown>;
};

/** What runs before and after a backup, where the source is. */
export type Hooks = {
  /** Whether they could run now; none of them does. @throws SourceError where there is no account for them, or ServerAway */
  rehearse?(): Promise<void>;
  /**
   * @param mark one of the run's own, by which what is left of it is found
   * @throws SourceError where it fails: nothing is to be backed up then
   */
  before(say: Attempt["say"], signal: AbortSignal, mark: string): Promise<void>;
  /**
   * Whatever became of the backup.
   * @param left the mark of a run that a kill cut off: what runs before it may still be at work, and is ended first
   * @returns why it failed, in words; null = it did not
   */
  after(say: Attempt["say"], left?: string): Promise<string | null>;
};

/** Makes a backup of a file that Quarterdeck did not make. */
export type Intake = {
  /** Before anything is stored: what takes long, or has to be known first. @throws SourceError */
  prepare?(attempt: Attempt): Promise<void>;
  /** Writes what a dump of the source would have: see `Source.dump`. Reads the file to its end. @throws SourceError */
  dump: Source["dump"];
  /** Whatever became of it: removes what `prepare` has made. What is left after a kill is for `Source.settle`. */
  discard?(attempt: Attempt): Promise<void>;
};

export type Source = {
  /** Absent: nothing runs. */
  readonly hooks?: Hooks;

  /** What its files end with, before `.zst`: `dump`, `sql`, `sqlite`, `tar`, `server.tar`, `mysql-server.tar`. */
  readonly extension: string;

  /** Of one in a database server: its name there. */
  readonly database?: string;

  /** Versions by program, as the last rehearsal found them. */
  tools?(): Record<string, string>;

  /**
   * Looks whether a backup could work now: the source answers, the tool is there and new enough.
   * @returns a line for the operator, e.g. "PostgreSQL 15.18 answers; pg_dump 15.18."
   * @throws SourceError
   */
  rehearse(signal: AbortSignal): Promise<string>;

  /**
   * What an operator should know at the installation although backups work, e.g. why a restore would be refused.
   * @returns sentences; none = nothing
   * @throws SourceError
   */
  warnings?(signal: AbortSignal): Promise<string[]>;

  /**
   * Writes the whole content into `into` and ends it, or destroys it when that fails. The memory of a piece is used
   * again as soon as its write is done.
   * Resolves only after the tool ended well. @throws SourceError
   */
  dump(into: Writable, attempt: Attempt): Promise<Manifest>;

  /**
   * Where it can be told without reading the content: a text that stays the same only as long as a dump would hold the same.
   * @returns null where that cannot be told now
   */
  state?(signal: AbortSignal): Promise<string | null>;

  /**
   * Where the source's machine compresses by itself: what to use in place of `dump`; null where it cannot.
   * @param isUnpacked it is unpacked here before it is stored, so that only a way over the network gains by it
   */
  compressed?(signal: AbortSignal, use?: { isUnpacked: boolean }): Promise<CompressedDump | null>;

  /** Whether there is anything that a restore would replace (and that a safety backup should save). */
  exists(): Promise<boolean>;

  /** Whether a restore would replace nothing, where that says more than `exists`. @throws SourceError */
  isEmpty?(signal: AbortSignal): Promise<boolean>;

  /**
   * Counts the rows of a database as it is now, as a dump would; it gives up after a while.
   * @returns rows by table; null when there is no such database
   * @throws SourceError
   */
  countRows?(signal: AbortSignal): Promise<Record<string, number> | null>;

  /**
   * Before anything is saved or made for a restore. What it finds may change until then, so the restore itself looks again.
   * @throws SourceError where a restore would be refused as things are
   */
  refuseRestore?(attempt: Pick<Attempt, "id" | "signal">, manifest: Manifest | null): Promise<void>;

  /**
   * A restore builds everything aside, and puts it in place only once it has read `from` to its end: one that breaks off
   * before that changes nothing, so the content is compared with what was stored while it is restored. False where it is
   * run as statements, since those could do anything before the end.
   */
  readonly isBuiltAside: boolean;

  /**
   * Puts `from` in place of what is there, whole or not at all: after any failure, abort or kill (and the `settle`
   * that follows it) the source is as it was, or as in the backup. @throws SourceError
   */
  restore(from: Readable, attempt: Attempt, manifest?: Manifest | null): Promise<void>;

  /** Where the source's machine unpacks zstd by itself: what to use in place of `restore`, for a `from` that is compressed; null where it cannot. */
  unpacking?(signal: AbortSignal): Promise<Pick<Source, "restore"> | null>;

  /** Of a file of a kind that its engine accepts; see `acceptedKinds`. Absent: nothing can be imported. */
  intake?(file: ForeignFile): Intake;

  /** Restores into a scratch place, holds it against the manifest, throws it away. @throws SourceError that says what differs */
  drill(from: Readable, manifest: Manifest | null, attempt: Attempt): Promise<string>;

  /**
   * After a restore or drill that a kill cut off: finishes or undoes it and removes what it left. Safe to call when nothing is left.
   * @returns whether the source is `as it was`, `restored`, or cannot be told apart (`unknown`: one of the two, whole)
   */
  settle(attempt: Attempt): Promise<"as it was" | "restored" | "unknown">;
};
