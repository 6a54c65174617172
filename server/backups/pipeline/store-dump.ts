// Stores a dump: compresses, counts and hashes it on the way to the storage, in bounded memory, and compares what was stored.
import type { Writable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { StorageError, type Storage } from "../../storage/storage.ts";
import { streamOf } from "../../storage/stream-of.ts";
import type { Encrypt } from "../../encryption/encrypt.ts";
import { createPieceMemory } from "../../piece-memory.ts";
import { createHasher } from "./hasher.ts";
import type { Pace } from "./pacer.ts";
import { compressHere, passCompressed } from "./packing.ts";
import type { CompressedDump, Manifest } from "../sources/source.ts";
import { runTogether, untilAborted } from "./together.ts";
import { toError } from "../../to-error.ts";

export type Stored = {
  sizeBytes: number;
  plainBytes: number;
  /** Hex SHA-256 of the file as stored. */
  checksum: string;
  manifest: Manifest;
  /** How the stored file was compared with the dump, as the end of a sentence. */
  verification: string;
};

type ManifestOf = Awaited<ReturnType<CompressedDump["dump"]>>;

export type StoreOptions = {
  storage: Storage;
  key: string;
  /** Writes the content and ends the stream, or destroys it. The signal aborts when another part has failed. */
  dump(into: Writable, signal: AbortSignal): Promise<Manifest | ManifestOf>;
  /** Set where the dump comes compressed by zstd. */
  compressed?: Pick<CompressedDump, "content"> | null;
  /** Stores the bytes as they come: nothing is compressed, and nothing is unpacked. */
  isPacked?: boolean;
  /** Set where the dump comes in a packed form of its own: the bytes of content written so far. */
  packedBytes?(): number;
  encrypt?: Encrypt | null;
  /** Level of zstd where the dump is compressed here; by default, the one of `compressHere`. */
  compressionLevel?: number | undefined;
  /** Limits the speed. */
  pace?: Pace | null | undefined;
  signal: AbortSignal;
  onProgress(bytes: { plainBytes: number; storedBytes: number }): void;
};

/** How long a dump whose output broke may take to report why. */
export const reasonMs = 2000;

/**
 * Stores a dump. No object appears under the key before the dump has succeeded and all of it is stored.
 * @throws what failed first (SourceError, StorageError, or the signal's reason), and then within 10 s
 */
export async function storeDump(options: StoreOptions): Promise<Stored> {
  const { storage, key, onProgress } = options;
  const { compressed = null, packedBytes, encrypt = null, pace = null } = options;
  const isPacked = options.isPacked === true || packedBytes !== undefined || compressed !== null;
  const hasher = createHasher(encrypt === null ? compressed?.content : null);
  /** Reads compressed content before it is encrypted, which `hasher` cannot. */
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
        // Stays undefined where the stream ends because the storage stopped reading: the storage reports why.
        let reason: Error | undefined;
        async function* inspected(chunks: AsyncIterable<Buffer>) {
          for await (const chunk of chunks) {
            if (inspector !== hasher) await inspector.sent.update(chunk);
            yield chunk;
            giveBack(chunk);
          }
          if (inspector !== hasher) await inspector.sent.digest();
        }
        async function* content() {
          let isWhole = false;
          try {
            // A storage that stops reading leaves the output open, so that the dump does not fail before the storage reports why.
            const chunks: AsyncIterable<Buffer> = out.iterator({ destroyOnReturn: false });
            const stored = encrypt?.(inspected(chunks), memory) ?? chunks;
            for await (const chunk of pace?.(stored, signal) ?? stored) {
              await hasher.sent.update(chunk);
              sizeBytes += chunk.length;
              onProgress({ plainBytes: plainBytes(), storedBytes: sizeBytes });
              yield chunk;
            }
            // A tool can close its output and fail after that, so the exit code decides, not the end of the stream.
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
        // A dump that waits, e.g. for a lock, must not keep the storage from reporting its failure.
        const stream = streamOf(content(), () => undefined, { isOneByOne: true });
        const takeBack = async (piece: Buffer) => {
          await hasher.stored.update(piece);
          backBytes += piece.length;
        };
        const stored = storage
          .put(key, stream, {
            signal,
            takeBack,
            // With a pace, the storage gets parts of pieces, whose memory cannot be reused.
            release: pace !== null ? undefined : encrypt === null ? giveBack : memory.giveBack,
          })
          .catch(async (error: unknown) => {
            // A dump destroys its output before it reports why: its error is the cause, not that of the stream.
            if (reason !== undefined && into.destroyed && !signal.aborted)
              await Promise.race([dumped, failed, wait(reasonMs, undefined, { ref: false })]);
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
  /** How much of the stored file was read back while it was written. */
  backBytes: number;
  hasher: ReturnType<typeof createHasher>;
};

/** @returns how it compared, as the end of a sentence. @throws StorageError where the stored file differs from the dump */
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
