// The manifest beside a stored backup of Quarterdeck itself. It contains no secret, and can be read without an identity.
import { z } from "zod/mini";

/** Loose, because a later version may add fields; `version` only changes when the meaning of a field does. */
export const selfManifestSchema = z.looseObject({
  format: z.literal("quarterdeck-self-backup"),
  version: z.literal(1),
  /** Name of the file, which is in the same folder. */
  name: z.string(),
  /** Bytes of the file. */
  size: z.int().check(z.nonnegative()),
  /** Checksum of the file, in hex. */
  sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  compression: z.literal("zstd"),
  encryption: z.nullable(z.literal("age")),
  uncompressed_size: z.int().check(z.nonnegative()),
  made_at: z.iso.datetime(),
  stored_at: z.iso.datetime(),
  /** The version of Quarterdeck. */
  quarterdeck: z.string(),
  /** Rows by table. */
  counts: z.record(z.string(), z.int()),
  /** Whether secrets are in the file. */
  has_secrets: z.boolean(),
  /** Shell commands to run in the folder of the file. */
  restore: z.array(z.string()),
});

export type SelfManifest = z.infer<typeof selfManifestSchema>;
