// Backs up a SQLite database of another machine: its own `sqlite3` makes a copy, which is checked and counted. The copy is unlinked
// before it is sent, so that a broken connection leaves nothing behind.
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { endInWords } from "../../../../hosts/end-in-words.ts";
import { toError } from "../../../../to-error.ts";
import { compressCommand } from "../../compress-there.ts";
import { SourceError, type Attempt, type FileOwner, type Manifest } from "../../source.ts";
import { writeTo } from "../../../../write-to.ts";
import { tellCopied } from "../check-queries.ts";
import { check, checkArguments, copyName, readCheck } from "./check.ts";
import { ask, clear, folderName, refuseFailure, type Target } from "./shell.ts";
import { refuseState, refuseWithoutRoom } from "./survey.ts";

/** Copies in one read transaction: otherwise the tool would restart forever with a database that is written to. */
const makeCopy = `${check}s=$(look); tell "$s"; [ "$s" = open ] || exit 0
b=$(bytes); tell "$b"; p=$(place $((b / 1024 + 1))) && tell yes || { tell no; exit 0; }
d=$p/$1; rm -rf -- "$d"; step mkdir -m 700 -- "$d" || exit 0
tell "$d"; cd -- "$d" && keep "$d" || exit 1
step q -readonly "$real" begin 'select count(*) from sqlite_master' '.backup ${copyName}' || exit 0
check "$2" "$3"
tell "$(stat -c '%a %u %g' -- "$real")"`;

/** Shell script: unlinks the copy while it is open, and runs a command with it as input. `$1` is its folder, the rest the command. */
export const send = `cd -- "$1" && exec <${copyName} && cd / && rm -rf -- "$1" || exit 1; shift; exec "$@"`;

/** @throws SourceError, an abort, or the error of `into`; `into` is destroyed then */
export async function dumpThere(
  target: Target,
  isCompressed: boolean,
  into: Writable,
  attempt: Attempt,
): Promise<Manifest> {
  const { host, path } = target;
  const { id, signal } = attempt;
  try {
    const { folder, manifest } = await copyThere(target, attempt);
    const end = await host.run({
      argv: [
        "sh",
        "-c",
        send,
        "sh",
        folder,
        ...(isCompressed ? compressCommand(attempt) : ["cat"]),
      ],
      take: (piece) => writeTo(into, piece),
      signal,
    });
    const said = end.stderr.trim();
    if (end.exitCode !== 0)
      throw new SourceError(
        `The copy of ${path} could not be read to its end: ${said === "" ? `the tool ${endInWords(end)}` : `${said}.`}`,
      );
    into.end();
    await finished(into, { readable: false });
    return manifest;
  } catch (error) {
    // Before the receiver gets the error, and perhaps retries.
    await clear(target, [folderName("dump", id, path)]);
    into.destroy(toError(error));
    throw error;
  }
}

async function copyThere(target: Target, { id, say, signal }: Attempt) {
  const { path } = target;
  const name = folderName("dump", id, path);
  const { word, step } = await ask(target, makeCopy, [name, ...checkArguments], { signal });
  refuseState(word(), target);
  const sizeBytes = Number(word());
  refuseWithoutRoom(word() === "yes", sizeBytes, target);
  refuseFailure(path, step());
  const folder = word();
  refuseFailure(path, step());
  const steps = [step(), step(), step()] as const;
  const { tables, notes } = await readCheck(target, steps, { folder, shown: path, signal });
  say(tellCopied(tables, notes));
  const file = readOwner(word());
  const manifest: Manifest = { kind: "database", tables, ...(file !== null && { file }) };
  return { folder, manifest };
}

/** @param text mode in octal digits, user and group; empty where the file no longer exists */
function readOwner(text: string): FileOwner | null {
  const [, mode, uid, gid] = /^([0-7]+) (\d+) (\d+)$/.exec(text) ?? [];
  return mode === undefined
    ? null
    : { mode: Number.parseInt(mode, 8) & 0o777, uid: Number(uid), gid: Number(gid) };
}
