// Gives a program a text as a file that has no name: a password must not stand among its arguments, nor in an environment
// that other programs of the account can read, and a file with a name could be left behind on a machine that is cut off.
import { randomUUID } from "node:crypto";
import { open, rm, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { pipeline } from "node:stream/promises";
import { toError } from "../to-error.ts";
import { CommandMissing, type Command } from "./host.ts";

/** The number of the open file. */
export const givenAt = 9;

/** Where the program finds the text: on Linux as often as it opens it, elsewhere once. */
export const givenFile = `/dev/fd/${givenAt}`;

/**
 * For a program of our own account on this machine.
 * @param folder where the text lies, in a file whose name is gone before the text arrives
 * @returns what the program is to have as file `givenAt`, to be closed here then; null = nothing is given
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
    // To a position: elsewhere than on Linux the program goes on where we are in the file.
    const { bytesWritten } = await file.write(given, 0);
    if (bytesWritten < Buffer.byteLength(given)) throw new Error(`${folder} is full.`);
    return file;
  } catch (error) {
    await file?.close();
    throw new CommandMissing(`${program} could not be started: ${toError(error).message}`);
  }
}

/**
 * The name is gone before the text arrives. `head` takes its own bytes and no more; what follows is the program's.
 * `mktemp` makes a file for this account alone.
 */
const script = `f=$(mktemp) && exec 8>"$f" 9<"$f" && rm -f -- "$f" && head -c "$1" >&8 && exec 8>&- && shift && exec "$@"`;

/**
 * For a program of another account, which could not open a file of ours, or on another machine.
 * @returns the command, to be run in place of the one that was given
 */
export function bringingGiven<Running extends Command>(command: Running): Running {
  const { given } = command;
  if (given === undefined) return command;
  const content = Buffer.from(given);
  // Not a generator: one that waits for a piece could not be told that nobody reads it any more.
  const input = new PassThrough();
  input.write(content);
  if (command.input === undefined) input.end();
  // Each end that breaks breaks the other, which tells whoever waits there.
  else pipeline(command.input, input).catch(() => undefined);
  return {
    ...command,
    argv: ["sh", "-c", script, "sh", String(content.length), ...command.argv],
    input,
  };
}
