// Limits a stream to a number of bytes per second, in small pieces, so that the network is used evenly.
import type { Clock } from "../../clock.ts";

/** Duration of a piece, as a share of a second. */
const pieceShare = 0.1;
const smallestPieceBytes = 1024;

export type Pace = (chunks: AsyncIterable<Buffer>, signal: AbortSignal) => AsyncIterable<Buffer>;

/**
 * Limits a stream to `bytesPerSecond`, counted over any interval, plus one piece. Pieces share the memory of their chunk.
 */
export function createPace(bytesPerSecond: number, clock: Clock): Pace {
  const pieceBytes = Math.max(smallestPieceBytes, Math.floor(bytesPerSecond * pieceShare));
  const msOf = (bytes: number) => (bytes * 1000) / bytesPerSecond;
  /** When the bytes so far have used up their time. */
  let freeAtMs = -Infinity;

  async function take(bytes: number, signal: AbortSignal): Promise<void> {
    const nowMs = clock.now();
    // At most the time of one piece, so that a clock that is set back does not stop the stream.
    const waitMs = Math.min(freeAtMs - nowMs, msOf(pieceBytes));
    if (waitMs > 0) await delay(waitMs, clock, signal);
    freeAtMs = Math.max(clock.now(), nowMs + Math.max(0, waitMs)) + msOf(bytes);
  }

  return async function* paced(chunks, signal) {
    for await (const chunk of chunks)
      for (let at = 0; at < chunk.length; at += pieceBytes) {
        const piece = chunk.subarray(at, at + pieceBytes);
        await take(piece.length, signal);
        yield piece;
      }
  };
}

/** Waits by the service's clock. @throws the signal's reason */
export const delay = (ms: number, clock: Clock, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const abort = () => {
      cancel();
      reject(signal.reason);
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener("abort", abort);
      resolve();
    });
    signal.addEventListener("abort", abort, { once: true });
  });
