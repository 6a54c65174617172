/** Encryption or decryption failed. The message is for the operator, and never contains a key or passphrase. */
export class EncryptionError extends Error {
  override name = "EncryptionError";
}
