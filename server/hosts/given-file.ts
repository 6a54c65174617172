// Passes text to a program as an unnamed file: a password must not appear in the arguments, nor in an environment that other
// programs of the account can read, and a named file could be left behind when the machine is cut off.
import { randomUUID } from "node:crypto";
import { open, rm, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { pipeline } from "node:stream/promises";
import { toError } from "../to-error.ts";
import { CommandMissing, type Command } from "./host.ts";

/** The file descriptor in the program. */
export const givenAt = 9;

/** The path where the program reads the text: on Linux any number of times, elsewhere once. */
export const givenFile = `/dev/fd/${givenAt}`;

/**
 * For a program of the service's own account on this machine.
 * @param folder for the file, whose name is removed before the text is written
 * @returns the file for descriptor `givenAt`, which the caller closes after the start; null = there is no text
 * @throws CommandMissing
 */
export async function openGiven(
  { given, argv: [program] }: Command,
  folder: string,
): Promise<FileHandle | null> {
  if (given === undefined) return null;
  const path = join(folder, `quarterdeck-given-${randomUUID()}`);
  let file: FileHandle | null = null;
  try {
    file = await open(path, "wx+", 0o600);
    await rm(path);
    // Written at a position: outside Linux the program shares the file offset, which has to stay at 0.
    const { bytesWritten } = await file.write(given, 0);
    if (bytesWritten < Buffer.byteLength(given)) throw new Error(`${folder} is full.`);
    return file;
  } catch (error) {
    await file?.close();
    throw new CommandMissing(`${program} could not be started: ${toError(error).message}`);
  }
}

/**
 * Removes the name before the text arrives. `head` reads exactly the bytes of the text; the rest is the program's input. `mktemp`
 * creates a file that only this account can read.
 */
const script = `f=$(mktemp) && exec 8>"$f" 9<"$f" && rm -f -- "$f" && head -c "$1" >&8 && exec 8>&- && shift && exec "$@"`;

/**
 * For a program of another account, which could not open the service's file, or on another machine.
 * @returns the command to run instead, which receives the text by its standard input
 */
export function bringingGiven<Running extends Command>(command: Running): Running {
  const { given } = command;
  if (given === undefined) return command;
  const content = Buffer.from(given);
  // Not a generator: one that waits for the next piece would not notice that its reader is gone.
  const input = new PassThrough();
  input.write(content);
  if (command.input === undefined) input.end();
  // `pipeline` destroys both streams when either fails, so that no side waits for the other.
  else pipeline(command.input, input).catch(() => undefined);
  return {
    ...command,
    argv: ["sh", "-c", script, "sh", String(content.length), ...command.argv],
    input,
  };
}
