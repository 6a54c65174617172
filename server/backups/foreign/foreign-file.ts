// Describes a file that Quarterdeck did not make, after its beginning was read.
import type { Readable } from "node:stream";

/** Kinds of content that can be imported. */
export type ForeignKind =
  | "postgres-archive"
  | "postgres-sql"
  | "mysql-sql"
  | "phpmyadmin-sql"
  | "adminer-sql"
  /** SQL of an unknown program. */
  | "sql"
  | "sqlite"
  | "tar";

export type ForeignFile = {
  kind: ForeignKind;
  /** For people, e.g. "a tar archive, compressed by gzip". */
  words: string;
  /** Decompressed, from its first byte; fails with a SourceError where the file is truncated or damaged. */
  content: Readable;
};
