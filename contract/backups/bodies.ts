import * as z from "zod/mini";
import { givenName, integer, line, optionalLine, ownId, storableText } from "../inputs.ts";
import { backupableTypes, maxCompressionLevel, maxHold, minBytesPerSecond } from "./backup.ts";
import { frequency } from "./cron.ts";
import { excludePatterns } from "./exclude-patterns.ts";
import { keepRules } from "./keep-rules.ts";
import { partPath, partTable } from "./part-names.ts";

/** A relative directory that stays where it is put: no `..`, no leading slash, nothing unprintable. */
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
  /** Extra: what stays beyond `hold`; null = nothing. */
  keep: z.optional(z.nullable(keepRules)),
  /** Extra, of a site: patterns of files that are left out, as gitignore has them; null = none are. */
  exclude: z.optional(z.nullable(excludePatterns)),
  /** Extra, of a site: leave out the content of folders with a CACHEDIR.TAG. */
  exclude_caches: z.optional(z.boolean()),
  /** Extra: of zstd, from 1 (fast) to 19 (small); null = 3. */
  compression_level: z.optional(z.nullable(integer(1, maxCompressionLevel))),
  /** Extra: how fast runs write to the storage; null = as fast as they can. */
  bytes_per_second: z.optional(z.nullable(integer(minBytesPerSecond, maxBytesPerSecond))),
  /** Extra: backups hold what has changed since the last full one; false unless it is set. */
  incremental: z.optional(z.boolean()),
  directory: z.optional(storageDirectory),
  storage_provider_id: ownId,
  /** Extra: another storage, to which each run is copied; null = none. */
  copy_storage_provider_id: z.optional(z.nullable(ownId)),
  /** Extra: prove the newest backup restorable every so many days; null = never. */
  drill: z.optional(z.nullable(integer(1, 365))),
};

export const updateBackupConfigurationBody = z
  .object(settings)
  .register(z.globalRegistry, { id: "UpdateBackupConfiguration" });

/** An identity file has some 200 characters, and one with a passphrase twice as many. */
const maxIdentity = 16_384;

const opened = {
  /** Of an encrypted backup: a private key of age, or the identity file that holds it. Never stored. */
  identity: z.optional(storableText().check(z.maxLength(maxIdentity))),
  /** Of an identity file that is protected by one. Never stored. */
  passphrase: z.optional(storableText().check(z.maxLength(1024))),
};

const restored = {
  /** What is there now is not saved first, and is lost: for what is too broken to be backed up. */
  skip_safety_backup: z.optional(z.boolean()),
  ...opened,
};

/** Below the folder that was backed up. */
const pathInArchive = storableText().check(z.maxLength(4096));

export const browseArchiveBody = z
  .object({
    ...opened,
    /** Of an earlier answer. */
    listing: z.optional(line(100)),
    /** Whose content is listed; left out or empty: the folder that was backed up. */
    folder: z.optional(pathInArchive),
    /** Lists what has these words in its path below that folder, however deep, in place of its content. */
    search: z.optional(optionalLine(255)),
    page: z.optional(integer(1)),
  })
  .register(z.globalRegistry, { id: "BrowseArchive" });
export type BrowseArchiveBody = z.infer<typeof browseArchiveBody>;

export const browseObjectsBody = z
  .object({
    ...opened,
    /** Of an earlier answer. */
    listing: z.optional(line(100)),
    /** Lists this kind alone, as an earlier answer names it. */
    kind: z.optional(optionalLine(100)),
    /** Lists what has these words in its name. */
    search: z.optional(optionalLine(255)),
    page: z.optional(integer(1)),
  })
  .register(z.globalRegistry, { id: "BrowseObjects" });
export type BrowseObjectsBody = z.infer<typeof browseObjectsBody>;

/** An extra: a restore without a body saves what is there now as a backup of its own first. */
export const restoreBackupBody = z
  .object(restored)
  .register(z.globalRegistry, { id: "RestoreBackup" });

/** What every engine takes without a question: PostgreSQL would cut a longer name off. */
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
    /** Restores this file or folder alone; left out: everything. */
    path: z.optional(z.nullable(partPath)),
  })
  .register(z.globalRegistry, { id: "RestoreIntoSite" });

export const restoreIntoDatabaseBody = z
  .object({
    ...restored,
    backup_id: ownId,
    /**
     * Of a backup of a whole server: restores this one of its databases alone, into the entry's own or, where the entry is a whole
     * server too, into the one of that name there; left out: everything.
     */
    from_database: z.optional(z.nullable(storableText().check(z.minLength(1), z.maxLength(64)))),
    /** A database that is to be made on the same server, by the same account; null = the entry's own is replaced. */
    database: z.optional(z.nullable(databaseName)),
    /**
     * Whether owners and permissions come from the backup. Left out: they do in a new database beside its source; elsewhere
     * everything belongs to the account of the entry. Single tables that go back into their source belong to whom they belonged to.
     */
    keep_owners: z.optional(z.boolean()),
    /** Restores these tables alone, named as in the backup's contents: with PostgreSQL `schema.table`. Left out: everything. */
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
