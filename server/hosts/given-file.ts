// Gives a program a text as a file that has no name: a password must not stand among its arguments, nor in an environment
// that other programs of the account can read, and a file with a name could be left behind on a machine that is cut off.
import { PassThrough } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Command } from "./host.ts";

/** Where the program finds the text: on Linux as often as it opens it, elsewhere once. */
export const givenFile = "/dev/fd/9";

/**
 * The name is gone before the text arrives. `head` takes its own bytes and no more; what follows is the program's.
 * `mktemp` makes a file for this account alone.
 */
const script = `f=$(mktemp) && exec 8>"$f" 9<"$f" && rm -f -- "$f" && head -c "$1" >&8 && exec 8>&- && shift && exec "$@"`;

/** @returns the command, to be run in place of the one that was given, on whatever machine */
export function withGivenFile(text: string, command: Command): Command {
  const content = Buffer.from(text);
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
