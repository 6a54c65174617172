// Runs shell scripts for a SQLite database on another machine, with the machine's own `sqlite3`. Paths and names are never part of a
// script, but always arguments.
import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { endInWords, isKilled } from "../../../../hosts/end-in-words.ts";
import type { Host } from "../../../../hosts/host.ts";
import { SourceError } from "../../source.ts";
import { sqliteError } from "../failures.ts";

/** Folder for large temporary files, which is on a disk on every server. */
export const temporaryRoot = "/var/tmp";

/**
 * Functions of all scripts. `$real` is the path of the database with links resolved, `$parent` its folder. The `readlink -f` of
 * BusyBox fails for a relative link to a file that is missing, which a restore puts back. `look` prints the state of the file.
 * `place` prints a folder with enough space for `$1` KiB: beside the database, where a restore needs it too, otherwise that of
 * temporary files. `step` runs a command, and prints its exit code and output. `discard` removes our folders. `keep` starts a
 * process that removes a folder once no script has used it for a while, even if the connection is lost. `q` does not read the
 * account's `.sqliterc`.
 */
const prelude = `busy=$1; kept=$3; real=$(readlink -f -- "$2" && printf .); real=\${real%??}
[ "$real" ] || { [ -L "$2" ] && real=$(readlink -- "$2" && printf .); real=\${real%??}
  case $real in /*|'') ;; *) real=\${2%/*}/$real ;; esac; }
real=\${real:-$2}
parent=\${real%/*}; parent=\${parent:-/}; shift 3; umask 077
tell() { printf '%s\\0' "$@"; }
step() { o=$("$@" 2>&1); c=$?; tell "$c" "$o"; return $c; }
q() { sqlite3 -batch -init /dev/null -list -cmd ".timeout $busy" "$@"; }
look() {
  if [ ! -e "$real" ]; then
    case $(stat -- "$real" 2>&1) in *'ermission denied'*) echo denied ;; *) echo missing ;; esac
  elif [ ! -f "$real" ]; then echo other
  elif [ ! -r "$real" ]; then echo closed
  elif [ -s "$real" ] && [ "$(head -c 15 -- "$real")" != 'SQLite format 3' ]; then echo alien
  else echo open; fi
}
bytes() { n=0; for f in "$real" "$real-wal"; do s=$(stat -c %s -- "$f" 2>/dev/null) && n=$((n+s)); done; echo $n; }
place() {
  for f in "$parent" ${temporaryRoot}; do
    k=$(df -P -k -- "$f" 2>/dev/null | tail -n 1 | awk '{ print $4 }')
    if [ -w "$f" ] && [ -x "$f" ] && [ "$k" -ge "$1" ] 2>/dev/null; then printf '%s' "$f"; return; fi
  done; return 1
}
keep() {
  echo $$ >"$1/keeper"
  setsid sh -c 'n=0; while [ $n -lt "$2" ] && [ -d "$1" ]; do
    sleep 1; n=$((n+1)); kill -0 "$(cat "$1/keeper")" && n=0
  done; rm -rf -- "$1"' sh "$1" "$kept" </dev/null >/dev/null 2>&1 &
}
discard() { for n; do rm -rf -- "$parent/$n" "${temporaryRoot}/$n"; done; }
`;

const needsTool = `command -v sqlite3 >/dev/null || { tell none; exit 0; }
tell found
`;

/** Shell script: lists our folders; those for restores are only beside the database. `$1` is the ending of their names. */
export const listFolders = `for f in "$parent"/.quarterdeck-*-"$1" ${temporaryRoot}/.quarterdeck-d*-"$1"; do
  [ ! -e "$f" ] || printf '%s\\n' "\${f##*/}"
done`;

/** How long a failed run may take for the cleanup. What is left is removed at the next contact. */
const clearMs = 5000;

/** Removes our folders, if the machine can be reached. */
export async function clear(target: TargetFile, names: readonly string[]): Promise<void> {
  const signal = AbortSignal.timeout(clearMs);
  await run(target, 'discard "$@"', names, { signal }).catch(() => undefined);
}

/** A database on a machine, and how to work with it. */
export type Target = {
  /** The machine, as the account. */
  host: Host;
  /** Name of the database, for people. */
  name: string;
  /** Absolute path of the database; may be a link. */
  path: string;
  busyMs: number;
  /** The only tables that a restore replaces; null = everything. */
  tables?: readonly string[] | null;
  /** How long a copy that is not in use is kept. */
  keptSeconds: number;
};

type TargetFile = Omit<Target, "name">;

const uses = ["dump", "drill", "restore"] as const;
type Use = (typeof uses)[number];

/** Returns the name of our folder, beside a database or in `temporaryRoot`, for one use of one backup of one database. */
export const folderName = (use: Use, id: number, path: string): string =>
  `.quarterdeck-${use}-${id}-${markOf(path)}`;

/** Returns the ending of the names of our folders for a database. */
export const markOf = (path: string): string =>
  createHash("sha256").update(path).digest("hex").slice(0, 12);

/** Parses the name of a folder; null where it is not ours. */
export function readFolderName(name: string): { use: Use; id: number } | null {
  const [, named, id] = /^\.quarterdeck-([a-z]+)-(\d+)-/.exec(name) ?? [];
  const use = uses.find((one) => one === named);
  return use === undefined ? null : { use, id: Number(id) };
}

/** Reads the output of a script piece by piece. @throws SourceError where the output ends early */
export type Told = {
  word(): string;
  /** Result of a command that `step` ran. */
  step(): Step;
};

export type Step = { exitCode: number; text: string };

type AskOptions = { input?: Readable; signal?: AbortSignal };

/**
 * Runs a script after the prelude, whose functions it may use.
 * @param args the script's `$1` and so on
 * @throws SourceError where the machine has no `sqlite3`, the error of the input, ServerAway, or the signal's reason
 */
export async function ask(
  target: TargetFile,
  script: string,
  args: readonly string[],
  options: AskOptions = {},
): Promise<Told> {
  const { words, problem } = await run(target, `${needsTool}${script}`, args, options);
  const word = () => {
    const next = words.shift();
    if (next === undefined) throw new SourceError(`${target.path}: ${problem}`);
    return next;
  };
  if (word() === "none") throw toolMissing();
  return { word, step: () => ({ exitCode: Number(word()), text: word() }) };
}

async function run(
  { host, path, busyMs, keptSeconds }: TargetFile,
  script: string,
  args: readonly string[],
  { input, signal }: AskOptions,
): Promise<{ words: string[]; problem: string }> {
  const pieces: Buffer[] = [];
  const given = [String(busyMs), path, String(keptSeconds)];
  const end = await host.run({
    argv: ["sh", "-c", `${prelude}${script}`, "sh", ...given, ...args],
    ...(input !== undefined && { input }),
    ...(signal !== undefined && { signal }),
    isSmall: input === undefined,
    // Names of tables may be more than the limit of a kept output.
    take: async (piece) => void pieces.push(Buffer.from(piece)),
  });
  return {
    words: Buffer.concat(pieces).toString().split("\0").slice(0, -1),
    problem: `a step on its server ${endInWords(end)} ${end.stderr.trim()}`.trim(),
  };
}

const toolMissing = () =>
  new SourceError(
    "sqlite3 is needed to back up and restore SQLite databases, and the server has none. Install it (Debian: apt-get install sqlite3).",
  );

/** Result codes by message, because the exit code is SQLite's result code only for statements, not for the tool's own commands. */
const resultCodes: readonly (readonly [RegExp, number])[] = [
  [/\b(?:locked|busy)\b/i, 5],
  [/readonly database/i, 8],
  [/malformed/i, 11],
  [/disk is full|No space left|quota exceeded/i, 13],
  [/unable to open|cannot open/i, 14],
  [/not a database/i, 26],
];

/** @throws SourceError where the step failed */
export function refuseFailure(path: string, { exitCode, text }: Step): void {
  if (exitCode !== 0) throw stepError(path, { exitCode, text });
}

export function stepError(path: string, { exitCode, text }: Step): SourceError {
  const ended = `sqlite3 ${endInWords({ exitCode, signal: null })}`.replace(/\.$/, "");
  // The text is only what the shell says of it.
  if (isKilled({ exitCode, signal: null })) return sqliteError(path, ended, 0);
  const lines = text.trim().split("\n");
  const line = lines.find((one) => /error|unable/i.test(one)) ?? lines.at(-1) ?? "";
  const words = line
    .replace(/^(?:(?:Parse|Runtime) )?error:? ?(?:near line \d+: ?)?(?:in prepare, ?)?/i, "")
    .replace(/ \(\d+\)$/, "")
    .replace(/\.$/, "");
  // Without quoted names, which may contain anything.
  const own = words.replace(/"[^"]*"/g, "");
  const code = resultCodes.find(([pattern]) => pattern.test(own))?.[1] ?? 0;
  return sqliteError(path, words === "" ? ended : words, code);
}
