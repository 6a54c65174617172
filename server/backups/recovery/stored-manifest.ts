// Writes and reads the manifest beside a stored file, by which the file can be verified and restored without the service.
import { backupEngines } from "../../../contract/backups/engines.ts";
import { basename } from "node:path/posix";
import { z } from "zod/mini";
import type { Storage } from "../../storage/storage.ts";
import type { BackupRow } from "../backup-store.ts";
import type { ConfigurationRow } from "../configuration-store.ts";
import type { Stored } from "../pipeline/store-dump.ts";
import { restoreCommands } from "./restore-commands.ts";
import { manifestKeyOf } from "../stored-file.ts";
import type { Subject } from "../subject.ts";

const moment = z.iso.datetime();
const named = z.looseObject({ id: z.int(), name: z.string() });

/** The newest version that this code reads. */
export const newestManifestVersion = 2;

/** Loose: a later version may add fields; `version` changes only when the meaning of one does. */
export const storedManifestSchema = z.looseObject({
  format: z.literal("quarterdeck-backup"),
  /** 2 = the file holds the changes since `base`, which readers of version 1 cannot open. */
  version: z.union([z.literal(1), z.literal(2)]),
  /** Name of the file, which is in the same folder. */
  name: z.string(),
  /** Size of the file in bytes. */
  size: z.int().check(z.nonnegative()),
  /** SHA-256 of the file, in hex. */
  sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  compression: z.literal("zstd"),
  /** Encryption, applied after compression; left out if the file is not encrypted. */
  encryption: z.optional(
    z.looseObject({ format: z.literal("age"), recipients: z.array(z.string()) }),
  ),
  uncompressed_size: z.int().check(z.nonnegative()),
  /** Version 2: the full backup that the file needs, in the same folder, with `sha256` of its file and `uncompressed_size` of its content. */
  base: z.optional(
    z.looseObject({
      name: z.string(),
      sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
      uncompressed_size: z.int().check(z.nonnegative()),
    }),
  ),
  /** What was backed up; `database` is its name on its server, `path` that of a file or folder. */
  source: z.looseObject({
    type: z.enum(["database", "site"]),
    engine: z.enum(backupEngines),
    id: z.int(),
    name: z.string(),
    database: z.optional(z.string()),
    path: z.optional(z.string()),
    server: named,
  }),
  configuration: named,
  backup: z.looseObject({ id: z.int(), trigger: z.string() }),
  started_at: moment,
  stored_at: moment,
  /** Versions by program. */
  tools: z.record(z.string(), z.string()),
  /** The version of Quarterdeck. */
  quarterdeck: z.string(),
  /** Counts that the restored content must have, e.g. rows by table. */
  counts: z.looseObject({ kind: z.enum(["database", "folder"]) }),
  /** Shell commands that restore the file, run in its folder. */
  restore: z.array(z.string()),
});

export type StoredManifest = z.infer<typeof storedManifestSchema>;

/** Public keys of age. */
export type Recipients = readonly string[];

type Made = {
  subject: Subject;
  configuration: Pick<ConfigurationRow, "id" | "name">;
  row: Pick<BackupRow, "id" | "trigger" | "started_at" | "path">;
  stored: Stored;
  /** The full backup that the file needs; null = the file is a full backup. */
  base: Pick<BackupRow, "path" | "checksum" | "plain_size"> | null;
  /** Left out if the file is not encrypted. */
  recipients?: Recipients | undefined;
  storedAt: Date;
  version: string;
};

export function makeManifest(made: Made): StoredManifest {
  const { subject, configuration, row, stored, base, recipients } = made;
  const { tools, ...source } = subject;
  const name = basename(row.path);
  const owner = stored.manifest.kind === "database" ? stored.manifest.file : undefined;
  return {
    format: "quarterdeck-backup",
    version: base === null ? 1 : 2,
    name,
    size: stored.sizeBytes,
    sha256: stored.checksum,
    compression: "zstd",
    ...(recipients && { encryption: { format: "age", recipients: [...recipients] } }),
    uncompressed_size: stored.plainBytes,
    ...(base !== null && {
      base: {
        name: basename(base.path),
        sha256: base.checksum ?? "",
        uncompressed_size: base.plain_size,
      },
    }),
    source,
    configuration: { id: configuration.id, name: configuration.name },
    backup: { id: row.id, trigger: row.trigger },
    started_at: row.started_at.toISOString(),
    stored_at: made.storedAt.toISOString(),
    tools,
    quarterdeck: made.version,
    counts: stored.manifest,
    restore: restoreCommands({
      ...subject,
      file: name,
      base: base === null ? null : basename(base.path),
      owner,
    }),
  };
}

/** @throws StorageError, or the signal's reason */
export async function putManifest(
  storage: Storage,
  key: string,
  manifest: StoredManifest,
  signal: AbortSignal,
): Promise<void> {
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  // Keys are unique for each attempt, so `replace` overwrites nothing; `put` is meant for gigabytes.
  await storage.replace(manifestKeyOf(key), Buffer.from(text), { signal });
}
