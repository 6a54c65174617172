import { Writable } from "node:stream";
import { callbackify } from "node:util";

/**
 * Collects what a source dumps. Copies each piece, because its memory is reused.
 * @param opening delays the first piece
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
  // `dump` itself reports the error.
  into.on("error", () => undefined);
  return { into, begun: begun.promise, content: () => Buffer.concat(pieces) };
}
