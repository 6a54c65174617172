// What a file that Quarterdeck did not make is, once its beginning was read.
import type { Readable } from "node:stream";

/** What it can be, unpacked, that a backup is made of. */
export type ForeignKind =
  | "postgres-archive"
  | "postgres-sql"
  | "mysql-sql"
  | "phpmyadmin-sql"
  | "adminer-sql"
  /** Of whom it doesn't say. */
  | "sql"
  | "sqlite"
  | "tar";

export type ForeignFile = {
  kind: ForeignKind;
  /** As people read it, e.g. "a tar archive, compressed by gzip". */
  words: string;
  /** Unpacked, from its first byte; it fails with a SourceError where the file is cut off or damaged. */
  content: Readable;
};
