// Splits a file of age, https://c2sp.org/age, into its header and what is encrypted.
import { giveBackPiece } from "../piece-memory.ts";
import { EncryptionError } from "./encryption-error.ts";
import { saltBytes } from "./payload.ts";

/** A header with twenty recipients has less than 4 KiB. */
const maxHeaderBytes = 64 * 1024;

type Split = {
  /** Contains the key of the file, encrypted to each recipient. */
  header: Buffer;
  /** From which the key of the payload is derived. */
  salt: Buffer;
  /** All that follows, in pieces that are given back when the next one is asked for. */
  payload: AsyncIterable<Uint8Array>;
  /** Closes the file, where the payload isn't read. */
  close(): Promise<void>;
};

/** @throws EncryptionError where the file isn't one of age, or what the file throws; the file is closed then */
export async function splitFile(file: AsyncIterable<Uint8Array>): Promise<Split> {
  const pieces = file[Symbol.asyncIterator]();
  const close = async () => void (await pieces.return?.());
  let start = Buffer.alloc(0);
  try {
    for (;;) {
      const end = endOfHeader(start);
      if (end !== null && start.length >= end + saltBytes)
        return {
          header: start.subarray(0, end),
          salt: start.subarray(end, end + saltBytes),
          payload: rest(start.subarray(end + saltBytes), pieces, close),
          close,
        };
      const { value, done } = await pieces.next();
      if (done === true || start.length > maxHeaderBytes) throw notOfAge();
      start = Buffer.concat([start, value]);
    }
  } catch (error) {
    await close();
    throw error;
  }
}

/** Finds the last line of the header: `---` and its authentication code. */
function endOfHeader(start: Buffer): number | null {
  const last = start.indexOf("\n---");
  const end = last === -1 ? -1 : start.indexOf("\n", last + 1);
  return end === -1 ? null : end + 1;
}

async function* rest(
  first: Uint8Array,
  pieces: AsyncIterator<Uint8Array>,
  close: () => Promise<void>,
) {
  try {
    yield first;
    for (;;) {
      const { value, done } = await pieces.next();
      if (done === true) return;
      yield value;
      giveBackPiece(value);
    }
  } finally {
    await close();
  }
}

export const notOfAge = () =>
  new EncryptionError("The stored file isn't encrypted by age, or its beginning is damaged.");
