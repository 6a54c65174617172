// From a source to a storage and back: compressed, counted and hashed on the way, with bounded memory.
import { type Duplex, PassThrough, type Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as wait } from "node:timers/promises";
import { createZstdDecompress } from "node:zlib";
import { StorageError, type Storage } from "../storage/storage.ts";
import { streamOf } from "../storage/stream-of.ts";
import { createDecrypt, type FileKey } from "../encryption/decrypt.ts";
import type { Encrypt } from "../encryption/encrypt.ts";
import { createPieceMemory, giveBackPiece, outputBytes } from "../piece-memory.ts";
import { createHasher } from "./hasher.ts";
import type { Pace } from "./pacer.ts";
import { compressHere, passCompressed } from "./packing.ts";
import type { CompressedDump, Manifest } from "./sources/source.ts";
import { runTogether, untilAborted } from "./together.ts";
import { toError } from "../to-error.ts";

export type Stored = {
  sizeBytes: number;
  plainBytes: number;
  /** Hex SHA-256 of the file as stored. */
  checksum: string;
  manifest: Manifest;
  /** How it is known that this is what is stored, as the end of a sentence. */
  verification: string;
};

type ManifestOf = Awaited<ReturnType<CompressedDump["dump"]>>;

export type StoreOptions = {
  storage: Storage;
  /** Under which name it is kept. */
  key: string;
  /** Writes the content and ends the stream, or destroys it. The signal is aborted when any other part has failed. */
  dump(into: Writable, signal: AbortSignal): Promise<Manifest | ManifestOf>;
  /** What is written comes compressed by zstd already. */
  compressed?: Pick<CompressedDump, "content"> | null;
  /** What is written is stored as it is, whatever it holds: nothing is compressed, and nothing is unpacked. */
  isPacked?: boolean;
  /** What is written is packed in a way of its own: so many bytes of content it stands for. */
  packedBytes?(): number;
  /** Left out: it is stored as it is. */
  encrypt?: Encrypt | null;
  /** Of zstd, where it is compressed here; left out: the usual one. */
  compressionLevel?: number | undefined;
  /** Left out: as fast as it goes. */
  pace?: Pace | null | undefined;
  signal: AbortSignal;
  onProgress(bytes: { plainBytes: number; storedBytes: number }): void;
};

/** So long a dump whose output broke may take to say why. */
export const wordsMs = 2000;

/**
 * Stores a dump. Nothing stands under the key before the dump has ended well and all of it is stored.
 * @throws what failed first (SourceError, StorageError, or the signal's reason), and then within 10 s
 */
export async function storeDump(options: StoreOptions): Promise<Stored> {
  const { storage, key, onProgress } = options;
  const { compressed = null, packedBytes, encrypt = null, pace = null } = options;
  const isPacked = options.isPacked === true || packedBytes !== undefined || compressed !== null;
  const hasher = createHasher(encrypt === null ? compressed?.content : null);
  /** What comes compressed is unpacked before it is encrypted. */
  const inspector =
    encrypt === null || compressed === null ? hasher : createHasher(compressed.content);
  const memory = createPieceMemory();
  const packing = isPacked ? passCompressed(memory) : compressHere(options.compressionLevel);
  const { into, out, giveBack, plainBytes = packedBytes ?? inspector.plainBytes } = packing;
  let sizeBytes = 0;
  let backBytes = 0;
  let checksum = "";

  try {
    const [manifest, stored] = await runTogether<[Manifest | ManifestOf, number]>(
      options.signal,
      (failing) => {
        const { signal, failed, expectFailure } = failing;
        const end = () => {
          for (const stream of [into, out]) stream.destroy(toError(signal.reason));
        };
        signal.addEventListener("abort", end);
        const dumped = options.dump(into, signal);
        // What breaks off because nobody reads it has none: the storage is about to say why it stopped.
        let reason: Error | undefined;
        async function* inspected(chunks: AsyncIterable<Buffer>) {
          for await (const chunk of chunks) {
            if (inspector !== hasher) await inspector.sent.update(chunk);
            yield chunk;
          }
          if (inspector !== hasher) await inspector.sent.digest();
        }
        async function* content() {
          let isWhole = false;
          try {
            // Left open where the reader breaks off, so that the dump does not fail before the reader has said why.
            const chunks: AsyncIterable<Buffer> = out.iterator({ destroyOnReturn: false });
            const stored = encrypt?.(inspected(chunks), signal, memory) ?? chunks;
            for await (const chunk of pace?.(stored, signal) ?? stored) {
              await hasher.sent.update(chunk);
              sizeBytes += chunk.length;
              onProgress({ plainBytes: plainBytes(), storedBytes: sizeBytes });
              yield chunk;
            }
            // A tool that fails at its very end has closed its output before: the exit code decides, not the stream.
            await Promise.race([dumped, failed]);
            checksum = await hasher.sent.digest();
            isWhole = true;
          } catch (error) {
            reason = toError(error);
            throw error;
          } finally {
            if (!isWhole) expectFailure(reason);
          }
        }
        // A dump that waits, e.g. for a lock, must not keep the storage from saying that it failed.
        const stream = streamOf(content(), () => undefined, { isOneByOne: true });
        const takeBack = async (piece: Buffer) => {
          await hasher.stored.update(piece);
          backBytes += piece.length;
        };
        const stored = storage
          .put(key, stream, {
            signal,
            takeBack,
            // Only of whole pieces as they came.
            release: pace !== null ? undefined : encrypt === null ? giveBack : memory.giveBack,
          })
          .catch(async (error: unknown) => {
            // A dump destroys its output before it has said why: its words are the cause, not those of the stream.
            if (reason !== undefined && into.destroyed && !signal.aborted)
              await Promise.race([dumped, failed, wait(wordsMs, undefined, { ref: false })]);
            throw error;
          });
        return [dumped, stored];
      },
    );
    if (stored !== sizeBytes)
      throw new Error(`Upload incomplete: ${storage.place} holds ${stored} of ${sizeBytes} bytes.`);
    const verification = await untilAborted(
      options.signal,
      compareStored({ storage, key, checksum, backBytes, hasher }, options.signal),
    );
    return {
      sizeBytes,
      plainBytes: plainBytes(),
      checksum,
      manifest:
        typeof manifest === "function" ? manifest(inspector.unpacked()?.archive ?? null) : manifest,
      verification,
    };
  } finally {
    await Promise.all([hasher.end(), inspector.end()]);
  }
}

type Comparison = {
  storage: Storage;
  key: string;
  checksum: string;
  /** So much of it was taken back already. */
  backBytes: number;
  hasher: ReturnType<typeof createHasher>;
};

/** @returns what was done, in words. @throws StorageError when something else is stored than was sent */
async function compareStored(
  { storage, key, checksum, backBytes, hasher }: Comparison,
  signal: AbortSignal,
): Promise<string> {
  const stored = await storage.readBack(key, { signal, fromByte: backBytes });
  if (stored.kind === "checksums") return "verified by the storage's checksums";
  if (stored.kind === "read")
    for await (const piece of stored.content) await hasher.stored.update(piece);
  const found = stored.kind === "read" ? await hasher.stored.digest() : stored.checksum;
  if (found !== checksum)
    throw new StorageError(
      `Verification failed: the data read back from ${storage.place} differs from the data written. Check the storage's disk and this machine's memory.`,
    );
  const isFromDisk = stored.kind === "read" ? stored.isFromDisk() : stored.isFromDisk;
  return isFromDisk
    ? "verified by reading back"
    : "verified by reading back, possibly from a cache instead of the disk";
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
export async function openVerified(
  storage: Storage,
  expected: Expected,
  signal: AbortSignal,
): Promise<Readable> {
  const passing = heldForReader(new PassThrough());
  void pass(await openStored(storage, expected, signal), expected, passing, signal);
  return passing;
}

const openStored = (storage: Storage, { path }: Expected, signal: AbortSignal) =>
  untilAborted(
    signal,
    storage.get(path, { signal }).then((stored) => {
      heldForReader(stored);
      // Nobody waits for it any more.
      if (signal.aborted) stored.destroy();
      return stored;
    }),
  );

/** A stream that may fail before somebody reads it. It tells the reader then; an error without one would end the service. */
const heldForReader = <Held extends Readable>(stream: Held): Held =>
  stream.on("error", () => undefined);

/** Passes a stored file on into `to`; whichever end fails or is given up, the other one is closed. */
async function pass(
  stored: Readable,
  expected: Expected,
  to: Duplex,
  signal: AbortSignal,
  decrypt?: ReturnType<typeof createDecrypt>,
): Promise<void> {
  const { path, size, checksum } = expected;
  const hasher = createHasher();
  const end = () => to.destroy(toError(signal.reason));
  if (signal.aborted) end();
  signal.addEventListener("abort", end, { once: true });
  async function* compared(chunks: AsyncIterable<Buffer>) {
    let bytes = 0;
    let held: Buffer | null = null;
    for await (const chunk of chunks) {
      await hasher.sent.update(chunk);
      bytes += chunk.length;
      if (held !== null) yield held;
      held = chunk;
    }
    if (bytes !== size) throw new DamagedCopy(`${path} has ${bytes} bytes instead of ${size}.`);
    if (checksum !== null && (await hasher.sent.digest()) !== checksum)
      throw new DamagedCopy(`Checksum mismatch: ${path} is not the file that was stored.`);
    if (held !== null) yield held;
  }
  try {
    await (decrypt === undefined
      ? pipeline(stored, compared, to)
      : pipeline(stored, compared, decrypt, to));
  } catch (error) {
    // The stream passes the error on to its reader.
    to.destroy(toError(error));
  } finally {
    signal.removeEventListener("abort", end);
    await hasher.end();
  }
}

/** Looks at a stored file without reading it. @throws DamagedCopy, StorageError */
export async function checkSize(
  storage: Storage,
  { path, size }: Expected,
  signal: AbortSignal,
): Promise<void> {
  const found = await untilAborted(signal, storage.size(path));
  if (found === null) throw new DamagedCopy(`${path} is missing.`);
  if (found !== size) throw new DamagedCopy(`${path} has ${found} bytes instead of ${size}.`);
}

/** Reads a stored file to its end. @throws DamagedCopy, StorageError */
export async function verifyStored(
  storage: Storage,
  expected: Expected,
  signal: AbortSignal,
): Promise<void> {
  await checkSize(storage, expected, signal);
  const pieces: AsyncIterable<Buffer> = await openVerified(storage, expected, signal);
  for await (const piece of pieces) giveBackPiece(piece);
}

type OpenContent = {
  /** Of one that is encrypted. */
  key: FileKey | null;
  /** It is left compressed by zstd. */
  isPacked?: boolean;
};

/** A stored file as the source gave it. It is verified on the way: a reader that comes to its end has had what was stored. */
export async function openContent(
  storage: Storage,
  expected: Expected,
  { key, isPacked = false }: OpenContent,
  signal: AbortSignal,
): Promise<Readable> {
  const content = heldForReader(
    isPacked ? new PassThrough() : createZstdDecompress({ chunkSize: outputBytes }),
  );
  const decrypt = key === null ? undefined : createDecrypt(key);
  void pass(await openStored(storage, expected, signal), expected, content, signal, decrypt);
  return content;
}
