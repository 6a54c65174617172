// Sends a stream to rclone, which stores it under the given partial name.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { toError } from "../to-error.ts";
import { describeRcloneFailure, runRclone, type RcloneOptions } from "./rclone-command.ts";

/**
 * `put` has to report a failure within 10 s. Ending an unwanted upload in rclone and removing what is left may each take this
 * long.
 */
export const cleanUpMs = 4000;
export const heldBytes = 1024 * 1024;

/**
 * Content that breaks off is stored as well, under the partial name, and is removed afterwards. Killing rclone instead could
 * leave parts of an upload that no listing shows, but that use space.
 * @param to in rclone's syntax
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
  // The exit of the program reports the reason.
  input.on("error", () => undefined);
  const giveUp = new AbortController();

  let isOver = false;

  /** @returns the error of the content; null = none */
  async function pass(): Promise<Error | null> {
    try {
      const pieces: AsyncIterable<Buffer> = content;
      for await (const piece of pieces) {
        if (input.destroyed) return null;
        if (!input.write(piece)) await drained(input);
      }
      return null;
    } catch (error) {
      // After the exit of rclone the content is destroyed, which is not an error of the content.
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
    // Where the content broke off, the result of rclone does not matter.
    const [end] = await Promise.allSettled([ended]);
    isOver = true;
    content.destroy();
    const failure = await passing;
    signal.throwIfAborted();
    if (failure !== null) throw failure;
    if (end.status === "rejected") throw end.reason;
    if (end.value.exitCode !== 0) throw describeRcloneFailure(options.remote, end.value);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/**
 * Waits until the stream accepts more, or is closed.
 * @param stream not closed yet
 */
function drained(stream: Writable): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const event of ["drain", "close"]) stream.once(event, resolve);
  return promise.finally(() => {
    for (const event of ["drain", "close"]) stream.off(event, resolve);
  });
}
