// Reads stored files, and compares them with what was stored on the way.
import { type Duplex, PassThrough, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";
import { createDecrypt } from "../../encryption/decrypt.ts";
import type { FileKey } from "../../encryption/payload.ts";
import { giveBackPiece, outputBytes } from "../../piece-memory.ts";
import type { Storage } from "../../storage/storage.ts";
import { toError } from "../../to-error.ts";
import { createHasher } from "./hasher.ts";
import { untilAborted } from "./together.ts";

/** The stored file is missing or differs from what was stored. The message is for the operator. */
export class DamagedBackup extends Error {
  override name = "DamagedBackup";
}

/** The file as its row describes it. `checksum` is hex SHA-256; null = only the size is compared. */
export type Expected = { path: string; size: number; checksum: string | null };

/**
 * Streams a stored file and compares it with its row. If it differs, the stream fails with `DamagedBackup` before its end, so
 * that no reader takes a damaged file for a whole one.
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
      // An abort has ended `untilAborted`, so nobody else closes it.
      if (signal.aborted) stored.destroy();
      return stored;
    }),
  );

/** Adds a listener, because an error before anybody reads the stream would end the service. The reader still gets the error. */
const heldForReader = <Held extends Readable>(stream: Held): Held =>
  stream.on("error", () => undefined);

/** Verifies a stored file on its way into `to`. When one end fails or is closed, the other is closed too. */
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
    if (bytes !== size) throw new DamagedBackup(`${path} has ${bytes} bytes instead of ${size}.`);
    if (checksum !== null && (await hasher.sent.digest()) !== checksum)
      throw new DamagedBackup(`Checksum mismatch: ${path} is not the file that was stored.`);
    if (held !== null) yield held;
  }
  try {
    await (decrypt === undefined
      ? pipeline(stored, compared, to)
      : pipeline(stored, compared, decrypt, to));
  } catch (error) {
    to.destroy(toError(error));
  } finally {
    signal.removeEventListener("abort", end);
    await hasher.end();
  }
}

/** Compares the size of a stored file without reading it. @throws DamagedBackup, StorageError */
export async function checkSize(
  storage: Storage,
  { path, size }: Expected,
  signal: AbortSignal,
): Promise<void> {
  const found = await untilAborted(signal, storage.size(path));
  if (found === null) throw new DamagedBackup(`${path} is missing.`);
  if (found !== size) throw new DamagedBackup(`${path} has ${found} bytes instead of ${size}.`);
}

/** Reads a stored file to its end. @throws DamagedBackup, StorageError */
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
  /** Null where the file is not encrypted. */
  key: FileKey | null;
  /** Leaves the content compressed by zstd. */
  isPacked?: boolean;
};

/** Streams the content of a stored file, decrypted and decompressed. It is verified on the way, as by `openVerified`. */
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
