/** Something cannot be encrypted or decrypted. The message is for the operator; no key and no passphrase is in it. */
export class EncryptionError extends Error {
  override name = "EncryptionError";
}
