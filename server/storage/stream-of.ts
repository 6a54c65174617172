// Makes a stream of pieces that may arrive slowly, such as those of a stored file.
import { Readable } from "node:stream";
import { toError } from "../to-error.ts";

const heldBytes = 1024 * 1024;

/**
 * @param end stops the source as soon as the reader closes the stream: `Readable.from` would wait for the next piece first, which
 * may take long
 * @param isOneByOne for pieces whose memory is reused: none is read ahead
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
    // The source may have failed, which was already reported to the reader.
    pieces.return(undefined).catch(() => undefined);
  };
  // Without a listener, an error before the caller adds one would crash the process.
  return stream.on("error", () => undefined).once("close", giveUp);
}
