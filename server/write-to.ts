import { finished, type Writable } from "node:stream";

type Watch = { waiting: Set<(error: Error) => void>; ending: Error | null };

/** One listener per stream, because adding and removing one for each piece takes longer than writing it. */
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
 * @returns once the stream has processed the piece
 * @throws the stream's error, even an earlier one. A destroyed stream may never call back a write, such as a zlib stream whose
 * output is not read, so its end is watched as well.
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

/** Writes the pieces to a stream while passing them on. */
export async function* writingTo(
  into: Writable,
  content: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  for await (const piece of content) {
    await writeTo(into, piece);
    yield piece;
  }
}
