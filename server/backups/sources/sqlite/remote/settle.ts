// Finishes or undoes a restore of a SQLite database on another machine that was cut off, and tells how far it had come.
import type { Attempt } from "../../source.ts";
import { isUnsound } from "../failures.ts";
import { lockChunkAt, lockPageBytes, ownOfEach, type PlaceState } from "../place.ts";
import { copyName } from "./check.ts";
import { ask, folderName, refuseFailure, type Target } from "./shell.ts";
import { tellTablesThere } from "./read-tables.ts";
import { toError } from "../../../../to-error.ts";

/** What the note of a restore says where the copy takes the database's place by a rename; else it is the schema version before. */
export const renameNote = "rename";

/** Of the shell that brings a copy in, in its folder. */
const runnerName = "runner";

/** Into the folder of a restore, which notes there that it runs, and what it is about to change. */
export const enter = `cd -- "$parent/$1" && echo $$ >${runnerName} || exit 1
note() { printf '%s' "$1" >note && sync -- note; }
leave() { rm -f -- ${copyName} ${copyName}-*; cd / && rm -rf -- "$parent/$1"; }
`;

/**
 * Where only the way there went silent, what was cut off still runs: the process that is noted, if it is the one that has the
 * folder among its arguments. SQLite rolls back what was cut off as soon as somebody opens it; here at once, not at the next
 * visitor.
 */
const lookAtLeft = `discard "$2" "$3"
end() {
  p=$(cat ${runnerName} 2>/dev/null) && tr '\\0' '\\n' <"/proc/$p/cmdline" | grep -qxF -- "$1" || return
  read -r _ _ _ _ g _ <"/proc/$p/stat" && kill -s KILL -- "-$g"
  n=0; while kill -0 "$p" && [ $n -lt 50 ]; do sleep 0.1; n=$((n+1)); done
}
l=nothing; if cd -- "$parent/$1" 2>/dev/null; then l=left; end "$1" 2>/dev/null; fi
if [ "$(look)" = open ]; then step q "$real" 'select count(*) from sqlite_master'; else tell 0 ""; fi
tell "$l"; [ "$l" = left ] || exit 0
[ -e ${copyName} ] && tell file || tell none
[ -e note ] && tell noted "$(cat note)" || tell none ""`;

/** Bytes that each copy sets anew, counted from 1 as `cmp` does. */
const ownBytes = [...ownOfEach, [lockChunkAt, lockChunkAt + lockPageBytes] as const]
  .map(([from, to]) => `$1 > ${from} && $1 <= ${to}`)
  .join(" || ");

/** Compares a copy of what is there with what was to be restored. */
const compare = `cd -- "$parent/$1" || exit 1
step q "$real" 'pragma schema_version' || exit 0
[ "$o" != "$2" ] || { tell same; exit 0; }
tell changed; rm -f -- live
step q -readonly "$real" begin 'select count(*) from sqlite_master' '.backup live' || exit 0
tell "$(cmp -l -- live ${copyName} 2>&1 | awk '${ownBytes} { next } { print; exit }')"`;

/** What goes first decides what is told if this is cut off: without the note, nothing was changed; without the copy, it was restored. */
const clearUp = `cd -- "$parent/$1" 2>/dev/null || exit 0
case $2 in
  'as it was') rm -f -- note ;;
  restored) rm -f -- ${copyName} ;;
  *) [ ! -e note ] || : >note ;;
esac
rm -f -- ${copyName} ${copyName}-*; cd / && rm -rf -- "$parent/$1"`;

/** Removes what copies and drills for the same backup left as well. @throws SourceError, ServerAway, or the signal's reason */
export async function settleThere(target: Target, attempt: Attempt): Promise<PlaceState> {
  const { path } = target;
  const { id, signal } = attempt;
  const folder = folderName("restore", id, path);
  const others = [folderName("dump", id, path), folderName("drill", id, path)];
  const { word, step } = await ask(target, lookAtLeft, [folder, ...others], { signal });
  try {
    refuseFailure(path, step());
  } catch (error) {
    // The restore may have been meant to replace just that.
    if (!isUnsound(error)) throw error;
  }
  let state: PlaceState = "unknown";
  if (word() === "left") {
    const hasFile = word() === "file";
    const note = word() === "noted" ? word() : null;
    state = await tell(target, attempt, { folder, hasFile, note });
    await clearRestore(target, id, state, signal);
  }
  return state;
}

/** Removes what a restore has on the machine. @param state what it came to */
export async function clearRestore(
  target: Target,
  id: number,
  state: PlaceState,
  signal: AbortSignal,
): Promise<void> {
  await ask(target, clearUp, [folderName("restore", id, target.path), state], { signal });
}

type Left = { folder: string; hasFile: boolean; note: string | null };

async function tell(
  target: Target,
  { say, signal }: Attempt,
  { folder, hasFile, note }: Left,
): Promise<PlaceState> {
  if (note === null) return "as it was";
  if (!hasFile) return note === "" ? "unknown" : "restored";
  if (note === renameNote) return "as it was";
  try {
    if (target.tables != null)
      return await tellTablesThere(target, { folder, note, tables: target.tables }, signal);
    const { word, step } = await ask(target, compare, [folder, note], { signal });
    refuseFailure(target.path, step());
    if (word() === "same") return "as it was";
    refuseFailure(target.path, step());
    return word() === "" ? "restored" : "unknown";
  } catch (error) {
    signal.throwIfAborted();
    say(`Whether the restore had ended cannot be told: ${toError(error).message}`);
    return "unknown";
  }
}
