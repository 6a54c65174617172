// The thread of `createHasher`: hashes pieces in shared memory, and reports when their place is free again.
import { createHash } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import {
  placeBytes,
  reasonOf,
  type Answer,
  type Message,
  type Piece,
  type ThreadData,
} from "./hasher.ts";
import { createUnpacker } from "./unpacker.ts";

const { memory: shared, content }: ThreadData = workerData;
const memory = Buffer.from(shared);
const hashes = { sent: createHash("sha256"), stored: createHash("sha256") };
let unpacker = content === null ? null : createUnpacker(content);

async function take({ of, place, bytes }: Piece): Promise<Answer> {
  const piece = memory.subarray(place * placeBytes, place * placeBytes + bytes);
  hashes[of].update(piece);
  if (of === "sent") await unpacker?.write(piece);
  return { kind: "free", place, plainBytes: unpacker?.plainBytes() ?? 0 };
}

async function end({ of }: Message): Promise<Answer> {
  const checksum = hashes[of].digest("hex");
  hashes[of] = createHash("sha256");
  if (of === "stored") return { kind: "digest", of, checksum, unpacked: null };
  const unpacked = (await unpacker?.end()) ?? null;
  unpacker = null;
  return { kind: "digest", of, checksum, unpacked };
}

async function answer(message: Message): Promise<void> {
  const said = await ("place" in message ? take(message) : end(message)).catch(
    (error: unknown): Answer => ({ kind: "broken", reason: reasonOf(error) }),
  );
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port to a thread has no origin
  parentPort?.postMessage(said);
}

parentPort?.on("message", (message: Message) => void answer(message));
