// Encrypts files for a storage in the format of age, https://c2sp.org/age.
import type { PieceMemory } from "../piece-memory.ts";
import { EncryptionError } from "./encryption-error.ts";
import { emptyPayloadBytes, encryptPayload, type FileKey } from "./payload.ts";

/** Extension of encrypted files. */
export const encryptedEnding = ".age";

export const isEncrypted = (key: string): boolean => key.endsWith(encryptedEnding);

/**
 * Encrypts one file. Has copied a piece of its source when it asks for the next; throws the error of its source.
 * @param memory pool for the pieces that it yields
 */
export type Encrypt = (
  source: AsyncIterable<Uint8Array>,
  memory?: PieceMemory,
) => AsyncGenerator<Buffer>;

/**
 * @param recipients public keys, `age1…`
 * @throws EncryptionError where one of them is invalid
 */
export async function createEncrypt(recipients: readonly string[]): Promise<Encrypt> {
  for (const [index, recipient] of recipients.entries())
    try {
      // Nothing can be encrypted to some keys of a valid form.
      await startFile([recipient]);
    } catch (cause) {
      throw new EncryptionError(
        `Recipient ${index + 1} of the storage provider is no public key of age. Copy the line that starts with “age1” again.`,
        { cause },
      );
    }
  return async function* encrypt(source, memory) {
    yield* encryptPayload(await startFile(recipients), source, memory);
  };
}

/** Returns a new key, and the header that contains it for the recipients. */
async function startFile(recipients: readonly string[]) {
  const { Encrypter } = await import("age-encryption");
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  let key: FileKey = new Uint8Array();
  encrypter.addRecipient({
    wrapFileKey(made) {
      key = Uint8Array.from(made);
      return [];
    },
  });
  const empty = await encrypter.encrypt(new Uint8Array());
  return { header: empty.subarray(0, -emptyPayloadBytes), key };
}
