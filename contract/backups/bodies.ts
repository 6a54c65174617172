import * as z from "zod/mini";
import { givenName, integer, line, optionalLine, ownId, storableText } from "../inputs.ts";
import { backupableTypes, maxCompressionLevel, maxHold, minBytesPerSecond } from "./backup.ts";
import { frequency } from "./cron.ts";
import { excludePatterns } from "./exclude-patterns.ts";
import { keepRules } from "./keep-rules.ts";
import { partPath, partTable } from "./part-names.ts";

/** A relative directory inside the storage: no `..`, no leading slash, no control characters. */
const storageDirectory = line(255).check(
  z.refine((path) => !path.startsWith("/") && !path.split("/").includes(".."), {
    error: "The directory field must be a relative path without “..”.",
  }),
);

/** 80 Gbit/s. */
const maxBytesPerSecond = 10_000_000_000;

const settings = {
  name: givenName(255),
  /** Five cron fields, read in the server's time zone. */
  frequency,
  hold: z.optional(integer(1, maxHold)),
  /** Extra: what is kept beyond `hold`; null = nothing. */
  keep: z.optional(z.nullable(keepRules)),
  /** Extra, for a site: patterns of excluded files, as in gitignore(5); null = none. */
  exclude: z.optional(z.nullable(excludePatterns)),
  /** Extra, for a site: whether to exclude the content of folders with a CACHEDIR.TAG. */
  exclude_caches: z.optional(z.boolean()),
  /** Extra: level of zstd, from 1 (fast) to 19 (small); null = 3. */
  compression_level: z.optional(z.nullable(integer(1, maxCompressionLevel))),
  /** Extra: limit of the rate at which runs write to the storage; null = no limit. */
  bytes_per_second: z.optional(z.nullable(integer(minBytesPerSecond, maxBytesPerSecond))),
  /** Extra: whether runs store only the changes since the last full backup; default: false. */
  incremental: z.optional(z.boolean()),
  directory: z.optional(storageDirectory),
  storage_provider_id: ownId,
  /** Extra: a second storage to which each run is copied; null = none. */
  copy_storage_provider_id: z.optional(z.nullable(ownId)),
  /** Extra: days between restore drills of the newest backup; null = no drills. */
  drill: z.optional(z.nullable(integer(1, 365))),
};

export const updateBackupConfigurationBody = z
  .object(settings)
  .register(z.globalRegistry, { id: "UpdateBackupConfiguration" });

/** Maximum length. An identity file has about 200 characters, and one with a passphrase twice as many. */
const maxIdentity = 16_384;

const opened = {
  /** For an encrypted backup: a private key of age, or the content of the identity file with the key. Never stored. */
  identity: z.optional(storableText().check(z.maxLength(maxIdentity))),
  /** For an identity file that is encrypted by a passphrase. Never stored. */
  passphrase: z.optional(storableText().check(z.maxLength(1024))),
};

const restored = {
  /** Restores without a safety backup, so that the present data is lost: for data that is too broken to be backed up. */
  skip_safety_backup: z.optional(z.boolean()),
  ...opened,
};

/** Relative to the folder that was backed up. */
const pathInArchive = storableText().check(z.maxLength(4096));

export const browseArchiveBody = z
  .object({
    ...opened,
    /** `listing` of an earlier response. */
    listing: z.optional(line(100)),
    /** The folder to list; absent or empty = the folder that was backed up. */
    folder: z.optional(pathInArchive),
    /** Lists the entries at any depth below that folder whose paths contain these words, instead of its content. */
    search: z.optional(optionalLine(255)),
    page: z.optional(integer(1)),
  })
  .register(z.globalRegistry, { id: "BrowseArchive" });
export type BrowseArchiveBody = z.infer<typeof browseArchiveBody>;

export const browseObjectsBody = z
  .object({
    ...opened,
    /** `listing` of an earlier response. */
    listing: z.optional(line(100)),
    /** Lists only objects of this kind, one of `kinds` in an earlier response. */
    kind: z.optional(optionalLine(100)),
    /** Lists only objects whose names contain these words. */
    search: z.optional(optionalLine(255)),
    page: z.optional(integer(1)),
  })
  .register(z.globalRegistry, { id: "BrowseObjects" });
export type BrowseObjectsBody = z.infer<typeof browseObjectsBody>;

/** An extra. A restore without a body takes a safety backup first. */
export const restoreBackupBody = z
  .object(restored)
  .register(z.globalRegistry, { id: "RestoreBackup" });

/** A name that every engine accepts as it is: PostgreSQL would truncate a longer one. */
const databaseName = line(63).check(
  z.regex(/^[A-Za-z_][\w-]*$/, {
    error:
      "The database field takes letters, digits, “_” and “-”, and begins with a letter or “_”.",
  }),
);

export const restoreIntoSiteBody = z
  .object({
    ...restored,
    backup_id: ownId,
    /** Restores only this file or folder; absent or null = everything. */
    path: z.optional(z.nullable(partPath)),
  })
  .register(z.globalRegistry, { id: "RestoreIntoSite" });

export const restoreIntoDatabaseBody = z
  .object({
    ...restored,
    backup_id: ownId,
    /**
     * For a backup of a whole server: restores only this one of its databases, into the entry's own database or, if the entry is a
     * whole server too, into the database of that name there; absent or null = everything.
     */
    from_database: z.optional(z.nullable(storableText().check(z.minLength(1), z.maxLength(64)))),
    /** A database that the restore creates on the entry's server, with the entry's login; null = the entry's own is replaced. */
    database: z.optional(z.nullable(databaseName)),
    /**
     * Whether owners and permissions come from the backup; false = everything belongs to the account of the entry. Default: true for
     * a new database, for an entry of a whole server, and for single tables that are restored into their own source.
     */
    keep_owners: z.optional(z.boolean()),
    /** Restores only these tables, named as in the backup's contents: `schema.table` in PostgreSQL. Absent or null = everything. */
    tables: z.optional(z.nullable(z.array(partTable).check(z.minLength(1), z.maxLength(100)))),
  })
  .register(z.globalRegistry, { id: "RestoreIntoDatabase" });
export type RestoreIntoBody = z.infer<typeof restoreIntoDatabaseBody> &
  Pick<z.infer<typeof restoreIntoSiteBody>, "path">;

export const createBackupConfigurationBody = z
  .object({ ...settings, backupable_type: z.enum(backupableTypes), backupable_id: ownId })
  .register(z.globalRegistry, { id: "CreateBackupConfiguration" });
export type UpdateBackupConfigurationBody = z.infer<typeof updateBackupConfigurationBody>;
export type CreateBackupConfigurationBody = z.infer<typeof createBackupConfigurationBody>;
