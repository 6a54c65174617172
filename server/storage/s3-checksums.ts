// Compares what an S3 service received with what was sent, by the checksums that the service computes.
import { createHash, webcrypto } from "node:crypto";
import { StorageError } from "./storage.ts";

/** Returns the SHA-256 in Base64, as in `x-amz-checksum-sha256`. Computed on another thread. */
export const checksumOf = async (content: Buffer): Promise<string> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a buffer of ours lies in ordinary memory
  Buffer.from(await webcrypto.subtle.digest("SHA-256", content as Buffer<ArrayBuffer>)).toString(
    "base64",
  );

type Answer = { ChecksumSHA256?: string | undefined; ETag?: string | undefined };

/**
 * @param sent the result of `checksumOf` for the content
 * @returns false where the service returned neither that checksum nor, as the ETag, the MD5 of the content
 * @throws StorageError when its checksum differs
 */
export function isConfirmed(answer: Answer, content: Buffer, sent: string, place: string): boolean {
  const { ChecksumSHA256: said, ETag: tag } = answer;
  if (said !== undefined) {
    if (said === sent) return true;
    throw new StorageError(`${place} received something else than was sent: its checksum differs.`);
  }
  return tag?.replaceAll('"', "") === createHash("md5").update(content).digest("hex");
}
