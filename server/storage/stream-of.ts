// Pieces that are slow in coming as a stream, e.g. those of a stored file.
import { Readable } from "node:stream";
import { toError } from "../to-error.ts";

const heldBytes = 1024 * 1024;

/**
 * @param end gives up what the pieces come from, as soon as the reader leaves: `Readable.from` would wait for the next piece
 * before, which may be long in coming
 * @param isOneByOne for pieces whose memory is used again: none is taken while another one waits
 */
export function streamOf(
  pieces: AsyncGenerator<Buffer>,
  end: () => void,
  { isOneByOne = false } = {},
): Readable {
  const stream = new Readable({
    ...(isOneByOne ? { objectMode: true, highWaterMark: 1 } : { highWaterMark: heldBytes }),
    read() {
      pieces.next().then(
        ({ value, done }) => this.push(done === true ? null : value),
        (error: unknown) => this.destroy(toError(error)),
      );
    },
    destroy(error, done) {
      end();
      done(error);
    },
  });
  const giveUp = () => {
    // Where they come from may have failed, of which the reader has heard.
    pieces.return(undefined).catch(() => undefined);
  };
  // Whoever gets it hears of its error; until then nobody does.
  return stream.on("error", () => undefined).once("close", giveUp);
}
