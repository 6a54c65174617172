import { finished, type Writable } from "node:stream";

/**
 * @returns once the stream is done with the piece
 * @throws its error, also one that it had before. A stream that was destroyed need not call a write back, e.g. one of
 * zlib whose output nobody has read, so its end is heeded as well.
 */
export const writeTo = (into: Writable, piece: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    const forget = finished(into, { readable: false }, (error) => {
      forget();
      reject(error ?? new Error("The stream was closed before it had taken everything."));
    });
    into.write(piece, (error) => {
      forget();
      if (error == null) resolve();
      else reject(error);
    });
  });

/** What is written on its way to whoever reads it. */
export async function* writingTo(
  into: Writable,
  content: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  for await (const piece of content) {
    await writeTo(into, piece);
    yield piece;
  }
}
