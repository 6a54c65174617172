// What is in a backup, and what a restore of it would replace.
import * as z from "zod/mini";
import { id, stateOf, timestamp } from "../values.ts";
import { backupEngines } from "./engines.ts";

const count = z.int().check(z.gte(0));

/** Rows by table, sorted by name. */
const tables = z.array(z.object({ name: z.string(), rows: count }));

export const backupContents = z
  .object({
    /** Null while it has no file. */
    engine: z.nullable(stateOf(backupEngines)),
    /** Of a database, as recorded when it was made; null = it was not, or it is a folder. */
    tables: z.nullable(tables),
    /** Of a whole server: the databases that it holds, each with its tables. Their names in `tables` begin with that of the database. */
    databases: z.optional(z.nullable(z.array(z.object({ name: z.string(), tables })))),
    /** Of a folder: how many files and folders it holds, and the bytes of its files. */
    entries: z.nullable(count),
    bytes: z.nullable(count),
  })
  .register(z.globalRegistry, { id: "BackupContents" });
export type BackupContents = z.infer<typeof backupContents>;

/** A database or site as it is now. */
export const currentContents = z
  .object({
    /** Whether a restore would replace nothing; null = see `problem`. */
    is_empty: z.nullable(z.boolean()),
    /** Null of a folder, of a database that is not there, and where counting failed. */
    tables: z.nullable(tables),
    /** The backup configuration that saves it before a restore; null = none does. */
    saved_by: z.nullable(z.object({ id, name: z.string() })),
    /** Why it could not be looked at, in the operator's words. */
    problem: z.nullable(z.string()),
  })
  .register(z.globalRegistry, { id: "CurrentContents" });
export type CurrentContents = z.infer<typeof currentContents>;

export const archiveFiles = z
  .object({
    /** Named in the next request, it spares reading the archive again, and the identity. It is kept for 15 minutes after its last use. */
    listing: z.string(),
    /** `reading`: what was found so far. Ask again. */
    state: stateOf(["reading", "ready"]),
    /** So many were read. */
    entries: count,
    /** False: the archive holds more than are listed. */
    is_complete: z.boolean(),
    /** Whether the archive holds the folder that was asked for, as far as it was read. */
    has_folder: z.optional(z.boolean()),
    /** How many there are in this folder, on all pages. */
    total: count,
    per_page: count,
    files: z.array(
      z.object({
        /** Below the folder that was backed up. */
        path: z.string(),
        name: z.string(),
        kind: z.enum(["file", "folder", "link", "other"]),
        /** Of a folder, those of all files in it. */
        bytes: count,
        modified_at: z.nullable(timestamp),
        /** Of a symbolic link. */
        target: z.nullable(z.string()),
      }),
    ),
  })
  .register(z.globalRegistry, { id: "ArchiveFiles" });
export type ArchiveFiles = z.infer<typeof archiveFiles>;

export const archiveObjects = z
  .object({
    /** Named in the next request, it spares reading the archive again, and the identity. It is kept for 15 minutes after its last use. */
    listing: z.string(),
    /** False: the archive holds more than are listed. */
    is_complete: z.boolean(),
    /** How many of each kind have the words, whichever kind was asked for. */
    kinds: z.array(z.object({ kind: z.string(), count })),
    /** How many there are, on all pages. */
    total: count,
    per_page: count,
    objects: z.array(
      z.object({
        /** Such as `view`, `function`, `foreign key`. */
        kind: z.string(),
        /** With its schema: `public.shown`, or `paid on public.orders` of what belongs to a table. */
        name: z.string(),
      }),
    ),
  })
  .register(z.globalRegistry, { id: "ArchiveObjects" });
export type ArchiveObjects = z.infer<typeof archiveObjects>;
