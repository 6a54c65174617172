// SHA-256 on a thread of its own: it is the largest part of a backup's work, and the rest goes on beside it. What comes
// compressed is unpacked there as well: its pieces are garbage, and cleaning up looks through the small heap of the
// thread instead of the service's own.
import { createHash } from "node:crypto";
import { on } from "node:events";
import { Worker } from "node:worker_threads";
import { SourceError } from "./sources/source.ts";
import type { Content, Unpacked } from "./unpacker.ts";

const script = new URL("./hash-worker.ts", import.meta.url);

/** A place holds a piece until it is hashed. */
export const placeBytes = 1024 * 1024;
const places = [0, 1, 2, 3];

export type Piece = { place: number; bytes: number };
export type ThreadData = { memory: ArrayBufferLike; content: Content | null };
export type Answer =
  | { kind: "free"; place: number; plainBytes: number }
  | { kind: "digest"; checksum: string; unpacked: Unpacked | null }
  | { kind: "broken"; reason: string };

function startThread(content: Content | null) {
  const memory = Buffer.from(new SharedArrayBuffer(places.length * placeBytes));
  const workerData: ThreadData = { memory: memory.buffer, content };
  const worker = new Worker(script, { workerData, execArgv: [] });
  // It ends with the thread, and throws what the thread died of.
  const answers = on(worker, "message", { close: ["exit"] }) as AsyncIterableIterator<[Answer]>;
  const free = [...places];
  let plainBytes = 0;
  /** @returns what ends the pieces, or null: a place was free again */
  const nextAnswer = async () => {
    const { value, done } = await answers.next();
    if (done === true) throw new Error("The thread that hashes has ended.");
    const [answer]: [Answer] = value;
    if (answer.kind === "broken")
      throw new SourceError(`What arrived isn't a whole zstd stream: ${answer.reason}.`);
    if (answer.kind === "digest") return answer;
    free.push(answer.place);
    plainBytes = answer.plainBytes;
    return null;
  };
  // oxlint-disable unicorn/require-post-message-target-origin -- a thread has no origin
  return {
    plainBytes: () => plainBytes,
    async update(chunk: Buffer): Promise<void> {
      for (let at = 0; at < chunk.length;) {
        while (free.length === 0) await nextAnswer();
        const place = free.pop() ?? 0;
        const start = place * placeBytes;
        const bytes = chunk.copy(memory, start, at, at + placeBytes);
        worker.postMessage({ place, bytes } satisfies Piece);
        at += bytes;
      }
    },
    async digest() {
      worker.postMessage(null);
      for (;;) {
        const answer = await nextAnswer();
        if (answer !== null) return answer;
      }
    },
    end: () => worker.terminate(),
  };
}

/**
 * To be ended in any case. A call has to wait for the one before it.
 * @param content what a zstd stream holds that is to be unpacked too, up to the first digest; null = it is hashed only.
 * A stream that is damaged or not whole is a SourceError of `update` or `digest`
 */
export function createHasher(content: Content | null = null) {
  // A single piece needs no thread.
  let first: Buffer | null = null;
  let thread = content === null ? null : startThread(content);
  let unpacked: Unpacked | null = null;
  return {
    /** @returns once the chunk may be used for something else */
    async update(chunk: Buffer): Promise<void> {
      if (thread === null) {
        if (first === null) {
          first = Buffer.from(chunk);
          return;
        }
        thread = startThread(null);
        await thread.update(first);
      }
      await thread.update(chunk);
    },
    /** Hex, of all that came since the last one. */
    async digest(): Promise<string> {
      if (thread === null) {
        const hash = createHash("sha256").update(first ?? "");
        first = null;
        return hash.digest("hex");
      }
      const answer = await thread.digest();
      unpacked ??= answer.unpacked;
      return answer.checksum;
    },
    /** Of the content, as far as it was unpacked. */
    plainBytes: () => unpacked?.plainBytes ?? thread?.plainBytes() ?? 0,
    /** After the digest; null where nothing was unpacked. */
    unpacked: () => unpacked,
    end: async (): Promise<void> => void (await thread?.end()),
  };
}
