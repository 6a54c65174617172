// The first file of an archive: lists what the archive contains, and what it lacks. docs/self-backup.md describes the format for
// operators.
import { z } from "zod/mini";

export const names = {
  manifest: "manifest.json",
  inventory: "inventory.yaml",
  /** In the format of `sha256sum`, for all files before it. */
  checksums: "SHA256SUMS",
} as const;

/** Returns the name of a part of a table's COPY text; numbers start at 1. */
export const nameOfPart = (table: string, part: number): string =>
  `tables/${table}.copy.${String(part).padStart(6, "0")}`;

export const archiveManifestSchema = z.looseObject({
  format: z.literal("quarterdeck-archive"),
  version: z.literal(1),
  /** The version of Quarterdeck. */
  quarterdeck: z.string(),
  made_at: z.iso.datetime(),
  /** The newest migration, in milliseconds. */
  schema: z.int(),
  /** Schema version of pg-boss. */
  jobs_schema: z.int(),
  tables: z.array(z.object({ name: z.string(), columns: z.string(), rows: z.int() })),
  sequences: z.array(
    z.object({ name: z.string(), last_value: z.string(), is_called: z.boolean() }),
  ),
  has_inventory: z.boolean(),
  /** False: webhooks have no signing secret, and there are no files of secrets. */
  has_secrets: z.boolean(),
  /** `reference` is the text in the inventory. */
  secret_files: z.array(z.object({ name: z.string(), reference: z.string() })),
  /** References to files that are not in the archive, because secrets are left out or the file could not be read. */
  missing_files: z.array(z.string()),
});

export type ArchiveManifest = z.infer<typeof archiveManifestSchema>;
