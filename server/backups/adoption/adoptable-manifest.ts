// Schema of the manifest of a backup that is adopted.
import { z } from "zod/mini";
import { line } from "../../../contract/inputs.ts";
import type { Manifest } from "../sources/source.ts";
import { storedManifestSchema } from "../recovery/stored-manifest.ts";

const { shape } = storedManifestSchema;
const name = line(255);
const count = z.int().check(z.nonnegative());
const atMost = (max: number) => count.check(z.lte(max));
/** Largest id of an account; the next number means none. */
const maxId = 2 ** 32 - 2;
const text = z.string().check(z.maxLength(4096));

/** Ensures a schema for each field of a dump's manifest, because drills and restores use them. */
type Said<Kind extends Manifest["kind"]> = Record<
  keyof Extract<Manifest, { kind: Kind }>,
  z.ZodMiniType
>;

const ofDatabase = {
  kind: z.literal("database"),
  tables: z.record(z.string(), count),
  file: z.optional(z.object({ mode: atMost(0o7777), uid: atMost(maxId), gid: atMost(maxId) })),
  databases: z.optional(z.array(text)),
  checksums: z.optional(
    z.object({
      by: z.string(),
      tables: z.record(z.string(), z.string()),
      others: z.optional(z.record(z.string(), z.string())),
    }),
  ),
} satisfies Said<"database">;

const ofFolder = {
  kind: z.literal("folder"),
  entries: count,
  bytes: count,
  digest: z.string(),
  /** Validated by the restore, which refuses unknown excludes, because excluded files have to stay. */
  excluded: z.optional(z.unknown()),
  databases: z.optional(
    z.array(
      z.object({
        name: z.string(),
        problem: z.nullable(z.string()),
        isOpened: z.optional(z.literal(false)),
      }),
    ),
  ),
} satisfies Said<"folder">;

/** Fields of a manifest that are stored with an adopted backup. Fields of later versions are dropped. */
export const adoptable = z.object({
  format: shape.format,
  name: shape.name,
  size: shape.size,
  sha256: shape.sha256,
  compression: shape.compression,
  encryption: z.optional(z.object({ format: shape.encryption.def.innerType.shape.format })),
  uncompressed_size: shape.uncompressed_size,
  base: z.optional(z.object({ name: shape.name, sha256: shape.sha256 })),
  source: z.object({
    type: shape.source.shape.type,
    engine: shape.source.shape.engine,
    id: z.int(),
    name,
    database: z.optional(text),
    path: z.optional(text),
    server: z.object({ id: z.int(), name }),
  }),
  configuration: z.object({ id: z.int(), name }),
  backup: z.object({ id: z.int(), trigger: name }),
  started_at: shape.started_at,
  stored_at: shape.stored_at,
  tools: z.record(z.string(), text),
  quarterdeck: name,
  counts: z.discriminatedUnion("kind", [z.object(ofDatabase), z.object(ofFolder)]),
});
type Adoptable = z.infer<typeof adoptable>;

export type AdoptableFile = {
  key: string;
  manifest: Omit<Adoptable, "counts">;
  /** As JSON, which takes a tenth of the memory, because there may be thousands of files with hundreds of tables each. */
  counts: string;
  startedAt: Date;
  storedAt: Date;
  /** According to its storage; null = it is not locked. */
  lockedUntil: Date | null;
};

export type AdoptableFiles = {
  /** Oldest first. */
  files: AdoptableFile[];
  leftOut: { path: string; reason: string }[];
  leftOutTotal: number;
  known: number;
  selfBackups: number;
  /** Number of files that were not read, because a limit of time or memory was reached. */
  unread: number;
};
