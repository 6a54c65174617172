// The contents of a backup, and what a restore of it would replace.
import * as z from "zod/mini";
import { id, stateOf, timestamp } from "../values.ts";
import { backupEngines } from "./engines.ts";

const count = z.int().check(z.gte(0));

/** Rows by table, sorted by name. */
const tables = z.array(z.object({ name: z.string(), rows: count }));

export const backupContents = z
  .object({
    /** Null while the backup has no file. */
    engine: z.nullable(stateOf(backupEngines)),
    /** For a database, as recorded by the backup; null = not recorded, or the backup is of a folder. */
    tables: z.nullable(tables),
    /** For a whole server: its databases with their tables. Names in `tables` begin with the name of the database. */
    databases: z.optional(z.nullable(z.array(z.object({ name: z.string(), tables })))),
    /** For a folder: number of files and folders, and the total bytes of the files. */
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
    /** Null for a folder, for a database that does not exist, and where counting failed. */
    tables: z.nullable(tables),
    /** The backup configuration that takes the safety backup before a restore; null = there is none. */
    saved_by: z.nullable(z.object({ id, name: z.string() })),
    /** Why the contents could not be read, for the operator. */
    problem: z.nullable(z.string()),
  })
  .register(z.globalRegistry, { id: "CurrentContents" });
export type CurrentContents = z.infer<typeof currentContents>;

export const archiveFiles = z
  .object({
    /**
     * Send it with the next request, so that neither the archive is read again nor the identity needed. Expires 15
     * minutes after its last use.
     */
    listing: z.string(),
    /** `reading`: the response has what was found so far; ask again. */
    state: stateOf(["reading", "ready"]),
    /** Number of entries read so far. */
    entries: count,
    /** False where the archive holds more entries than are listed. */
    is_complete: z.boolean(),
    /** Whether the archive holds the requested folder, as far as it has been read. */
    has_folder: z.optional(z.boolean()),
    /** Number of entries in this folder, over all pages. */
    total: count,
    per_page: count,
    files: z.array(
      z.object({
        /** Relative to the folder that was backed up. */
        path: z.string(),
        name: z.string(),
        kind: z.enum(["file", "folder", "link", "other"]),
        /** For a folder: the bytes of all files in it. */
        bytes: count,
        modified_at: z.nullable(timestamp),
        /** For a symbolic link. */
        target: z.nullable(z.string()),
      }),
    ),
  })
  .register(z.globalRegistry, { id: "ArchiveFiles" });
export type ArchiveFiles = z.infer<typeof archiveFiles>;

export const archiveObjects = z
  .object({
    /**
     * Send it with the next request, so that neither the archive is read again nor the identity needed. Expires 15
     * minutes after its last use.
     */
    listing: z.string(),
    /** False where the archive holds more objects than are listed. */
    is_complete: z.boolean(),
    /** Number of matches by kind, whichever kind was requested. */
    kinds: z.array(z.object({ kind: z.string(), count })),
    /** Number of matches, over all pages. */
    total: count,
    per_page: count,
    objects: z.array(
      z.object({
        /** Such as `view`, `function`, `foreign key`. */
        kind: z.string(),
        /**
         * Qualified by its schema: `public.shown`, or `paid on public.orders` for an object that belongs to a table.
         */
        name: z.string(),
      }),
    ),
  })
  .register(z.globalRegistry, { id: "ArchiveObjects" });
export type ArchiveObjects = z.infer<typeof archiveObjects>;
