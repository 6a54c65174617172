// Reads and writes files on the server with standard commands. Values are passed as arguments, never as shell text.
import { createHash } from "node:crypto";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import type { Machine } from "./machine.ts";

/** More than a program file of 64 processes, and less than the limit of a command's output. */
const maxFileBytes = 512 * 1024;
/** Time limit of each command. */
const limitMs = 20_000;

const ok = 0;
const missing = 3;
const closed = 4;

type Shell = { machine: Pick<Machine, "run">; script: string; args: readonly string[] };

/** Runs a script of the shell, with its arguments as `$1` and so on. */
export const run = (
  { machine, script, args }: Shell,
  more: { input?: Readable; take?: (piece: Buffer) => Promise<void> } = {},
) =>
  machine.run({
    argv: ["sh", "-c", script, "sh", ...args],
    signal: AbortSignal.timeout(limitMs),
    isSmall: true,
    ...more,
  });

/** Creates an error with the last line of stderr, without the shell's prefix (its name and the line of the script). */
const problemOf = (what: string, { stderr }: { stderr: string }) =>
  new Error(
    `${what}: ${
      stderr
        .trim()
        .split("\n")
        .at(-1)
        ?.replace(/^\w+: (?:(?:line )?\d+: )?/, "") ?? ""
    }`,
  );

/** @returns null where there is no such file */
export async function readText(machine: Machine, path: string): Promise<string | null> {
  const folder = dirname(path);
  // Without search permission on the folder, the file seems not to exist.
  const script = `[ -e "$1" ] || { [ -d "$2" ] && [ ! -x "$2" ] && exit ${closed}; exit ${missing}; }; head -c ${maxFileBytes} -- "$1"`;
  const end = await run({ machine, script, args: [path, folder] });
  if (end.exitCode === missing) return null;
  if (end.exitCode === closed)
    throw new Error(`Couldn't read ${path}: the folder ${folder} is closed to the account`);
  if (end.exitCode !== ok) throw problemOf(`Couldn't read ${path}`, end);
  return end.stdout;
}

/** Writes atomically. Every account may read the file, like those that come with supervisord. */
export async function writeText(machine: Machine, path: string, text: string): Promise<void> {
  // supervisord does not include files with the suffix `.new`.
  const script =
    'umask 022; new="$1.new"; trap \'rm -f -- "$new"\' EXIT; cat >"$new" && chmod 644 -- "$new" && sync -- "$new" && mv -f -- "$new" "$1"';
  const end = await run({ machine, script, args: [path] }, { input: Readable.from([text]) });
  if (end.exitCode !== ok) throw problemOf(`Couldn't write ${path}`, end);
}

export async function removeFiles(machine: Machine, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  const end = await run({ machine, script: 'rm -f -- "$@"', args: paths });
  if (end.exitCode !== ok) throw problemOf("Couldn't delete a file", end);
}

/** Creates a folder that only the account can read, unless it exists. */
export async function makeFolder(machine: Machine, path: string): Promise<void> {
  const script = '[ -d "$1" ] || mkdir -p -m 700 -- "$1"';
  const end = await run({ machine, script, args: [path] });
  if (end.exitCode !== ok) throw problemOf(`Couldn't make ${path}`, end);
}

/** Deletes all files whose path begins with one of these prefixes. */
export async function removeStarting(machine: Machine, starts: readonly string[]): Promise<void> {
  await run({ machine, script: 'for s; do rm -f -- "$s"*; done', args: starts });
}

export async function removeEmptyFolder(machine: Machine, path: string): Promise<void> {
  await run({ machine, script: 'rmdir -- "$1" 2>/dev/null', args: [path] });
}

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Time limit of `firstLine`. */
const lineLimitMs = 5000;

/** Whether `hashesIn` would find exactly these hashes, by one hash over all of them; false if that fails. */
async function areExpected(
  machine: Machine,
  folder: string,
  start: string,
  expected: ReadonlyMap<string, string>,
): Promise<boolean> {
  const script = 'export LC_ALL=C; cd -- "$1" && { sha256sum -- "$2"* 2>/dev/null; } | sha256sum';
  const line = await machine
    .firstLine?.(["sh", "-c", script, "sh", folder, start], lineLimitMs)
    // `hashesIn` then repeats this with a full command, which reports the error.
    .catch(() => "");
  const names = [...expected.keys()].toSorted();
  const list = names.map((name) => `${expected.get(name)}  ${name}\n`).join("");
  return line?.slice(0, 64) === sha256(list);
}

/** Returns the free bytes on the disk of a folder; null = unknown. */
export async function freeBytesIn(machine: Machine, folder: string): Promise<number | null> {
  const script = 'df -Pk -- "$1" | { read -r _; read -r _ _ _ free _; echo "$free"; }';
  const argv = ["sh", "-c", script, "sh", folder];
  const line = machine.firstLine
    ? await machine.firstLine(argv, lineLimitMs).catch(() => "")
    : (await run({ machine, script, args: [folder] })).stdout;
  const kilobytes = /^\d+/.exec(line)?.[0];
  return kilobytes === undefined ? null : Number(kilobytes) * 1024;
}

/**
 * Returns the SHA-256 of the files in a folder whose names begin with `start`, by name.
 * @param expected the probable result, which is cheaper to confirm than to read
 */
export async function hashesIn(
  machine: Machine,
  folder: string,
  start: string,
  expected: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> {
  if (await areExpected(machine, folder, start, expected)) return expected;
  const script =
    'cd -- "$1" || exit 1; for f in "$2"*; do [ ! -f "$f" ] || sha256sum -- "$f"; done';
  const end = await run({ machine, script, args: [folder, start] });
  if (end.exitCode !== ok) throw problemOf(`Couldn't read the folder ${folder}`, end);
  return new Map(
    end.stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => [line.slice(66), line.slice(0, 64)]),
  );
}

/** Inode and size of a file; null where there is none. A file keeps its inode when it is renamed. */
type FileFacts = { inode: string; size: number } | null;

export async function factsOf(machine: Machine, paths: readonly string[]): Promise<FileFacts[]> {
  const script = 'for f; do stat -c "%i %s" -- "$f" 2>/dev/null || echo -; done';
  const { stdout } = await run({ machine, script, args: paths });
  const lines = stdout.split("\n");
  return paths.map((_, index) => {
    const [inode = "-", size] = (lines[index] ?? "-").split(" ");
    return inode === "-" ? null : { inode, size: Number(size) };
  });
}

/** @returns the last bytes of a file as text, whatever they are */
export async function readTail(machine: Machine, path: string, bytes: number): Promise<string> {
  const end = await run({ machine, script: 'tail -c "$2" -- "$1"', args: [path, `${bytes}`] });
  if (end.exitCode !== ok) throw problemOf(`Couldn't read ${path}`, end);
  return end.stdout;
}

/** @returns the bytes from `offset`, fewer where the file ends */
export async function readBytes(
  machine: Machine,
  path: string,
  offset: number,
  length: number,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const end = await run(
    {
      machine,
      script: 'tail -c "+$2" -- "$1" | head -c "$3"',
      args: [path, `${offset + 1}`, `${length}`],
    },
    { take: async (piece) => void pieces.push(Buffer.from(piece)) },
  );
  if (end.exitCode !== ok) throw problemOf(`Couldn't read ${path}`, end);
  return Buffer.concat(pieces);
}
