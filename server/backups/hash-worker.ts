// The thread of `createHasher`: takes pieces out of shared memory, and says which place is free again.
import { createHash } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import { placeBytes, type Answer, type Piece, type ThreadData } from "./hasher.ts";
import { createUnpacker } from "./unpacker.ts";
import { toError } from "../to-error.ts";

const { memory: shared, content }: ThreadData = workerData;
const memory = Buffer.from(shared);
let hash = createHash("sha256");
let unpacker = content === null ? null : createUnpacker(content);

async function take({ place, bytes }: Piece): Promise<Answer> {
  const piece = memory.subarray(place * placeBytes, place * placeBytes + bytes);
  hash.update(piece);
  await unpacker?.write(piece);
  return { kind: "free", place, plainBytes: unpacker?.plainBytes() ?? 0 };
}

async function end(): Promise<Answer> {
  const checksum = hash.digest("hex");
  hash = createHash("sha256");
  const unpacked = (await unpacker?.end()) ?? null;
  unpacker = null;
  return { kind: "digest", checksum, unpacked };
}

async function answer(piece: Piece | null): Promise<void> {
  const said = await (piece === null ? end() : take(piece)).catch((error: unknown): Answer => ({
    kind: "broken",
    reason: toError(error).message,
  }));
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port to a thread has no origin
  parentPort?.postMessage(said);
}

parentPort?.on("message", (piece: Piece | null) => void answer(piece));
