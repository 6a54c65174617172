// Writes the standard input of a remote command: pieces, each after its length, a heartbeat now and then, and an explicit end,
// because a connection that is cut closes an input as well.
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { heartbeat, heartbeatMs, inputEnd } from "./remote-script.ts";

/** Each piece costs a process on the server, so small ones that follow each other closely are joined. */
const pieceBytes = 1024 * 1024;
const gatherMs = 5;

/**
 * @param stdin is left open; the caller closes it once the command has ended
 * @throws the error of the input; then the end must not be sent
 */
export async function feedFrames(input: Readable | undefined, stdin: Writable): Promise<void> {
  const beat = setInterval(() => stdin.writable && stdin.write(heartbeat), heartbeatMs);
  beat.unref();
  stdin.once("close", () => clearInterval(beat));
  if (input !== undefined) {
    for await (const piece of gathered(input)) {
      if (!stdin.writable) {
        input.destroy();
        return;
      }
      stdin.write(`${piece.length}\n`);
      if (!stdin.write(piece)) await drained(stdin);
    }
  }
  if (stdin.writable) stdin.write(inputEnd);
}

async function drained(stdin: Writable): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  const either = [once(stdin, "drain", { signal }), once(stdin, "close", { signal })];
  await Promise.race(either).catch(() => undefined);
  for (const event of either) event.catch(() => undefined);
  over.abort();
}

async function* gathered(input: Readable): AsyncGenerator<Buffer> {
  const iterator: AsyncIterator<Buffer | string> = input[Symbol.asyncIterator]();
  let parts: Buffer[] = [];
  let bytes = 0;
  let next = iterator.next();
  try {
    for (;;) {
      next.catch(() => undefined);
      const read = parts.length === 0 ? await next : await orLate(next);
      if (read === "late" || bytes >= pieceBytes || read.done === true) {
        if (parts.length > 0) yield Buffer.concat(parts, bytes);
        parts = [];
        bytes = 0;
        if (read === "late") continue;
        if (read.done === true) return;
      }
      const part = Buffer.from(read.value);
      parts.push(part);
      bytes += part.length;
      next = iterator.next();
    }
  } finally {
    await iterator.return?.();
  }
}

async function orLate<Result>(next: Promise<Result>): Promise<Result | "late"> {
  const late = Promise.withResolvers<"late">();
  const timer = setTimeout(() => late.resolve("late"), gatherMs);
  return Promise.race([next, late.promise]).finally(() => clearTimeout(timer));
}
