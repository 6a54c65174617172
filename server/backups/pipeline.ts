// From a source to a storage and back: compressed, counted and hashed on the way, with bounded memory.
import { createHash } from "node:crypto";
import { Readable, Transform, type Writable } from "node:stream";
import { constants, createZstdCompress, createZstdDecompress } from "node:zlib";
import type { Storage } from "../storage/storage.ts";
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

/** Large pieces: each one crosses to zlib's thread and back, which costs as much as compressing 64 KiB does. */
const chunkBytes = 1024 * 1024;

/** Makes large pieces of the small ones that a pipe brings. */
function createGatherer(): Transform {
  let pieces: Buffer[] = [];
  let bytes = 0;
  return new Transform({
    writableHighWaterMark: chunkBytes,
    transform(chunk: Buffer, _encoding, done) {
      pieces.push(chunk);
      bytes += chunk.length;
      if (bytes < chunkBytes) return done();
      const gathered = Buffer.concat(pieces, bytes);
      pieces = [];
      bytes = 0;
      done(null, gathered);
    },
    flush(done) {
      done(null, bytes === 0 ? undefined : Buffer.concat(pieces, bytes));
    },
  });
}

/**
 * Stores a dump. Nothing stands under the key before the dump has ended well and all of it is stored.
 * @throws SourceError, StorageError, or the signal's reason
 */
export async function storeDump(options: StoreOptions): Promise<Stored> {
  const { storage, key, signal, onProgress } = options;
  const gather = createGatherer();
  const compress = createZstdCompress({
    chunkSize: chunkBytes,
    params: {
      [constants.ZSTD_c_compressionLevel]: 3,
      // zstd's own checksum, so that a user who unpacks by hand is told of damage too.
      [constants.ZSTD_c_checksumFlag]: 1,
    },
  });
  // A tool that is missing fails before anybody reads; the error reaches the reader all the same.
  for (const stream of [gather, compress]) stream.on("error", () => undefined);
  gather.once("error", (error) => compress.destroy(error));
  compress.once("close", () => gather.destroy());
  gather.pipe(compress);
  const abort = () => compress.destroy(signal.reason as Error);
  signal.addEventListener("abort", abort, { once: true });
  const hash = createHash("sha256");
  let sizeBytes = 0;

  const dumped = options.dump(gather).catch((error: unknown) => {
    compress.destroy(error as Error);
    throw error;
  });
  // Both ends fail together; which of them is awaited first must not make the other one "unhandled".
  dumped.catch(() => undefined);
  async function* content() {
    for await (const chunk of compress as AsyncIterable<Buffer>) {
      hash.update(chunk);
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
      checksum: hash.digest("hex"),
      manifest,
    };
  } catch (error) {
    await dumped.catch(() => undefined);
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
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
    const hash = createHash("sha256");
    let bytes = 0;
    let held: Buffer | null = null;
    for await (const chunk of stored as AsyncIterable<Buffer>) {
      hash.update(chunk);
      bytes += chunk.length;
      if (held !== null) yield held;
      held = chunk;
    }
    if (bytes !== size) throw new DamagedCopy(`${path} has ${bytes} bytes; ${size} were stored.`);
    if (checksum !== null && hash.digest("hex") !== checksum)
      throw new DamagedCopy(`${path} is not what was stored: its checksum differs.`);
    if (held !== null) yield held;
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
