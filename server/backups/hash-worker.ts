// The thread of `createHasher`: takes pieces out of shared memory, and says which place is free again.
import { createHash } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import { placeBytes, type Piece } from "./hasher.ts";

const memory = Buffer.from(workerData);
const hash = createHash("sha256");

// oxlint-disable unicorn/require-post-message-target-origin -- a port to a thread has no origin
parentPort?.on("message", (piece: Piece | null) => {
  if (piece === null) return parentPort?.postMessage(hash.digest("hex"));
  const start = piece.place * placeBytes;
  hash.update(memory.subarray(start, start + piece.bytes));
  parentPort?.postMessage(piece.place);
});
