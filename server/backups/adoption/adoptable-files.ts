// Reads the manifests of backups in a storage that are not listed. Their author is unknown, so nothing in them may lead to another
// file, and invalid ones are left out.
import { z } from "zod/mini";
import { encryptedEnding, isEncrypted } from "../../encryption/encrypt.ts";
import { toShownText } from "../../ssh/server-away.ts";
import { StorageError, type ListedStorage } from "../../storage/storage.ts";
import {
  isPatch,
  keyOfManifest,
  manifestKeyOf,
  patchEnding,
  storedFile,
  storedFileManifest,
} from "../stored-file.ts";
import { newestManifestVersion } from "../recovery/stored-manifest.ts";
import { leaveOut, withTheirFulls } from "./adoptable-chains.ts";
import { adoptable, type AdoptableFile, type AdoptableFiles } from "./adoptable-manifest.ts";
import { extensions } from "../subject.ts";

const versioned = z.looseObject({ format: z.string(), version: z.int() });

type ReadOptions = {
  /** Whether a file is listed already. */
  isKnown: (key: string) => boolean;
  now: Date;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
  limits?: Limits;
};

/** Limits of one adoption. What exceeds the last three is left for the next one. */
export const adoptionLimits = {
  objects: 200_000,
  manifestBytes: 16 * 1024 * 1024,
  ms: 45_000,
  manifests: 10_000,
  allBytes: 64 * 1024 * 1024,
};

const maxKeyCharacters = 1024;
/** Characters that end a line, control a terminal, or reverse the display of a path. */
const misleading = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

type Limits = typeof adoptionLimits;

/** Concurrent reads: over SSH each is a session, of which a server allows ten. */
const readAtOnce = 4;
const dayMs = 24 * 3600 * 1000;
/** Earliest plausible time of a backup. */
const earliest = Date.parse("2000-01-01T00:00:00Z");

const selfBackup = /\.tar\.zst(?:\.age)?$/;

/** @throws StorageError, or the signal's reason */
export async function readAdoptable(
  storage: ListedStorage,
  options: ReadOptions,
): Promise<AdoptableFiles> {
  const { isKnown, signal, limits = adoptionLimits } = options;
  const late = AbortSignal.timeout(limits.ms);
  const both = AbortSignal.any([signal, late]);
  const found: AdoptableFiles = {
    files: [],
    leftOut: [],
    leftOutTotal: 0,
    known: 0,
    selfBackups: 0,
    unread: 0,
  };
  const sizes = await listSizes(storage, limits, both).catch((error: unknown) => {
    signal.throwIfAborted();
    throw late.aborted ? tooSlow(storage, limits) : error;
  });
  const wanted: string[] = [];
  for (const key of sizes.keys()) {
    const file = storedFileManifest.test(key) ? keyOfManifest(key) : null;
    if (file !== null && isKnown(file)) found.known += 1;
    else if (file !== null) wanted.push(file);
    else if (storedFile.test(key) && !sizes.has(manifestKeyOf(key))) {
      if (isKnown(key)) found.known += 1;
      else
        leaveOut(
          found,
          key,
          "It has no manifest: it is of an earlier version, or its run isn't over.",
        );
    }
  }
  const { read, unread } = withinLimits(wanted, sizes, limits);
  found.unread = unread;

  const next = read[Symbol.iterator]();
  async function work(): Promise<void> {
    for (const key of next) {
      if (late.aborted) {
        found.unread += 1;
        continue;
      }
      try {
        const result = await readOne(storage, key, sizes, { ...options, signal: both });
        if (result === "self-backup") found.selfBackups += 1;
        else if (typeof result === "string") leaveOut(found, key, result);
        else found.files.push(result);
      } catch (error) {
        signal.throwIfAborted();
        if (late.aborted) found.unread += 1;
        else if (error instanceof StorageError) leaveOut(found, key, error.message);
        else throw error;
      }
    }
  }
  await Promise.all(Array.from({ length: readAtOnce }, work));
  found.files = withTheirFulls(found.files, isKnown, ({ key }, reason) =>
    leaveOut(found, key, reason),
  );
  found.files.sort((a, b) => a.startedAt.getTime() - b.startedAt.getTime());
  return found;
}

const tooSlow = ({ place }: ListedStorage, { ms }: Limits) =>
  new StorageError(
    `${place} could not be listed within ${ms / 1000} s. Check the storage, then try again.`,
  );

/** Returns sizes by key of files that may be a backup or its manifest. */
async function listSizes(
  storage: ListedStorage,
  { objects }: Limits,
  signal: AbortSignal,
): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for await (const { key, sizeBytes } of storage.list({ signal })) {
    signal.throwIfAborted();
    if (!storedFileManifest.test(key) && !storedFile.test(key)) continue;
    sizes.set(key, sizeBytes);
    if (sizes.size > objects)
      throw new StorageError(
        `${storage.place} holds more than ${objects / 2} backups, which is too many to adopt. Move some to a folder or bucket of their own.`,
      );
  }
  return sizes;
}

/** Returns the time in the name of a stored file, to sort by; other names sort last. */
const timeIn = (key: string): string => /(\d{8}T\d{6}Z)(?:-\d+)?\.[a-z.-]+$/.exec(key)?.[1] ?? "~";

/** Selects keys within the limits, oldest first, because backups are listed by their ids: those that are added later must be newer. */
function withinLimits(
  keys: readonly string[],
  sizes: ReadonlyMap<string, number>,
  { manifestBytes, manifests, allBytes }: Limits,
) {
  const inOrder = keys
    .map((key) => ({ key, time: timeIn(key) }))
    .toSorted((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
  const read: string[] = [];
  let bytes = 0;
  for (const { key } of inOrder) {
    const size = sizes.get(manifestKeyOf(key)) ?? 0;
    // A manifest that is too large is not read at all.
    if (size <= manifestBytes) bytes += size;
    if (read.length === manifests || bytes > allBytes) break;
    read.push(key);
  }
  return { read, unread: keys.length - read.length };
}

/** @returns the file, or why it is left out */
async function readOne(
  storage: ListedStorage,
  key: string,
  sizes: ReadonlyMap<string, number>,
  { now, signal }: ReadOptions,
): Promise<AdoptableFile | string> {
  if (key.length > maxKeyCharacters || !key.isWellFormed() || misleading.test(key))
    return "Its name has control characters, or is too long.";
  const content = await readText(storage, manifestKeyOf(key), signal);
  if (content === null)
    return `Its manifest is larger than ${adoptionLimits.manifestBytes / 2 ** 20} MiB.`;
  const parsed = versioned.safeParse(parseJson(content));
  if (!parsed.success) return "Its manifest is damaged, or not one of Quarterdeck's.";
  const { format } = parsed.data;
  if (format === "quarterdeck-self-backup" && selfBackup.test(key)) return "self-backup";
  if (parsed.data.version > newestManifestVersion)
    return "Its manifest was written by a newer version of Quarterdeck. Update this one first.";
  const { data: manifest } = adoptable.safeParse(parsed.data);
  if (manifest === undefined) return "Its manifest is damaged, or not one of Quarterdeck's.";
  if (key.split("/").at(-1) !== manifest.name)
    return `The manifest beside it is that of ${toShownText(manifest.name)}.`;
  const { type, engine } = manifest.source;
  const isFolder = engine === "folder";
  if (isFolder !== (type === "site") || isFolder !== (manifest.counts.kind === "folder"))
    return "Its manifest contradicts itself.";
  if (isEncrypted(key) !== (manifest.encryption !== undefined))
    return "Only one of its name and its manifest says that it is encrypted.";
  if ((parsed.data.version === 2) !== (manifest.base !== undefined))
    return "Its manifest contradicts itself.";
  if (isPatch(key) !== (manifest.base !== undefined))
    return "Only one of its name and its manifest says that it is incremental.";
  const ending = `${isPatch(key) ? patchEnding : ""}.zst${isEncrypted(key) ? encryptedEnding : ""}`;
  if (!key.endsWith(`.${extensions[engine]}${ending}`))
    return `Its name doesn't fit its manifest, which says that it is of ${engine}.`;
  const size = sizes.get(key);
  if (size === undefined) return "The file is missing: there is only its manifest.";
  if (size !== manifest.size)
    return `The file is damaged: it has ${size} bytes instead of ${manifest.size}.`;
  const startedAt = new Date(manifest.started_at);
  const [startedMs, writtenMs] = [startedAt.getTime(), Date.parse(manifest.stored_at)];
  // A clock may be set back during a run, e.g. by a time server.
  const storedMs = writtenMs >= startedMs - dayMs ? Math.max(startedMs, writtenMs) : NaN;
  if (!(startedMs >= earliest && storedMs <= now.getTime() + dayMs))
    return "Its manifest gives a time that can't be right.";
  const { counts, ...others } = manifest;
  const lockedUntil = (await storage.locks?.until(key)) ?? null;
  return {
    key,
    manifest: others,
    counts: JSON.stringify(counts),
    startedAt,
    storedAt: new Date(storedMs),
    lockedUntil,
  };
}

/** @returns null where the file is larger than a manifest, even if the listing had a smaller size */
async function readText(
  storage: ListedStorage,
  key: string,
  signal: AbortSignal,
): Promise<string | null> {
  const stream = await storage.get(key, { signal, isSmall: true });
  const pieces: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop early closes the stream.
  for await (const piece of stream as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > adoptionLimits.manifestBytes) return null;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

function parseJson(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return null;
  }
}
