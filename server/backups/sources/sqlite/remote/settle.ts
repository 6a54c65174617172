// Completes or undoes an interrupted restore of a SQLite database on another machine, and determines the resulting state.
import type { Attempt } from "../../source.ts";
import { isUnsound } from "../failures.ts";
import { lockChunkAt, lockPageBytes, ownOfEach, type PlaceState } from "../place.ts";
import { copyName } from "./check.ts";
import { ask, folderName, refuseFailure, type Target } from "./shell.ts";
import { tellTablesThere } from "./read-tables.ts";
import { toError } from "../../../../to-error.ts";

/** Content of a restore's note where the copy is renamed over the database; otherwise it is the previous schema version. */
export const renameNote = "rename";

/** File with the process id of the shell that restores, in its folder. */
const runnerName = "runner";

/** Shell script: enters the folder of a restore, and records the process there; defines functions for its note and its end. */
export const enter = `cd -- "$parent/$1" && echo $$ >${runnerName} || exit 1
note() { printf '%s' "$1" >note && sync -- note; }
leave() { rm -f -- ${copyName} ${copyName}-*; cd / && rm -rf -- "$parent/$1"; }
`;

/**
 * Shell script: after a broken connection the restore may still run, as the recorded process, if that has the folder among its
 * arguments; it is killed. SQLite rolls back an interrupted transaction when the database is opened, which is done at once.
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

/** Condition for bytes that each copy sets, counted from 1 as by `cmp`. */
const ownBytes = [...ownOfEach, [lockChunkAt, lockChunkAt + lockPageBytes] as const]
  .map(([from, to]) => `$1 > ${from} && $1 <= ${to}`)
  .join(" || ");

/** Shell script: compares a copy of the live database with the restored copy. */
const compare = `cd -- "$parent/$1" || exit 1
step q "$real" 'pragma schema_version' || exit 0
[ "$o" != "$2" ] || { tell same; exit 0; }
tell changed; rm -f -- live
step q -readonly "$real" begin 'select count(*) from sqlite_master' '.backup live' || exit 0
tell "$(cmp -l -- live ${copyName} 2>&1 | awk '${ownBytes} { next } { print; exit }')"`;

/** Shell script: removes the folder. What is removed first keeps the state if this is interrupted: no note = unchanged, no copy = restored. */
const clearUp = `cd -- "$parent/$1" 2>/dev/null || exit 0
case $2 in
  'as it was') rm -f -- note ;;
  restored) rm -f -- ${copyName} ;;
  *) [ ! -e note ] || : >note ;;
esac
rm -f -- ${copyName} ${copyName}-*; cd / && rm -rf -- "$parent/$1"`;

/** Also removes what copies and drills of the same backup left. @throws SourceError, ServerAway, or the signal's reason */
export async function settleThere(target: Target, attempt: Attempt): Promise<PlaceState> {
  const { path } = target;
  const { id, signal } = attempt;
  const folder = folderName("restore", id, path);
  const others = [folderName("dump", id, path), folderName("drill", id, path)];
  const { word, step } = await ask(target, lookAtLeft, [folder, ...others], { signal });
  try {
    refuseFailure(path, step());
  } catch (error) {
    // A damaged database may be what the restore was to replace.
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

/** Removes the files of a restore on the machine. @param state its resulting state */
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
