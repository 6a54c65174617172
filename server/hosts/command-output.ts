// Joins a command's output into large pieces, because each piece costs its consumer the same work, however small it is.
import { PassThrough } from "node:stream";
import { createPieceMemory, type PieceMemory } from "../piece-memory.ts";
import { toError } from "../to-error.ts";

export function createCommandOutput(memory: PieceMemory = createPieceMemory()) {
  let filling = memory.take();
  let filled = 0;
  const pieces = new PassThrough({ objectMode: true, highWaterMark: 1 });
  pieces.on("error", () => undefined);
  const given: AsyncIterable<Buffer> = pieces;
  const handOver = () =>
    // Never settles when the reader is gone: then the program is ended, and nothing waits for this promise.
    new Promise<void>((resolve, reject) => {
      pieces.write(filling.subarray(0, filled), (error) =>
        error == null ? resolve() : reject(error),
      );
      filling = memory.take();
      filled = 0;
    });
  return {
    pieces: given,
    /** Copies a piece; the caller may reuse its memory once this resolves. */
    async take(piece: Buffer): Promise<void> {
      for (let at = 0; at < piece.length;) {
        const taken = piece.copy(filling, filled, at);
        at += taken;
        filled += taken;
        if (filled === filling.length) await handOver();
      }
    },
    end(): void {
      if (filled > 0) pieces.write(filling.subarray(0, filled));
      pieces.end();
    },
    fail: (error: unknown) => void pieces.destroy(toError(error)),
  };
}
