// SHA-256 on a thread of its own: it is the largest part of a backup's work, and the rest goes on beside it.
import { createHash } from "node:crypto";
import { on } from "node:events";
import { Worker } from "node:worker_threads";

const script = new URL("./hash-worker.ts", import.meta.url);

/** A place holds a piece until it is hashed. */
export const placeBytes = 1024 * 1024;
const places = [0, 1, 2, 3];

export type Piece = { place: number; bytes: number };

function startThread() {
  const memory = Buffer.from(new SharedArrayBuffer(places.length * placeBytes));
  const worker = new Worker(script, { workerData: memory.buffer, execArgv: [] });
  // It ends with the thread, and throws what the thread died of.
  const answers = on(worker, "message", { close: ["exit"] }) as AsyncIterableIterator<[unknown]>;
  const free = [...places];
  const nextAnswer = async (): Promise<unknown> => {
    const { value, done } = await answers.next();
    if (done === true) throw new Error("The thread that hashes has ended.");
    return value[0];
  };
  // oxlint-disable unicorn/require-post-message-target-origin -- a thread has no origin
  return {
    async update(chunk: Buffer): Promise<void> {
      for (let at = 0; at < chunk.length;) {
        const place = free.pop() ?? Number(await nextAnswer());
        const start = place * placeBytes;
        const bytes = chunk.copy(memory, start, at, at + placeBytes);
        worker.postMessage({ place, bytes } satisfies Piece);
        at += bytes;
      }
    },
    async digest(): Promise<string> {
      worker.postMessage(null);
      for (;;) {
        const answer = await nextAnswer();
        if (typeof answer === "string") return answer;
      }
    },
    end: () => worker.terminate(),
  };
}

/** To be ended in any case. A call has to wait for the one before it. */
export function createHasher() {
  // A single piece needs no thread.
  let first: Buffer | null = null;
  let thread: ReturnType<typeof startThread> | null = null;
  return {
    /** @returns once the chunk may be used for something else */
    async update(chunk: Buffer): Promise<void> {
      if (thread === null) {
        if (first === null) {
          first = Buffer.from(chunk);
          return;
        }
        thread = startThread();
        await thread.update(first);
      }
      await thread.update(chunk);
    },
    /** Hex, of all that came. */
    digest: async (): Promise<string> =>
      thread?.digest() ??
      createHash("sha256")
        .update(first ?? "")
        .digest("hex"),
    end: async (): Promise<void> => void (await thread?.end()),
  };
}
