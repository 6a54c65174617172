// The output of a command in large pieces, as whoever comes next has the same work with each, however small it is.
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
    // Not called back where the reader has gone: then the program is ended, and nobody waits for this.
    new Promise<void>((resolve, reject) => {
      pieces.write(filling.subarray(0, filled), (error) =>
        error == null ? resolve() : reject(error),
      );
      filling = memory.take();
      filled = 0;
    });
  return {
    pieces: given,
    /** Its memory may be used again once this resolves. */
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
