// Cuts a stream into the parts of a multipart upload.
import type { Readable } from "node:stream";

const mebibyte = 1024 * 1024;
const firstPartBytes = 8 * mebibyte;
const partsBeforeGrowing = 1000;

/**
 * Returns the size of a part: 8 MiB at first, doubled after every thousand parts. S3 allows 10,000 parts, which makes 8 TB in
 * all, more than the 5 TB that one object may have; and a backup of less than 8 GB never needs larger parts.
 * @param number counts from 1
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html
 */
export const partBytes = (number: number): number =>
  firstPartBytes * 2 ** Math.floor((number - 1) / partsBeforeGrowing);

/**
 * Cloudflare R2 rejects parts of different sizes, at the very end of an upload. With this size 625 GiB fit.
 * @see https://developers.cloudflare.com/r2/objects/multipart-objects/
 */
const evenPartBytes = 64 * mebibyte;

/** @param endpoint null = Amazon's own */
export const partBytesAt = (endpoint: string | null): typeof partBytes =>
  endpoint !== null && /\.r2\.cloudflarestorage\.com$/i.test(new URL(endpoint).hostname)
    ? () => evenPartBytes
    : partBytes;

/** All parts but the last have exactly the size that `bytesOf` returns. */
export async function* cutIntoParts(
  content: Readable,
  bytesOf = partBytes,
): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  let number = 1;
  const chunks: AsyncIterable<Buffer> = content;
  for await (const chunk of chunks) {
    let rest = chunk;
    while (bytes + rest.length >= bytesOf(number)) {
      const missing = bytesOf(number) - bytes;
      pieces.push(rest.subarray(0, missing));
      yield Buffer.concat(pieces);
      rest = rest.subarray(missing);
      pieces = [];
      bytes = 0;
      number += 1;
    }
    if (rest.length > 0) {
      pieces.push(rest);
      bytes += rest.length;
    }
  }
  if (bytes > 0) yield Buffer.concat(pieces);
}
