// Copies and checks the SQLite databases inside a site's folder on another machine, by its own `sqlite3`. Copies are in `/var/tmp`,
// because files in the folder would be archived.
import { posix } from "node:path";
import type { Host } from "../../../../hosts/host.ts";
import { shown, tellDatabases, type FoundDatabases, type Snapshot } from "../databases.ts";
import type { Attempt } from "../../source.ts";
import { textsOf } from "../../sqlite/check-queries.ts";
import { isNotUsable, sqliteError } from "../../sqlite/failures.ts";
import { logEnds, smallestDatabaseBytes } from "../../sqlite/header.ts";
import {
  check,
  checkArguments,
  copyName,
  lacksSomething,
  readCheck,
} from "../../sqlite/remote/check.ts";
import { send } from "../../sqlite/remote/dump.ts";
import {
  ask,
  clear,
  folderName,
  refuseFailure,
  temporaryRoot,
  type Target,
} from "../../sqlite/remote/shell.ts";
import { refuseWithoutRoom } from "../../sqlite/remote/survey.ts";
import { toError } from "../../../../to-error.ts";

const limits = { busyMs: 20_000, keptSeconds: 300 };

/**
 * Shell script: lists the databases in the folder `$1`, one per line. Pages have 512 bytes or a multiple, so that most files need not
 * be read. A file with several names is listed once, one with a line break in its path never.
 */
export const listDatabases = `find "$1" -type f -size +0 ! -path '*
*' -printf '%s %D:%i %p\\n' 2>/dev/null |
  awk '$1 % ${smallestDatabaseBytes} == 0 && !seen[$2]++ { sub(/^[0-9]+ [0-9:]+ /, ""); print }' |
  tr '\\n' '\\0' | xargs -0 -r sh -c 'head -v -c 15 -- "$@"; echo' sh 2>/dev/null |
  grep -a -x -B 1 'SQLite format 3' | sed -n 's/^==> \\(.*\\) <==$/\\1/p'`;

/** Shell command that succeeds where the machine has sqlite3. */
export const lookForSqlite = "command -v sqlite3 >/dev/null";

const makeCopy = `${check}s=$(look); tell "$s"; [ "$s" = open ] || exit 0
b=$(bytes); tell "$b"
k=$(df -P -k -- ${temporaryRoot} | tail -n 1 | awk '{ print $4 }')
[ "$k" -gt $((b / 1024 + 1)) ] && tell yes || { tell no; exit 0; }
d=${temporaryRoot}/$1; rm -rf -- "$d"; step mkdir -m 700 -- "$d" || exit 0
cd -- "$d" && keep "$d" || exit 1
step q -readonly "$real" begin 'select count(*) from sqlite_master' '.backup ${copyName}' || { rm -rf -- "$d"; exit 0; }
check "$2" "$3"
tell "$(stat -c %s ${copyName})"`;

const probe = `s=$(look); [ -s "$real" ] || s=empty; tell "$s"; [ "$s" = open ] || exit 0
step q -readonly "$real" 'select count(*) from sqlite_master'`;

const lookForLog = `${logEnds.map((end) => `[ -s "$real${end}" ]`).join(" || ")} && tell yes || tell no`;

/** @returns null where the path is not UTF-8, so that it cannot be passed to a shell */
const textOf = (name: string): string | null => {
  const bytes = Buffer.from(name, "latin1");
  return Buffer.from(bytes.toString()).equals(bytes) ? bytes.toString() : null;
};

/** @param say called for each database, with a line for the operator */
export function createSiteDatabasesThere(
  host: Host,
  root: string,
  { id, signal }: Attempt,
  say: (line: string) => void,
): FoundDatabases {
  const folder = folderName("dump", id, root);
  const targetOf = (path: string, name: string): Target => ({ ...limits, host, name, path });
  const clearThere = () => clear(targetOf(root, ""), [folder]);

  async function copyThere(target: Target): Promise<Snapshot> {
    const { name } = target;
    const { word, step } = await ask(target, makeCopy, [folder, ...checkArguments], { signal });
    // The file may have vanished, or become something else.
    if (word() !== "open") throw sqliteError(name, "unable to open database file", 14);
    const sizeBytes = Number(word());
    refuseWithoutRoom(word() === "yes", sizeBytes, target);
    refuseFailure(name, step());
    refuseFailure(name, step());
    const steps = [step(), step(), step()] as const;
    const copied = { sizeBytes: Number(word()) };
    const at = posix.join(temporaryRoot, folder);
    try {
      const { notes } = await readCheck(target, steps, { folder: at, shown: name, signal });
      return { ...copied, problem: null, notes: textsOf(notes) };
    } catch (error) {
      signal.throwIfAborted();
      if (toError(error).name !== "SourceError") throw error;
      return { ...copied, problem: toError(error).message, notes: [] };
    }
  }

  return tellDatabases(
    {
      async isDatabase(name) {
        const text = textOf(name);
        if (text === null) return false;
        const path = posix.join(root, text);
        const { word, step } = await ask(targetOf(path, shown(name)), probe, [], { signal });
        return word() === "open" && step().exitCode === 0;
      },
      async hasLog(name) {
        const text = textOf(name);
        if (text === null) return false;
        const path = posix.join(root, text);
        const { word } = await ask(targetOf(path, shown(name)), lookForLog, [], { signal });
        return word() === "yes";
      },
      async snapshot(name) {
        const text = textOf(name);
        if (text === null) return "its name is not UTF-8.";
        try {
          return await copyThere(targetOf(posix.join(root, text), shown(name)));
        } catch (error) {
          if (isNotUsable(error)) return toError(error).message;
          throw error;
        }
      },
      async send(take) {
        const at = posix.join(temporaryRoot, folder);
        const { exitCode, stderr } = await host.run({
          argv: ["sh", "-c", send, "sh", at, "cat"],
          take,
          signal,
        });
        // Truncation is detected by the size.
        if (exitCode !== 0) say(stderr.trim());
      },
      clear: clearThere,
    },
    say,
  );
}

const checkThere = `step q -readonly "$real" 'pragma integrity_check'`;

/** @returns the problem of a restored database; null = it is sound */
export async function findProblemThere(
  host: Host,
  path: string,
  signal: AbortSignal,
): Promise<string | null> {
  const { step } = await ask({ ...limits, host, path }, checkThere, [], { signal });
  const { exitCode, text } = step();
  if (exitCode === 0 && text.trim() === "ok") return null;
  // As on the service's own machine: the database needs something that an application defines.
  if (lacksSomething({ exitCode, text })) return null;
  return text.trim().split("\n")[0] ?? "";
}
