// Encrypts and decrypts in the format of age: https://c2sp.org/age. The library is only loaded where a recipient or an identity
// is set.
import { createEncrypt } from "../encryption/encrypt.ts";
import { decryptPayload } from "../encryption/payload.ts";
import { splitFile } from "../encryption/split-file.ts";
import { SelfBackupError } from "./self-backup-error.ts";

/**
 * @param recipients one or more `age1…`, separated by spaces, commas or newlines
 * @throws SelfBackupError
 */
export async function createEncryption(recipients: string) {
  const words = wordsOf(recipients);
  for (const recipient of words)
    try {
      await createEncrypt([recipient]);
    } catch (cause) {
      throw new SelfBackupError(
        `QUARTERDECK_SELF_BACKUP_RECIPIENT must be a public key of age, which starts with “age1”, not “${recipient.startsWith("AGE-SECRET") ? "a private one" : recipient}”.`,
        { cause },
      );
    }
  const encrypt = await createEncrypt(words);
  return (source: AsyncIterable<Uint8Array>) => encrypt(source);
}

/**
 * @param identities the text of an identity file of `age-keygen`
 * @throws SelfBackupError
 */
export async function createDecryption(identities: string) {
  const { Decrypter } = await import("age-encryption");
  const decrypter = new Decrypter();
  const lines = identities
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  if (lines.length === 0) throw noIdentity();
  for (const line of lines)
    try {
      decrypter.addIdentity(line);
    } catch (cause) {
      // The library's error may quote the key.
      throw noIdentity(cause instanceof Error ? cause.name : undefined);
    }
  return async function* decrypt(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const file = await splitFile(source);
    let key;
    try {
      key = await decrypter.decryptHeader(file.header);
    } catch (error) {
      await file.close();
      if (error instanceof Error && /no identity matched/i.test(error.message))
        throw new SelfBackupError(
          "The identity of QUARTERDECK_IDENTITY does not decrypt this file: it was encrypted to other recipients.",
        );
      throw error;
    }
    yield* decryptPayload(key, file);
  };
}

/** Creates a key pair for a process that will read back what it encrypts. */
export async function createThrowawayKey(): Promise<{ identity: string; recipient: string }> {
  const { generateX25519Identity, identityToRecipient } = await import("age-encryption");
  const identity = await generateX25519Identity();
  return { identity, recipient: await identityToRecipient(identity) };
}

const noIdentity = (cause?: string) =>
  new SelfBackupError(
    "QUARTERDECK_IDENTITY must name a file with a private key of age, a line that starts with “AGE-SECRET-KEY-1”. An identity file with a passphrase, or one of a plugin, can't be used: decrypt the backup with age itself first, then restore the decrypted file.",
    { cause },
  );

const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== "");
