// From a source to a storage and back: compressed, counted and hashed on the way, with bounded memory.
import { Readable, type Writable } from "node:stream";
import { constants, createZstdCompress, createZstdDecompress } from "node:zlib";
import type { Storage } from "../storage/storage.ts";
import { createGatherer } from "./gatherer.ts";
import { createHasher } from "./hasher.ts";
import type { Manifest } from "./sources/source.ts";

export type Stored = {
  sizeBytes: number;
  plainBytes: number;
  /** Hex SHA-256 of the file as stored. */
  checksum: string;
  manifest: Manifest;
};

export type StoreOptions = {
  storage: Storage;
  /** Under which name it is kept. */
  key: string;
  /** Writes the content and ends the stream, or destroys it. */
  dump(into: Writable): Promise<Manifest>;
  signal: AbortSignal;
  onProgress(bytes: { plainBytes: number; storedBytes: number }): void;
};

const chunkBytes = 1024 * 1024;

/**
 * Stores a dump. Nothing stands under the key before the dump has ended well and all of it is stored.
 * @throws SourceError, StorageError, or the signal's reason
 */
export async function storeDump(options: StoreOptions): Promise<Stored> {
  const { storage, key, signal, onProgress } = options;
  const compress = createZstdCompress({
    chunkSize: chunkBytes,
    params: {
      [constants.ZSTD_c_compressionLevel]: 3,
      // zstd's own checksum, so that a user who unpacks by hand is told of damage too.
      [constants.ZSTD_c_checksumFlag]: 1,
    },
  });
  const gather = createGatherer(compress);
  // A tool that is missing fails before anybody reads; the error reaches the reader all the same.
  for (const stream of [gather, compress]) stream.on("error", () => undefined);
  gather.once("error", (error) => compress.destroy(error));
  compress.once("close", () => gather.destroy());
  const abort = () => compress.destroy(signal.reason as Error);
  signal.addEventListener("abort", abort, { once: true });
  const hasher = createHasher();
  let sizeBytes = 0;

  const dumped = options.dump(gather).catch((error: unknown) => {
    compress.destroy(error as Error);
    throw error;
  });
  // Both ends fail together; which of them is awaited first must not make the other one "unhandled".
  dumped.catch(() => undefined);
  async function* content() {
    for await (const chunk of compress as AsyncIterable<Buffer>) {
      await hasher.update(chunk);
      sizeBytes += chunk.length;
      onProgress({ plainBytes: compress.bytesWritten, storedBytes: sizeBytes });
      yield chunk;
    }
    // A tool that fails at its very end has closed its output before: the exit code decides, not the stream.
    await dumped;
  }
  try {
    const stored = await storage
      .put(key, Readable.from(content(), { objectMode: false, highWaterMark: chunkBytes }), {
        signal,
      })
      .catch((error: unknown) => {
        compress.destroy(error as Error);
        throw error;
      });
    const manifest = await dumped;
    if (stored !== sizeBytes)
      throw new Error(`${sizeBytes} bytes were sent, and ${storage.place} holds ${stored}.`);
    return {
      sizeBytes,
      plainBytes: compress.bytesWritten,
      checksum: await hasher.digest(),
      manifest,
    };
  } catch (error) {
    await dumped.catch(() => undefined);
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
    await hasher.end();
  }
}

/** The stored file is not what was stored. The message is for the operator. */
export class DamagedCopy extends Error {
  override name = "DamagedCopy";
}

/** What the row says of the file. */
export type Expected = { path: string; size: number; checksum: string | null };

/**
 * Passes a stored file on and compares it with what was stored; the stream breaks with `DamagedCopy` before its
 * end if it differs, so that no reader takes a damaged file for a whole one.
 */
export function openVerified(
  storage: Storage,
  expected: Expected,
  signal: AbortSignal,
): Promise<Readable> {
  const { path, size, checksum } = expected;
  async function* content(stored: Readable) {
    const hasher = createHasher();
    try {
      let bytes = 0;
      let held: Buffer | null = null;
      for await (const chunk of stored as AsyncIterable<Buffer>) {
        await hasher.update(chunk);
        bytes += chunk.length;
        if (held !== null) yield held;
        held = chunk;
      }
      if (bytes !== size) throw new DamagedCopy(`${path} has ${bytes} bytes; ${size} were stored.`);
      if (checksum !== null && (await hasher.digest()) !== checksum)
        throw new DamagedCopy(`${path} is not what was stored: its checksum differs.`);
      if (held !== null) yield held;
    } finally {
      await hasher.end();
    }
  }
  return storage
    .get(path, { signal })
    .then((stored) => Readable.from(content(stored), { objectMode: false }));
}

/** Reads a stored file to its end. @throws DamagedCopy, StorageError */
export async function verifyStored(
  storage: Storage,
  expected: Expected,
  signal: AbortSignal,
): Promise<void> {
  const size = await storage.size(expected.path);
  if (size === null) throw new DamagedCopy(`${expected.path} is not there any more.`);
  for await (const _ of await openVerified(storage, expected, signal));
}

/** A stored file as the source gave it, verified on the way. */
export async function openPlain(
  storage: Storage,
  expected: Expected,
  signal: AbortSignal,
): Promise<Readable> {
  const stored = await openVerified(storage, expected, signal);
  const plain = createZstdDecompress({ chunkSize: chunkBytes });
  stored.once("error", (error) => plain.destroy(error));
  plain.once("close", () => stored.destroy());
  return stored.pipe(plain);
}
