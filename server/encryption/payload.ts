// The payload of age's files, https://c2sp.org/age#payload, by OpenSSL: age's library takes ten times as long, and its program
// five times, because all bytes pass two pipes.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { createPieceMemory, freeBuffer, type PieceMemory } from "../piece-memory.ts";
import { EncryptionError } from "./encryption-error.ts";

/** The symmetric key of a single file. */
export type FileKey = Uint8Array;

const cipher = "chacha20-poly1305";
/** The payload begins with a salt, from which its key is derived. */
export const saltBytes = 16;
const chunkBytes = 64 * 1024;
/** Each chunk ends with its authentication tag. */
const tagBytes = 16;
/** Size of a payload without content: its only chunk is a tag. */
export const emptyPayloadBytes = saltBytes + tagBytes;
const tagLength = { authTagLength: tagBytes };

const payloadKey = (key: FileKey, salt: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", key, salt, "payload", 32));

/** Returns the nonces of a file's chunks: eleven bytes that count, and one that marks the last chunk. */
function createNonces() {
  let count = 0;
  return (isLast: boolean): Buffer => {
    const nonce = Buffer.alloc(12);
    nonce.writeUIntBE(count++, 5, 6);
    nonce[11] = isLast ? 1 : 0;
    return nonce;
  };
}

/** @yields chunks of a size, whose memory is reused; the last one may be shorter, and is empty only if there is no content */
async function* inChunks(source: AsyncIterable<Uint8Array>, bytes: number) {
  const chunk = Buffer.alloc(bytes);
  let filled = 0;
  for await (const piece of source)
    for (let at = 0; at < piece.length;) {
      if (filled === bytes) {
        yield { chunk, isLast: false };
        filled = 0;
      }
      // Without a copy, where more follows in the piece itself.
      if (filled === 0 && piece.length - at > bytes) {
        yield { chunk: piece.subarray(at, at + bytes), isLast: false };
        at += bytes;
        continue;
      }
      const taken = piece.subarray(at, at + bytes - filled);
      chunk.set(taken, filled);
      filled += taken.length;
      at += taken.length;
    }
  yield { chunk: chunk.subarray(0, filled), isLast: true };
}

/** Joins bytes into pieces. */
function createJoiner(memory: PieceMemory) {
  let piece = memory.take();
  let filled = 0;
  return {
    /** @yields the pieces that are full */
    *add(bytes: Uint8Array): Generator<Buffer> {
      for (let at = 0; at < bytes.length;) {
        const taken = bytes.subarray(at, at + piece.length - filled);
        piece.set(taken, filled);
        filled += taken.length;
        at += taken.length;
        if (filled < piece.length) continue;
        yield piece;
        piece = memory.take();
        filled = 0;
      }
    },
    *end(): Generator<Buffer> {
      if (filled > 0) yield piece.subarray(0, filled);
    },
  };
}

/**
 * Encrypts content after a header. Has copied a piece of its source when it asks for the next.
 * @param header of the file, which comes first
 * @param memory for the pieces
 */
export async function* encryptPayload(
  { header, key }: { header: Uint8Array; key: FileKey },
  source: AsyncIterable<Uint8Array>,
  memory: PieceMemory = createPieceMemory(),
): AsyncGenerator<Buffer> {
  const salt = randomBytes(saltBytes);
  const secret = payloadKey(key, salt);
  const nextNonce = createNonces();
  const joiner = createJoiner(memory);
  yield* joiner.add(header);
  yield* joiner.add(salt);
  for await (const { chunk, isLast } of inChunks(source, chunkBytes)) {
    const sealing = createCipheriv(cipher, secret, nextNonce(isLast), tagLength);
    const sealed = sealing.update(chunk);
    yield* joiner.add(sealed);
    freeBuffer(sealed);
    sealing.final();
    yield* joiner.add(sealing.getAuthTag());
  }
  yield* joiner.end();
}

/**
 * Decrypts a file that was split by `splitFile`. Each chunk is authenticated before it is yielded, and so is the end of the file.
 * @throws EncryptionError where it is damaged, cut off or of another key
 */
export async function* decryptPayload(
  key: FileKey,
  { salt, payload }: { salt: Uint8Array; payload: AsyncIterable<Uint8Array> },
): AsyncGenerator<Buffer> {
  const secret = payloadKey(key, salt);
  const nextNonce = createNonces();
  const joiner = createJoiner(createPieceMemory());
  let isFirst = true;
  for await (const { chunk, isLast } of inChunks(payload, chunkBytes + tagBytes)) {
    const content = openChunk(secret, nextNonce(isLast), chunk);
    // As the format demands: otherwise, two files would have the same content.
    if (isLast && content.length === 0 && !isFirst) throw damaged();
    isFirst = false;
    yield* joiner.add(content);
    freeBuffer(content);
  }
  yield* joiner.end();
}

function openChunk(secret: Uint8Array, nonce: Uint8Array, chunk: Uint8Array): Buffer {
  if (chunk.length < tagBytes) throw damaged();
  const opening = createDecipheriv(cipher, secret, nonce, tagLength);
  opening.setAuthTag(chunk.subarray(-tagBytes));
  const content = opening.update(chunk.subarray(0, -tagBytes));
  try {
    opening.final();
  } catch {
    throw damaged();
  }
  return content;
}

const damaged = () =>
  new EncryptionError(
    "The encrypted file is damaged or cut off: what it holds can't be decrypted.",
  );
