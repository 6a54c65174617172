// Computes SHA-256 on a thread, because it is the largest part of a backup's CPU time. Compressed content is decompressed there as
// well: its pieces become garbage, which is collected in the thread's small heap instead of the service's own.
import { createHash } from "node:crypto";
import { Worker } from "node:worker_threads";
import { compileCacheEnvironment } from "../../compile-cache.ts";
import { SourceError } from "../sources/source.ts";
import { createUnpacker, type Content, type Unpacked } from "./unpacker.ts";
import { describeUnpackError } from "./unpack-error.ts";
import { toError } from "../../to-error.ts";

const script = new URL("./hash-worker.ts", import.meta.url);

/** Content up to this size is hashed at the end without a thread, whose start would cost more. */
const heldBytes = 128 * 1024;

/** Size of a slot of shared memory, which holds a piece until it is hashed. */
export const placeBytes = 1024 * 1024;
const places = [0, 1, 2, 3];

/** What is sent to the storage, and what is read back from it meanwhile. */
type Side = "sent" | "stored";
export type Piece = { of: Side; place: number; bytes: number };
/** A message without a piece requests the digest. */
export type Message = Piece | { of: Side };
export type ThreadData = { memory: ArrayBufferLike; content: Content | null };
type Digest = { kind: "digest"; of: Side; checksum: string; unpacked: Unpacked | null };
export type Answer =
  | { kind: "free"; place: number; plainBytes: number }
  | Digest
  | { kind: "broken"; reason: string };

function startThread(content: Content | null) {
  const memory = Buffer.from(new SharedArrayBuffer(places.length * placeBytes));
  const workerData: ThreadData = { memory: memory.buffer, content };
  const worker = new Worker(script, { workerData, execArgv: [], env: compileCacheEnvironment() });
  const free = [...places];
  const waiting: PromiseWithResolvers<void>[] = [];
  const digests: Partial<Record<Side, PromiseWithResolvers<Digest>>> = {};
  let plainBytes = 0;
  let failure: Error | null = null;

  function fail(error: Error): void {
    failure ??= error;
    for (const { reject } of [...waiting.splice(0), ...Object.values(digests)]) reject(failure);
  }
  worker.on("error", fail);
  worker.on("exit", () => fail(new Error("The thread that hashes has ended.")));
  worker.on("message", (answer: Answer) => {
    switch (answer.kind) {
      case "free":
        free.push(answer.place);
        plainBytes = answer.plainBytes;
        waiting.shift()?.resolve();
        break;
      case "digest":
        digests[answer.of]?.resolve(answer);
        break;
      case "broken":
        fail(notWhole(answer.reason));
    }
  });
  async function takePlace(): Promise<number> {
    for (;;) {
      if (failure !== null) throw failure;
      const place = free.pop();
      if (place !== undefined) return place;
      const freed = Promise.withResolvers<void>();
      waiting.push(freed);
      await freed.promise;
    }
  }
  // oxlint-disable unicorn/require-post-message-target-origin -- a thread has no origin
  return {
    plainBytes: () => plainBytes,
    async update(of: Side, chunk: Buffer): Promise<void> {
      for (let at = 0; at < chunk.length;) {
        const place = await takePlace();
        const bytes = chunk.copy(memory, place * placeBytes, at, at + placeBytes);
        worker.postMessage({ of, place, bytes } satisfies Message);
        at += bytes;
      }
    },
    async digest(of: Side): Promise<Digest> {
      if (failure !== null) throw failure;
      const digest = Promise.withResolvers<Digest>();
      digests[of] = digest;
      worker.postMessage({ of } satisfies Message);
      return digest.promise;
    },
    end: () => worker.terminate(),
  };
}

const notWhole = (reason: string) =>
  new SourceError(`What arrived isn't a whole zstd stream: ${reason}.`);

/** Returns the reason for `notWhole`. */
export const reasonOf = (error: unknown): string => {
  const words = describeUnpackError(error);
  return words === null ? toError(error).message : `it is ${words}`;
};

/** @throws SourceError for a damaged or truncated stream */
async function unpackHere(content: Content, pieces: readonly Buffer[]): Promise<Unpacked> {
  const unpacker = createUnpacker(content);
  try {
    for (const piece of pieces) await unpacker.write(piece);
    return await unpacker.end();
  } catch (error) {
    throw notWhole(reasonOf(error));
  }
}

/** A hash that is computed piece by piece. Each call has to wait for the previous one. */
type Hashed = {
  /** Resolves once the memory of the chunk may be reused. */
  update(chunk: Buffer): Promise<void>;
  /** Returns the hex digest of everything since the previous digest. */
  digest(): Promise<string>;
};

/**
 * Creates a hasher, which has to be ended in any case.
 * @param content kind of the content of a zstd stream that is also decompressed, up to the first digest; null = it is only hashed. For
 *   a damaged or truncated stream, `update` or `digest` throws a SourceError
 */
export function createHasher(content: Content | null = null) {
  let toUnpack = content;
  let thread: ReturnType<typeof startThread> | null = null;
  let unpacked: Unpacked | null = null;

  function hashed(of: Side): Hashed {
    let held: Buffer[] = [];
    return {
      async update(chunk) {
        const bytes = held.reduce((sum, piece) => sum + piece.length, chunk.length);
        if (thread === null && bytes <= heldBytes) {
          held.push(Buffer.from(chunk));
          return;
        }
        thread ??= startThread(toUnpack);
        const before = held;
        held = [];
        for (const piece of before) await thread.update(of, piece);
        await thread.update(of, chunk);
      },
      async digest() {
        const isHeld = thread === null || held.length > 0;
        const pieces = held;
        held = [];
        const unpacks = of === "sent" ? toUnpack : null;
        if (of === "sent") toUnpack = null;
        if (thread === null || isHeld) {
          if (unpacks !== null) unpacked = await unpackHere(unpacks, pieces);
          const hash = createHash("sha256");
          for (const piece of pieces) hash.update(piece);
          return hash.digest("hex");
        }
        const answer = await thread.digest(of);
        unpacked ??= answer.unpacked;
        return answer.checksum;
      },
    };
  }

  return {
    sent: hashed("sent"),
    /** The hash of what is read back. */
    stored: hashed("stored"),
    /** Bytes of the content decompressed so far. */
    plainBytes: () => unpacked?.plainBytes ?? thread?.plainBytes() ?? 0,
    /** Available after the digest; null where nothing was decompressed. */
    unpacked: () => unpacked,
    end: async (): Promise<void> => void (await thread?.end()),
  };
}
