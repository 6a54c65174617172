// Runs quick commands over the session of the shared connection, without opening a session for each.
import { randomBytes } from "node:crypto";
import { toError } from "../to-error.ts";
import type { Master } from "./master.ts";
import { quote } from "./quote.ts";

/**
 * Sends a line to the shell of the shared connection, and waits for its first line of output.
 * @param argv a quick command; empty = the server only echoes the line
 * @param onLate called when the output does not come in time
 * @returns the first line that the command prints
 * @throws the reason why the connection was lost, or an Error where the output does not come in time
 */
export async function askMaster(
  { child, answers, lost }: Master,
  argv: readonly string[],
  limitMs: number,
  onLate: () => void = () => undefined,
): Promise<string> {
  const key = randomBytes(6).toString("hex");
  const line = [key, ...argv.map(quote)].join(" ");
  if (line.includes("\n")) throw new Error("A command that is one line cannot hold a line feed.");
  const heard = Promise.withResolvers<string>();
  const timer = setTimeout(() => {
    onLate();
    heard.reject(new Error(`${argv[0] ?? "The server"} took longer than ${limitMs / 1000} s.`));
  }, limitMs);
  answers.set(key, heard.resolve);
  try {
    child.stdin?.write(`${line}\n`);
    return await until(heard.promise, lost.signal);
  } finally {
    clearTimeout(timer);
    answers.delete(key);
  }
}

/**
 * Awaits a promise until the signal aborts.
 * @throws the signal's reason where it aborts first
 */
export async function until<Result>(
  promise: Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  if (signal === undefined) return promise;
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(toError(signal.reason));
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
