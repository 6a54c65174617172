// Finds the key of a file that age encrypted, https://age-encryption.org/v1. Only that file key leaves this folder; the private
// key is dropped as soon as it is known.
import { Worker } from "node:worker_threads";
import { compileCacheEnvironment } from "../compile-cache.ts";
import { EncryptionError } from "./encryption-error.ts";
import { decryptPayload, type FileKey } from "./payload.ts";
import { notOfAge, splitFile } from "./split-file.ts";

/** What a request brings to decrypt a file. */
export type GivenIdentity = {
  /** Text of an identity file from `age-keygen`, or the same encrypted with a passphrase and armored. */
  identity: string;
  passphrase?: string | undefined;
};

/** An identity or passphrase that cannot be used, with the field that it was given in. */
export class RefusedIdentity extends EncryptionError {
  override name = "RefusedIdentity";
  readonly field: keyof GivenIdentity;

  constructor(field: keyof GivenIdentity, message: string) {
    super(message);
    this.field = field;
  }
}

const armorStart = "-----BEGIN AGE ENCRYPTED FILE-----";
const passphraseMs = 30_000;

/**
 * @param open opens the stored file, of which only the header is read; not called where the given text is no identity
 * @throws RefusedIdentity, EncryptionError, or what the file throws
 */
export async function findFileKey(
  open: () => Promise<AsyncIterable<Uint8Array>>,
  given: GivenIdentity,
): Promise<FileKey> {
  const decrypter = await decrypterOf(given);
  const { header, close } = await splitFile(await open());
  await close();
  try {
    return await decrypter.decryptHeader(header);
  } catch (error) {
    if (error instanceof Error && /no identity matched/i.test(error.message))
      throw new RefusedIdentity(
        "identity",
        "This identity doesn't open the backup: it was encrypted to other recipients.",
      );
    throw notOfAge();
  }
}

/** @returns the public keys that belong to an identity. @throws RefusedIdentity */
export async function recipientsOf(identity: string): Promise<string[]> {
  const { identityToRecipient } = await import("age-encryption");
  await decrypterOf({ identity });
  return Promise.all(linesOf(identity).map((line) => identityToRecipient(line)));
}

export const createDecrypt = (key: FileKey) =>
  async function* decrypt(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
    yield* decryptPayload(key, await splitFile(source));
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
      // Errors of the library may quote the key.
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

/** Opens one file at a time, because each sets how much memory its key derivation takes, up to 1 GiB. */
function openProtected(armored: string, passphrase: string): Promise<string> {
  const trial = lastTrial.then(() => tryPassphrase(armored, passphrase));
  lastTrial = trial.catch(() => undefined);
  return trial;
}

/** Runs on a thread, because scrypt takes a second of CPU time, and 256 MB with the parameters of `age`. */
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
