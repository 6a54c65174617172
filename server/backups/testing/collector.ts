import { Writable } from "node:stream";
import { callbackify } from "node:util";

/**
 * Takes what a source dumps, as a copy: a piece's memory is used again.
 * @param opening what the first piece waits for
 */
export function createCollector(opening: Promise<void> = Promise.resolve()) {
  const pieces: Buffer[] = [];
  const begun = Promise.withResolvers<void>();
  const take = callbackify(async (piece: Buffer) => {
    begun.resolve();
    await opening;
    pieces.push(Buffer.from(piece));
  });
  const into = new Writable({ write: (piece: Buffer, _encoding, done) => take(piece, done) });
  // Told by `dump` itself.
  into.on("error", () => undefined);
  return { into, begun: begun.promise, content: () => Buffer.concat(pieces) };
}
