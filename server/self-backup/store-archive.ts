// Stores an archive of the installation as one file, compressed and optionally encrypted, with a manifest beside it.
import { createHash } from "node:crypto";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createZstdCompress } from "node:zlib";
import { commandLine } from "../program-name.ts";
import type { Storage } from "../storage/storage.ts";
import { openSnapshot, type SideOptions } from "../store/move/side.ts";
import { openArchive } from "./archive.ts";
import type { ArchiveManifest } from "./archive-manifest.ts";
import { encryptedEnding } from "../encryption/encrypt.ts";
import { createEncryption } from "./encryption.ts";
import { SelfBackupError } from "./self-backup-error.ts";
import type { SelfManifest } from "./stored-manifest.ts";

/** Folder of the files in a storage. */
export const selfFolder = "quarterdeck/";

type StoreOptions = {
  from: SideOptions;
  storage: Storage;
  /** Before `selfFolder`; empty, or with a trailing slash. */
  prefix: string;
  inventoryFile: string;
  /** Public keys of age; null = not encrypted. */
  recipients: string | null;
  /** Whether to include secrets, which requires encryption. */
  withSecrets: boolean;
  now: Date;
  version: string;
  signal: AbortSignal;
  /** Called with the name of the file before anything of it is stored. */
  onKey?(key: string): Promise<void>;
  onBytes?(bytes: number): void;
};

export type StoredArchive = {
  key: string;
  stored: SelfManifest;
  archive: ArchiveManifest;
  warnings: string[];
};

/**
 * Leaves nothing in the storage where it fails.
 * @throws SelfBackupError, MoveError, StorageError, or the signal's reason
 */
export async function storeArchive(options: StoreOptions): Promise<StoredArchive> {
  const { storage, prefix, recipients, now, version, signal, onBytes } = options;
  const encrypt = recipients === null ? null : await createEncryption(recipients);
  const side = await openSnapshot({ ...options.from, verb: "back up" });
  try {
    const { manifest, warnings, content } = await openArchive({
      side,
      inventoryFile: options.inventoryFile,
      withSecrets: options.withSecrets,
      madeAt: now,
      version,
    });
    const name = `${nameOf(now)}.tar.zst${encrypt === null ? "" : encryptedEnding}`;
    const key = `${prefix}${selfFolder}${name}`;
    await options.onKey?.(key);
    const hash = createHash("sha256");
    let bytes = 0;
    const measure = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk);
        bytes += chunk.length;
        onBytes?.(bytes);
        done(null, chunk);
      },
    });
    const zstd = createZstdCompress({
      params: {
        [constants.ZSTD_c_compressionLevel]: 3,
        [constants.ZSTD_c_checksumFlag]: 1,
      },
    });
    const flown =
      encrypt === null
        ? pipeline(content, zstd, measure, { signal })
        : pipeline(content, zstd, encrypt, measure, { signal });
    // An error here makes `put` fail, which reports it, and vice versa.
    flown.catch(() => undefined);
    await storage.put(key, measure, { signal });
    await flown;
    const stored: SelfManifest = {
      format: "quarterdeck-self-backup",
      version: 1,
      name,
      size: bytes,
      sha256: hash.digest("hex"),
      compression: "zstd",
      encryption: encrypt === null ? null : "age",
      uncompressed_size: zstd.bytesWritten,
      made_at: manifest.made_at,
      stored_at: new Date().toISOString(),
      quarterdeck: version,
      counts: Object.fromEntries(manifest.tables.map(({ name, rows }) => [name, rows])),
      has_secrets: manifest.has_secrets,
      restore: [
        ...(encrypt === null
          ? []
          : ["# QUARTERDECK_IDENTITY=file:/path names the file with the private key of age."]),
        commandLine(`restore-self ${name}`),
      ],
    };
    try {
      await checkStored(storage, key, stored, signal);
      const text = `${JSON.stringify(stored, null, 2)}\n`;
      await storage.replace(`${key}.json`, Buffer.from(text), { signal });
    } catch (error) {
      // It may be stored although writing it failed: its response was lost.
      await storage.remove(`${key}.json`).catch(() => undefined);
      await storage.remove(key).catch(() => undefined);
      throw error;
    }
    return { key, stored, archive: manifest, warnings };
  } finally {
    await side.close();
  }
}

/** Returns a name such as `2026-01-31T020000Z`, so that the newest one sorts last. */
const nameOf = (moment: Date): string =>
  `${moment.toISOString().slice(0, 19).replaceAll(":", "")}Z`;

async function checkStored(
  storage: Storage,
  key: string,
  { sha256 }: SelfManifest,
  signal: AbortSignal,
): Promise<void> {
  const back = await storage.readBack(key, { signal });
  if (back.kind === "checksums") return;
  const hash = createHash("sha256");
  if (back.kind === "read") for await (const piece of back.content) hash.update(piece);
  const found = back.kind === "digest" ? back.checksum : hash.digest("hex");
  if (found !== sha256)
    throw new SelfBackupError(
      `${key} in ${storage.place} is not what was sent there. It was removed. Check the storage's disk.`,
    );
}
