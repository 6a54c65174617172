// Decrypts what age encrypted, https://age-encryption.org/v1. What leaves the room is the key of one file: a private key is
// forgotten as soon as that is known.
import { Worker } from "node:worker_threads";
import { compileCacheEnvironment } from "../compile-cache.ts";
import { EncryptionError } from "./encryption-error.ts";
import { throughWebStream } from "./web-stream.ts";

/** Opens a single file. */
export type FileKey = Uint8Array;

/** What somebody gave to open a file with. */
export type GivenIdentity = {
  /** Of an identity file, as `age-keygen` writes it, or the same encrypted with a passphrase and armored. */
  identity: string;
  passphrase?: string | undefined;
};

/** What is wrong with what somebody gave, at its field. */
export class RefusedIdentity extends EncryptionError {
  override name = "RefusedIdentity";
  readonly field: keyof GivenIdentity;

  constructor(field: keyof GivenIdentity, message: string) {
    super(message);
    this.field = field;
  }
}

/** A header with twenty recipients has less than 4 KiB. */
const maxHeaderBytes = 64 * 1024;
const armorStart = "-----BEGIN AGE ENCRYPTED FILE-----";
const passphraseMs = 30_000;

/**
 * @param open the file as stored, of which only the beginning is read; not called where what was given is no identity
 * @throws RefusedIdentity, EncryptionError, or what the file throws
 */
export async function findFileKey(
  open: () => Promise<AsyncIterable<Uint8Array>>,
  given: GivenIdentity,
): Promise<FileKey> {
  const decrypter = await decrypterOf(given);
  const header = await readHeader(await open());
  try {
    return await decrypter.decryptHeader(header);
  } catch (error) {
    if (error instanceof Error && /no identity matched/i.test(error.message))
      throw new RefusedIdentity(
        "identity",
        "This identity doesn't open the backup: it was encrypted to other recipients.",
      );
    throw new EncryptionError(
      "The stored file isn't encrypted by age, or its beginning is damaged.",
    );
  }
}

/** @returns the public keys of the files that it opens. @throws RefusedIdentity */
export async function recipientsOf(identity: string): Promise<string[]> {
  const { identityToRecipient } = await import("age-encryption");
  await decrypterOf({ identity });
  return Promise.all(linesOf(identity).map((line) => identityToRecipient(line)));
}

export const createDecrypt = (key: FileKey) =>
  async function* decrypt(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const { Decrypter } = await import("age-encryption");
    const decrypter = new Decrypter();
    decrypter.addIdentity({ unwrapFileKey: () => key });
    yield* throughWebStream(source, (stream) => decrypter.decrypt(stream));
  };

async function decrypterOf({ identity, passphrase = "" }: GivenIdentity) {
  const { Decrypter } = await import("age-encryption");
  const decrypter = new Decrypter();
  const isProtected = identity.trimStart().startsWith(armorStart);
  if (isProtected && passphrase === "")
    throw new RefusedIdentity("passphrase", "The identity file is protected by a passphrase.");
  const text = isProtected ? await openProtected(identity, passphrase) : identity;
  const lines = linesOf(text);
  if (lines.length === 0) throw noIdentity();
  for (const line of lines)
    try {
      decrypter.addIdentity(line);
    } catch {
      // What the library says of a key may quote it.
      throw noIdentity();
    }
  return decrypter;
}

const linesOf = (identity: string): string[] =>
  identity
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));

const noIdentity = () =>
  new RefusedIdentity(
    "identity",
    "An identity is a private key of age: a line that starts with “AGE-SECRET-KEY-1”, or the whole file that holds it.",
  );

let lastTrial: Promise<unknown> = Promise.resolve();

/** One after the other: several at once could take all memory, and each may say how much it takes, up to 1 GiB. */
function openProtected(armored: string, passphrase: string): Promise<string> {
  const trial = lastTrial.then(() => tryPassphrase(armored, passphrase));
  lastTrial = trial.catch(() => undefined);
  return trial;
}

/** On a thread of its own: it takes a second of a processor, and 256 MB where `age` itself has encrypted. */
async function tryPassphrase(armored: string, passphrase: string): Promise<string> {
  const worker = new Worker(new URL("./passphrase-worker.ts", import.meta.url), {
    workerData: { armored, passphrase },
    execArgv: [],
    env: compileCacheEnvironment(),
  });
  const answer = Promise.withResolvers<string | null>();
  const timer = setTimeout(() => answer.resolve(null), passphraseMs);
  worker.once("message", (text: string | null) => answer.resolve(text));
  worker.once("error", () => answer.resolve(null));
  worker.once("exit", () => answer.resolve(null));
  try {
    const text = await answer.promise;
    if (text !== null) return text;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
  throw new RefusedIdentity(
    "passphrase",
    "This passphrase doesn't open the identity file, or the file is damaged.",
  );
}

/** @returns the beginning of a file, with the whole of its header */
async function readHeader(file: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of file) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes >= maxHeaderBytes) break;
  }
  return Buffer.concat(pieces).subarray(0, maxHeaderBytes);
}
