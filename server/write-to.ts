import { finished, type Writable } from "node:stream";

type Watch = { waiting: Set<(error: Error) => void>; ending: Error | null };

/** One watch for all pieces of a stream: to begin and end one for each takes longer than to write it. */
const watches = new WeakMap<Writable, Watch>();

function watch(into: Writable): Watch {
  const known = watches.get(into);
  if (known !== undefined) return known;
  const made: Watch = { waiting: new Set(), ending: null };
  watches.set(into, made);
  finished(into, { readable: false }, (error) => {
    made.ending = error ?? new Error("The stream was closed before it had taken everything.");
    for (const reject of made.waiting) reject(made.ending);
    made.waiting.clear();
  });
  return made;
}

/**
 * @returns once the stream is done with the piece
 * @throws its error, also one that it had before. A stream that was destroyed need not call a write back, e.g. one of
 * zlib whose output nobody has read, so its end is heeded as well.
 */
export const writeTo = (into: Writable, piece: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    const { waiting, ending } = watch(into);
    if (ending !== null) return reject(ending);
    waiting.add(reject);
    into.write(piece, (error) => {
      waiting.delete(reject);
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
