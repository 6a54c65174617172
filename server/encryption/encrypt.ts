// Encrypts files for a storage in the format of age, https://age-encryption.org/v1: by the program `age` where it is installed,
// which is three times as fast, else by the library.
import { Readable } from "node:stream";
import { createCommandOutput } from "../hosts/command-output.ts";
import { CommandMissing, type Host } from "../hosts/host.ts";
import { createPieceMemory, type PieceMemory } from "../piece-memory.ts";
import { EncryptionError } from "./encryption-error.ts";
import { throughWebStream } from "./web-stream.ts";

/** Extension of encrypted files. */
export const encryptedEnding = ".age";

export const isEncrypted = (key: string): boolean => key.endsWith(encryptedEnding);

/**
 * Reads its source to the end, or until the signal is aborted. Throws EncryptionError, or the error of its source.
 * @param memory pool for the pieces that it yields
 */
export type Encrypt = (
  source: AsyncIterable<Buffer>,
  signal: AbortSignal,
  memory?: PieceMemory,
) => AsyncIterable<Buffer>;

/**
 * @param recipients public keys, `age1…`
 * @throws EncryptionError where one of them is invalid
 */
export async function createEncrypt(
  host: Pick<Host, "run">,
  recipients: readonly string[],
): Promise<Encrypt> {
  const { Encrypter } = await import("age-encryption");
  const encrypter = new Encrypter();
  for (const [index, recipient] of recipients.entries())
    try {
      encrypter.addRecipient(recipient);
      // Nothing can be encrypted to some keys of a valid form.
      const alone = new Encrypter();
      alone.addRecipient(recipient);
      await alone.encrypt("");
    } catch (cause) {
      throw new EncryptionError(
        `Recipient ${index + 1} of the storage provider is no public key of age. Copy the line that starts with “age1” again.`,
        { cause },
      );
    }
  if (await hasProgram(host)) return throughProgram(host, recipients);
  return async function* encrypt(source) {
    for await (const piece of throughWebStream(source, (stream) => encrypter.encrypt(stream)))
      yield Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
  };
}

async function hasProgram(host: Pick<Host, "run">): Promise<boolean> {
  try {
    return (await host.run({ argv: ["age", "--version"] })).exitCode === 0;
  } catch (error) {
    if (error instanceof CommandMissing) return false;
    throw error;
  }
}

const throughProgram = (host: Pick<Host, "run">, recipients: readonly string[]): Encrypt =>
  async function* encrypt(source, outside, memory = createPieceMemory()) {
    const ending = new AbortController();
    const output = createCommandOutput(memory);
    const running = host.run({
      argv: ["age", "--encrypt", ...recipients.flatMap((one) => ["--recipient", one])],
      input: Readable.from(source, { highWaterMark: 1 }),
      take: output.take,
      signal: AbortSignal.any([outside, ending.signal]),
    });
    running.then(output.end, output.fail);
    try {
      try {
        yield* output.pieces;
      } catch (error) {
        await running;
        throw error;
      }
      const { exitCode, stderr } = await running;
      if (exitCode !== 0)
        throw new EncryptionError(`age couldn't encrypt the backup: ${stderr.trim()}`);
    } finally {
      ending.abort();
      await running.catch(() => undefined);
    }
  };
