// Sends a stream to rclone, which stores it under the name of a piece.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { toError } from "../to-error.ts";
import { describeRcloneFailure, runRclone, type RcloneOptions } from "./rclone-command.ts";

/**
 * `put` tells its failure within 10 s: so long rclone may take to end an upload that nobody wants any more, and as long
 * the removal of what is left.
 */
export const cleanUpMs = 4000;
export const heldBytes = 1024 * 1024;

/**
 * What comes of a content that breaks off is stored, too: it is a piece, which is removed then. An upload that is killed
 * may leave parts behind that no list shows, and that cost their room.
 * @param to as rclone has it
 * @throws the content's own error, StorageError, or the signal's reason
 */
export async function sendToRclone(
  options: RcloneOptions,
  to: string,
  content: Readable,
  signal: AbortSignal,
): Promise<void> {
  const spool = await mkdtemp(join(options.spoolFolder ?? tmpdir(), "dump-rclone-"));
  try {
    signal.throwIfAborted();
    await send(options, ["rcat", "--checksum", to], { content, signal, spool });
  } finally {
    await rm(spool, { recursive: true, force: true });
  }
}

type Sending = { content: Readable; signal: AbortSignal; spool: string };

async function send(
  options: RcloneOptions,
  args: readonly string[],
  { content, signal, spool }: Sending,
): Promise<void> {
  const input = new PassThrough({ highWaterMark: heldBytes });
  // The program's end says why.
  input.on("error", () => undefined);
  const giveUp = new AbortController();

  let isOver = false;

  /** @returns why the content broke off */
  async function pass(): Promise<Error | null> {
    try {
      const pieces: AsyncIterable<Buffer> = content;
      for await (const piece of pieces) {
        if (input.destroyed) return null;
        if (!input.write(piece)) await drained(input);
      }
      return null;
    } catch (error) {
      // Whoever sees that rclone has ended gives the content up.
      if (isOver) return null;
      void wait(cleanUpMs, undefined, { ref: false }).then(() => giveUp.abort());
      return toError(error);
    } finally {
      input.end();
    }
  }

  const stop = () => void content.destroy(toError(signal.reason));
  const passing = pass();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const environment = { TMPDIR: spool };
    const ended = runRclone(options, args, { input, environment, signal: giveUp.signal });
    // Whether it succeeds is of no interest where the content broke off.
    const [end] = await Promise.allSettled([ended]);
    isOver = true;
    content.destroy();
    const failure = await passing;
    signal.throwIfAborted();
    if (failure !== null) throw failure;
    if (end.status === "rejected") throw end.reason;
    const { exitCode, stderr } = end.value;
    if (exitCode !== 0) throw describeRcloneFailure(options.remote, stderr);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** @param stream not closed yet. @returns once it takes more, or is closed */
function drained(stream: Writable): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const event of ["drain", "close"]) stream.once(event, resolve);
  return promise.finally(() => {
    for (const event of ["drain", "close"]) stream.off(event, resolve);
  });
}
