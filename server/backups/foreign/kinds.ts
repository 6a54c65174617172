// Recognizes by its first bytes what kind a foreign file is. Its name is ignored, because people rename files.
import type { Engine } from "../subject.ts";
import { hasSqliteHeader } from "../sources/sqlite/header.ts";
import { hasHeaderSum, isSound } from "../sources/folder/tar-header.ts";
import type { ForeignKind } from "./foreign-file.ts";

/** Names of the kinds for sentences. */
export const kindWords: Record<ForeignKind, string> = {
  "postgres-archive": "a pg_dump archive",
  "postgres-sql": "SQL text of pg_dump",
  "mysql-sql": "SQL text of mysqldump or mariadb-dump",
  "phpmyadmin-sql": "SQL text of phpMyAdmin",
  "adminer-sql": "SQL text of Adminer",
  sql: "SQL text",
  sqlite: "a SQLite database",
  tar: "a tar archive",
};

/** Kinds that each engine can import. */
export const acceptedKinds: Record<Engine, readonly ForeignKind[]> = {
  "postgres-server": [],
  postgres: ["postgres-archive", "postgres-sql", "sql"],
  mysql: ["mysql-sql", "phpmyadmin-sql", "adminer-sql", "sql"],
  "mysql-server": [],
  sqlite: ["sqlite"],
  folder: ["tar"],
};

/** Descriptions of what an import into each engine needs. */
const everything =
  "all databases of its server, which no file has: add the one database to the inventory, and import into that";

export const neededWords: Record<Engine, string> = {
  "postgres-server": everything,
  "mysql-server": everything,
  postgres: "a dump of pg_dump, plain or in its custom format",
  mysql: "SQL text of mysqldump, mariadb-dump, phpMyAdmin or Adminer",
  sqlite: "a SQLite database file",
  folder: "a tar archive",
};

/** Compression that is removed while reading. */
export type Layer = "gzip" | "zstd" | "xz" | "bzip2";

type Recognized =
  | { is: "content"; kind: ForeignKind }
  | { is: "packed"; layer: Layer }
  /** Cannot be imported. `words` names it, `cure` is a sentence that says what to do. */
  | { is: "refused"; words: string; cure: string };

/** Bytes of a file that decide: a tar archive has its mark at byte 257, and a dump names its program in its first lines. */
export const beginningBytes = 8192;

const starts = (bytes: Buffer, ...start: number[]): boolean =>
  start.every((byte, at) => bytes[at] === byte);
const says = (bytes: Buffer, text: string): boolean =>
  bytes.subarray(0, text.length).equals(Buffer.from(text, "latin1"));

const refused = (words: string, cure: string): Recognized => ({ is: "refused", words, cure });
const content = (kind: ForeignKind): Recognized => ({ is: "content", kind });

/** Also recognizes skippable frames, which some zstd writers begin with and which have 16 magic numbers. */
const isZstd = (bytes: Buffer): boolean =>
  starts(bytes, 0x28, 0xb5, 0x2f, 0xfd) ||
  (((bytes[0] ?? 0) & 0xf0) === 0x50 && starts(bytes.subarray(1), 0x2a, 0x4d, 0x18));

/** @param bytes the first `beginningBytes` of the file, or all of a shorter one */
export function recognize(bytes: Buffer): Recognized {
  if (bytes.length === 0) return refused("an empty file", "It contains nothing to import.");
  if (starts(bytes, 0x1f, 0x8b)) return { is: "packed", layer: "gzip" };
  if (isZstd(bytes)) return { is: "packed", layer: "zstd" };
  if (says(bytes, "age-encryption.org/") || says(bytes, "-----BEGIN AGE ENCRYPTED FILE-----"))
    return refused(
      "encrypted by age",
      "Decrypt it where your private key is, then import the result: age --decrypt --identity quarterdeck-key.txt --output FILE.plain FILE",
    );
  if (starts(bytes, 0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00)) return { is: "packed", layer: "xz" };
  // The size of its blocks, and the mark of the first one.
  if (/^BZh[1-9]1AY&SY/.test(bytes.subarray(0, 10).toString("latin1")))
    return { is: "packed", layer: "bzip2" };
  if (says(bytes, "PK\x03\x04")) return refused("a ZIP archive", "Unpack it first: unzip FILE");
  if (says(bytes, "PGDMP")) return content("postgres-archive");
  if (hasSqliteHeader(bytes)) return content("sqlite");
  if (bytes.length >= 512 && isSound(bytes))
    // An archive of pg_dump --format=tar is not a folder of a site.
    return says(bytes, "toc.dat\0")
      ? refused(
          "a pg_dump archive in tar format",
          "Make SQL text of it, and import that: pg_restore --file=FILE.sql FILE",
        )
      : content("tar");
  if (bytes.length >= 512 && hasHeaderSum(bytes))
    return refused(
      "a tar archive of an old format, such as V7",
      "Unpack it, and pack it again: tar -cf NEW.tar -C FOLDER .",
    );
  if (starts(bytes, 0xff, 0xfe) || starts(bytes, 0xfe, 0xff))
    return refused(
      "text in UTF-16, as PowerShell writes it",
      "Convert it first: iconv -f UTF-16 -t UTF-8 FILE > FILE.utf8",
    );
  return bytes.includes(0)
    ? refused(
        "of no kind that Quarterdeck knows",
        "It takes dumps, SQLite databases and tar archives.",
      )
    : ofText(bytes.toString("latin1"));
}

/** Comments and space may come before the first statement. */
function ofText(text: string): Recognized {
  if (/^-- PostgreSQL database cluster dump/m.test(text))
    return refused(
      "a dump of a whole PostgreSQL server (pg_dumpall)",
      "Dump the one database with pg_dump --format=custom.",
    );
  if (/^-- PostgreSQL database dump/m.test(text)) return content("postgres-sql");
  if (/^-- (?:MySQL|MariaDB) dump |^\/\*M?!999999\\- enable the sandbox mode/m.test(text))
    return content("mysql-sql");
  if (/^-- phpMyAdmin SQL Dump\s*$/m.test(text)) return content("phpmyadmin-sql");
  if (/^-- Adminer \S+ (?:MySQL|MariaDB)\b.* dump\s*$/m.test(text)) return content("adminer-sql");
  // “Version” is in the language of its user.
  if (/^-- HeidiSQL \S+: +\d/m.test(text))
    return refused(
      "SQL text of HeidiSQL",
      "Its end is the same after an export that was canceled or failed, so it can't be told whether it is whole. Dump the database with mysqldump or mariadb-dump. If only this file is left, load it into an empty database with the client (mariadb or mysql), look whether all of it is there, dump that, and import the dump.",
    );
  if (/^PRAGMA foreign_keys=OFF;/m.test(text))
    return refused(
      "SQL text of sqlite3",
      "Make a database file of it first: sqlite3 NEW.sqlite < FILE",
    );
  return content("sql");
}
