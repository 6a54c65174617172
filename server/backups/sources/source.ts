// What can be backed up. Each kind is one file behind this type: it makes a stream of its content,
// and puts such a stream back, whole or not at all.
import type { Readable, Writable } from "node:stream";

/** The source did not do what it was asked. The message is for the operator: what, where, why, what to do. */
export class SourceError extends Error {
  override name = "SourceError";
}

/** What a dump says its content is; a drill holds what came back against it. Kept as JSON. */
export type Manifest =
  | {
      kind: "database";
      /** Rows by table, as of the dump's own snapshot. */ tables: Record<string, number>;
    }
  | {
      kind: "folder";
      entries: number;
      bytes: number;
      /** Hex SHA-256 over what the archiver says of each entry. */
      digest: string;
    };

export type Attempt = {
  /** Names the restore or drill in scratch names, so that `settle` finds them: the backup's id. */
  id: number;
  /** A line for the run's output; what goes wrong without failing the run is said here too. */
  say(line: string): void;
  signal: AbortSignal;
};

export type Source = {
  /** What its files end with, before `.zst`: `dump`, `sql`, `sqlite`, `tar`. */
  readonly extension: string;

  /**
   * Looks whether a backup could work now: the source answers, the tool is there and new enough.
   * @returns a line for the operator, e.g. "PostgreSQL 15.18 answers; pg_dump 15.18."
   * @throws SourceError
   */
  rehearse(signal: AbortSignal): Promise<string>;

  /**
   * Writes the whole content into `into` and ends it, or destroys it when that fails. The memory of a piece is used
   * again as soon as its write is done.
   * Resolves only after the tool ended well. @throws SourceError
   */
  dump(into: Writable, attempt: Attempt): Promise<Manifest>;

  /** Whether there is anything that a restore would replace (and that a safety backup should save). */
  exists(): Promise<boolean>;

  /**
   * Puts `from` in place of what is there, whole or not at all: after any failure, abort or kill (and the `settle`
   * that follows it) the source is as it was, or as in the backup. @throws SourceError
   */
  restore(from: Readable, attempt: Attempt): Promise<void>;

  /** Restores into a scratch place, holds it against the manifest, throws it away. @throws SourceError that says what differs */
  drill(from: Readable, manifest: Manifest | null, attempt: Attempt): Promise<string>;

  /**
   * After a restore or drill that a kill cut off: finishes or undoes it and removes what it left. Safe to call when nothing is left.
   * @returns whether the source is `as it was`, `restored`, or cannot be told apart (`unknown`: one of the two, whole)
   */
  settle(attempt: Attempt): Promise<"as it was" | "restored" | "unknown">;
};
