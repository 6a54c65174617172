// Restores a checked copy into a live SQLite database of another machine by the online backup of its own `sqlite3`; where there is no
// valid database, by a rename. Each step is one command, so that a broken connection leaves what a kill would leave.
import type { Readable } from "node:stream";
import { ServerAway } from "../../../../ssh/server-away.ts";
import { tidying } from "../../folder/place.ts";
import { SourceError, type Attempt, type FileOwner } from "../../source.ts";
import { isUnsound } from "../failures.ts";
import { copyName } from "./check.ts";
import { receiveThere } from "./receive.ts";
import { clearRestore, enter, renameNote, settleThere } from "./settle.ts";
import { ask, folderName, refuseFailure, type Target, type Told } from "./shell.ts";
import { refuseState } from "./survey.ts";
import { placeTablesThere } from "./restore-tables.ts";

/** Shell script: waits for writers. A database that cannot be written to fails here, before anything is changed. */
const lookAtLive = `tell "$(look)"; [ -e "$real" ] || exit 0
step q "$real" 'begin immediate' rollback 'pragma journal_mode' 'pragma page_size' 'pragma schema_version'`;

/**
 * Shell script: restores by the online backup. A database in WAL mode cannot change its page size, but the restored file can. Unlike a
 * plain vacuum, `vacuum into` keeps the rowids of tables without an integer primary key.
 */
const placeInto = `${enter}fit() {
  [ "$(q -readonly ${copyName} 'pragma page_size')" != "$1" ] || return 0
  rm -f -- fitted && q ${copyName} "pragma page_size = $1" "vacuum into 'fitted'" || return 1
  rm -f -- ${copyName}-wal ${copyName}-shm; mv -- fitted ${copyName}
}
if [ "$2" = wal ]; then step fit "$3" || exit 0; else tell 0 ""; fi
step note "$4" || exit 0
step q "$real" '.restore ${copyName}' || exit 0
leave "$1"`;

/**
 * Shell script: renames the copy over the database, with the mode and owner of the file that it replaces or, where there is none, of
 * the backed-up file or the folder. Old journals are removed before the rename: otherwise a crash between the two would leave the new
 * file with a journal of another database.
 */
const takePlace = `${enter}m=$2 u=$3 g=$4; t=$real
[ -e "$t" ] && set -- "$1" $(stat -c '%a %u %g' -- "$t") || set -- "$1" \${m:-640} \${u:-$(stat -c %u -- "$parent")} \${g:-$(stat -c %g -- "$parent")}
m=$2; case $m in ????) m=\${m#?} ;; esac
if chown -- "$3:$4" ${copyName} 2>/dev/null; then tell given; else tell kept; chgrp -- "$4" ${copyName} 2>/dev/null; fi
replace() {
  chmod -- "$m" ${copyName} && rm -f -- ${copyName}-* "$t-journal" "$t-wal" "$t-shm" &&
  note ${renameNote} && mv -T -- ${copyName} "$t" && sync -- "$parent"
}
step replace || exit 0
leave "$1"`;

/** @throws SourceError, the error of `from`, ServerAway, or an abort; the database is then unchanged, or settled later */
export async function restoreThere(
  target: Target,
  from: Readable,
  attempt: Attempt,
  known: FileOwner | null,
): Promise<void> {
  const { path } = target;
  const { id, say, signal } = attempt;
  const folder = folderName("restore", id, path);
  try {
    const receive = { folder, where: "beside", more: lookAtLive, signal } as const;
    const { told } = await receiveThere(target, from, receive);
    const live = readLive(target, told);
    signal.throwIfAborted();
    // From here on without the signal: after an abort, it would be unknown whether the step was done.
    if (target.tables != null) {
      if (live === null) refuseState("missing", target);
      await placeTablesThere(target, { folder, tables: target.tables }, signal);
    } else if (live === null || live === "unsound") {
      await putInPlace(target, folder, known, say);
      if (live === "unsound")
        say(`${path} was no sound database and was replaced. Restart what had it open.`);
    } else {
      const { journalMode, pageBytes, schemaVersion } = live;
      const args = [folder, journalMode, pageBytes, schemaVersion];
      const { step } = await ask(target, placeInto, args);
      for (let count = 0; count < 3; count += 1) refuseFailure(path, step());
    }
  } catch (error) {
    if (!(error instanceof ServerAway)) {
      await clearRestore(target, id, "as it was", tidying()).catch(tellTrouble(say));
      throw error;
    }
    // The response to the last command was lost.
    const tidy = { id, say, signal: tidying() };
    const state = await settleThere(target, tidy).catch(tellTrouble(say));
    if (state === "as it was") say("Nothing was changed.");
    if (state === "unknown") say("The data is either unchanged or fully restored.");
    if (state !== "restored") throw error;
    say(`The backup is restored, with a problem: ${error.message}`);
  }
}

const tellTrouble = (say: Attempt["say"]) => (error: Error) => say(error.message);

type Live = { journalMode: string; pageBytes: string; schemaVersion: string };

/** @returns null where the database does not exist */
function readLive(target: Target, { word, step }: Told): Live | "unsound" | null {
  const state = word();
  if (state === "missing") return null;
  try {
    refuseState(state, target);
    const found = step();
    refuseFailure(target.path, found);
    const [journalMode = "", pageBytes = "", schemaVersion = ""] = found.text.split("\n");
    return { journalMode, pageBytes, schemaVersion };
  } catch (error) {
    if (isUnsound(error)) return "unsound";
    throw error;
  }
}

async function putInPlace(
  target: Target,
  folder: string,
  known: FileOwner | null,
  say: Attempt["say"],
): Promise<void> {
  const owner = known === null ? ["", "", ""] : [known.mode.toString(8), known.uid, known.gid];
  const { word, step } = await ask(target, takePlace, [folder, ...owner.map(String)]);
  const given = word();
  const { exitCode, text } = step();
  if (exitCode !== 0) throw new SourceError(`${target.path} was not replaced: ${text.trim()}`);
  if (given === "kept")
    say(`${target.path} could not be given back to its owner: the account may not do that.`);
}
