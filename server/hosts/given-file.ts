// Passes texts to a program as unnamed files: a password must not appear in the arguments, nor in an environment that other
// programs of the account can read, and a named file could be left behind when the machine is cut off.
import { randomUUID } from "node:crypto";
import { open, rm, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { pipeline } from "node:stream/promises";
import { toError } from "../to-error.ts";
import { exactReaders, isHeadExact } from "./exact-input.ts";
import { CommandMissing, type Command } from "./host.ts";

/** The file descriptor of the first text in the program; the others are below it, because a shell names one digit only. */
const firstAt = 9;

/** Returns the path where the program reads a text of `given`: on Linux any number of times, elsewhere once. */
export const givenFile = (index: number): string => `/dev/fd/${firstAt - index}`;

/**
 * For a program of the service's own account on this machine.
 * @param folder for the files, whose names are removed before the texts are written
 * @returns the files, which the caller closes after the start
 * @throws CommandMissing, or a system error with the folder where that is full: no installation of the program would help
 */
export async function openGiven(
  { given = [], argv: [program] }: Command,
  folder: string,
): Promise<FileHandle[]> {
  const files: FileHandle[] = [];
  try {
    for (const text of given) {
      const path = join(folder, `quarterdeck-given-${randomUUID()}`);
      const file = await open(path, "wx+", 0o600);
      files.push(file);
      await rm(path);
      // Written at a position: outside Linux the program shares the file offset, which has to stay at 0.
      const { bytesWritten } = await file.write(text, 0);
      if (bytesWritten < Buffer.byteLength(text)) throw fullError("ENOSPC", folder);
    }
    return files;
  } catch (error) {
    for (const file of files) await file.close();
    const { code }: NodeJS.ErrnoException = toError(error);
    if (code === "ENOSPC" || code === "EDQUOT") throw fullError(code, folder);
    throw new CommandMissing(`${program} could not be started: ${toError(error).message}`);
  }
}

const fullError = (code: string, path: string) =>
  Object.assign(new Error(`No space left in ${path}`), { code, path });

/**
 * Returns the descriptors of a program by number, from 3.
 * @param files those of `LocalCommand`
 * @param given those of `openGiven`
 */
export function descriptorsOf(
  files: readonly number[],
  given: readonly FileHandle[],
): (number | "ignore")[] {
  if (given.length === 0) return [...files];
  const between = firstAt + 1 - given.length - 3 - files.length;
  const ignored = Array.from({ length: between }, () => "ignore" as const);
  return [...files, ...ignored, ...given.toReversed().map(({ fd }) => fd)];
}

/**
 * Opens the text's file as a descriptor. Removes the name before the text arrives. `take` reads exactly the bytes of the text; the
 * rest is the program's input. `mktemp` creates a file that only this account can read.
 */
const opening = (_text: string, index: number): string =>
  `f=$(mktemp) && exec ${firstAt - index}<"$f" && { rm -f -- "$f" && { take "$1" >&3 || { ${telling}; }; }; } 3>"$f" && shift`;
/** `head` says why it can't write, but not where. */
const telling = `echo "Couldn't write a temporary file to \${f%/*}." >&2 && false`;

const take = `take() { ${exactReaders.head}; }; ${isHeadExact} || take() { ${exactReaders.dd}; }`;

/** A descriptor that `exec` has opened reaches the program in some shells, such as mksh, only if it is named once more. */
const passing = (_text: string, index: number): string => `${firstAt - index}<&${firstAt - index}`;

/**
 * For a program of another account, which could not open the service's files, or on another machine.
 * @returns the command to run instead, which receives the texts by its standard input
 */
export function bringingGiven<Running extends Command>(command: Running): Running {
  const { given = [] } = command;
  if (given.length === 0) return command;
  const texts = given.map((text) => Buffer.from(text));
  // Not a generator: one that waits for the next piece would not notice that its reader is gone.
  const input = new PassThrough();
  input.write(Buffer.concat(texts));
  if (command.input === undefined) input.end();
  // `pipeline` destroys both streams when either fails, so that no side waits for the other.
  else pipeline(command.input, input).catch(() => undefined);
  return {
    ...command,
    argv: [
      "sh",
      "-c",
      `${take}; ${given.map(opening).join(" && ")} && exec "$@" ${given.map(passing).join(" ")}`,
      "sh",
      ...texts.map(({ length }) => String(length)),
      ...command.argv,
    ],
    input,
  };
}
