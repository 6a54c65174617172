// Whether an S3 service has received what was sent, by the checksums that it computes itself.
import { createHash, webcrypto } from "node:crypto";
import { StorageError } from "./storage.ts";

/** SHA-256 in Base64, as `x-amz-checksum-sha256` has it; computed beside the service's other work. */
export const checksumOf = async (content: Buffer): Promise<string> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a buffer of ours lies in ordinary memory
  Buffer.from(await webcrypto.subtle.digest("SHA-256", content as Buffer<ArrayBuffer>)).toString(
    "base64",
  );

type Answer = { ChecksumSHA256?: string | undefined; ETag?: string | undefined };

/**
 * @param sent what `checksumOf` said of it
 * @returns false where the service says neither that checksum nor, as its ETag, the MD5 of the content
 * @throws StorageError when its checksum is another
 */
export function isConfirmed(answer: Answer, content: Buffer, sent: string, place: string): boolean {
  const { ChecksumSHA256: said, ETag: tag } = answer;
  if (said !== undefined) {
    if (said === sent) return true;
    throw new StorageError(`${place} received something else than was sent: its checksum differs.`);
  }
  return tag?.replaceAll('"', "") === createHash("md5").update(content).digest("hex");
}
