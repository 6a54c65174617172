// Compares every stored file of a storage with the manifest beside it, without the database.
import { createHash } from "node:crypto";
import { dirname } from "node:path/posix";
import { buffer } from "node:stream/consumers";
import { z } from "zod/mini";
import { selfManifestSchema } from "../../self-backup/stored-manifest.ts";
import { toShownText } from "../../ssh/server-away.ts";
import { StorageError, type ListedStorage } from "../../storage/storage.ts";
import { keyOfManifest, manifestKeyOf, storedFile } from "../stored-file.ts";
import { newestManifestVersion, storedManifestSchema } from "../recovery/stored-manifest.ts";

type Problem = {
  /** Key of the stored file. */
  key: string;
  kind: "damaged" | "missing" | "unreadable manifest" | "unreadable file";
  /** A sentence for the operator. */
  reason: string;
};

export type Verified = {
  /** Number of files that match their manifests. */
  sound: number;
  soundBytes: number;
  problems: Problem[];
  /** Stored files without a manifest: of an earlier version, or of a run that has not ended. */
  withoutManifest: string[];
  /** Partial files that a killed service left. */
  leftovers: string[];
};

export type VerifyProgress = { files: number; ofFiles: number; bytes: number; ofBytes: number };

type VerifyOptions = {
  /** Verifies only keys with this prefix. */
  prefix?: string;
  signal: AbortSignal;
  onProgress?(progress: VerifyProgress): void;
};

/** More than the few megabytes of a manifest with tens of thousands of tables. */
const maxManifestBytes = 64 * 1024 * 1024;
const ourManifest = /\.zst(?:\.age)?\.json$/;

/** The fields of a manifest that verification needs, in all versions. */
const essentials = z.looseObject({
  /** Format of the manifest of a backup, or of a backup of Quarterdeck itself. */
  format: z.union([storedManifestSchema.shape.format, selfManifestSchema.shape.format]),
  version: z.int(),
  name: storedManifestSchema.shape.name,
  size: storedManifestSchema.shape.size,
  sha256: storedManifestSchema.shape.sha256,
  base: storedManifestSchema.shape.base,
});
type Essentials = z.infer<typeof essentials>;

/** @throws StorageError where the storage cannot be listed, or the signal's reason */
export async function verifyStorage(
  storage: ListedStorage,
  { prefix = "", signal, onProgress }: VerifyOptions,
): Promise<Verified> {
  const sizes = new Map<string, number>();
  for await (const { key, sizeBytes } of storage.list({ signal, prefix }))
    sizes.set(key, sizeBytes);
  const keys = [...sizes.keys()];
  const manifests = keys.filter((key) => ourManifest.test(key));
  const files = manifests.map((key) => keyOfManifest(key) ?? key);
  const found: Verified = {
    sound: 0,
    soundBytes: 0,
    problems: [],
    withoutManifest: keys.filter((key) => storedFile.test(key) && !sizes.has(manifestKeyOf(key))),
    leftovers: keys.filter((key) => key.endsWith(".partial")),
  };
  const ofBytes = files.reduce((sum, key) => sum + (sizes.get(key) ?? 0), 0);
  let bytes = 0;
  const sound = new Map<string, Sound & { bytes: number }>();
  for (const [index, key] of files.entries()) {
    const told = (more: number) => {
      bytes += more;
      onProgress?.({ files: index, ofFiles: files.length, bytes, ofBytes });
    };
    told(0);
    const before = bytes;
    const checked = await checkFile(storage, key, { signal, told });
    // Retention may have removed the file since the listing.
    if ("kind" in checked && (await isRemoved(storage, key))) continue;
    if ("kind" in checked) found.problems.push({ key, ...checked });
    else sound.set(key, { ...checked, bytes: bytes - before });
  }
  for (const [key, { base, bytes: size }] of sound) {
    const problem = base === null ? null : baseProblem(key, base, sound);
    if (problem !== null && !(await isRemoved(storage, key)))
      found.problems.push({ key, ...problem });
    else {
      found.sound += 1;
      found.soundBytes += size;
    }
  }
  return found;
}

type CheckOptions = { signal: AbortSignal; told(bytes: number): void };

/** Facts from the manifest of an intact file. */
type Sound = { sha256: string; base: NonNullable<Essentials["base"]> | null };

/** @returns why an intact file cannot be restored, because of its full; null = it can */
function baseProblem(
  key: string,
  { name, sha256 }: NonNullable<Essentials["base"]>,
  sound: ReadonlyMap<string, Sound>,
): Omit<Problem, "key"> | null {
  const baseKey = `${dirname(key)}/${name}`;
  if (sound.get(baseKey)?.sha256 === sha256) return null;
  return {
    kind: "damaged",
    reason: `${key} holds what has changed since ${toShownText(baseKey)}, which is missing, damaged or another file.`,
  };
}

async function checkFile(
  storage: ListedStorage,
  key: string,
  { signal, told }: CheckOptions,
): Promise<Omit<Problem, "key"> | Sound> {
  let manifest: Essentials | string;
  try {
    manifest = await readManifest(storage, key, signal);
  } catch (error) {
    manifest = messageOf(error, signal);
  }
  if (typeof manifest === "string") return { kind: "unreadable manifest", reason: manifest };
  try {
    const size = await storage.size(key);
    if (size === null) return { kind: "missing", reason: `${key} is missing.` };
    if (size !== manifest.size)
      return { kind: "damaged", reason: `${key} has ${size} bytes instead of ${manifest.size}.` };
    if ((await digestOf(storage, key, { signal, told })) !== manifest.sha256)
      return {
        kind: "damaged",
        reason: `Checksum mismatch: ${key} is not the file that was stored.`,
      };
    return { sha256: manifest.sha256, base: manifest.base ?? null };
  } catch (error) {
    return { kind: "unreadable file", reason: messageOf(error, signal) };
  }
}

/** @returns the manifest, or the problem where it cannot be used */
async function readManifest(
  storage: ListedStorage,
  key: string,
  signal: AbortSignal,
): Promise<Essentials | string> {
  const manifestKey = manifestKeyOf(key);
  const size = (await storage.size(manifestKey)) ?? 0;
  if (size > maxManifestBytes) return `${manifestKey} is no manifest: it has ${size} bytes.`;
  const text = (await buffer(await storage.get(manifestKey, { signal }))).toString();
  const parsed = essentials.safeParse(parseJson(text));
  if (!parsed.success) return `${manifestKey} is no manifest, or damaged.`;
  if (parsed.data.version > newestManifestVersion)
    return `${manifestKey} was written by a newer version of Quarterdeck. Use that version.`;
  if (key.split("/").at(-1) !== parsed.data.name)
    return `${manifestKey} is the manifest of ${toShownText(parsed.data.name)}.`;
  return parsed.data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Returns the hex SHA-256 of the stored file, read past the system's page cache where possible. */
async function digestOf(
  storage: ListedStorage,
  key: string,
  { signal, told }: CheckOptions,
): Promise<string> {
  const stored = await storage.readBack(key, { signal });
  if (stored.kind === "digest") return stored.checksum;
  if (stored.kind === "checksums") throw new Error("Only what was just put is known by checksums.");
  const hash = createHash("sha256");
  for await (const piece of stored.content) {
    signal.throwIfAborted();
    hash.update(piece);
    told(piece.length);
  }
  return hash.digest("hex");
}

const isRemoved = async (storage: ListedStorage, key: string): Promise<boolean> =>
  (await storage.size(manifestKeyOf(key)).catch(() => 0)) === null &&
  (await storage.size(key).catch(() => 0)) === null;

/** @throws all that is no failure of the storage */
function messageOf(error: unknown, signal: AbortSignal): string {
  signal.throwIfAborted();
  if (error instanceof StorageError) return error.message;
  throw error;
}
