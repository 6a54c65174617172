// Scripts of a storage over SSH, for a POSIX shell and standard tools. No single script both writes an object's bytes and gives
// it its name, so that a script that outlives a lost connection cannot make an object appear.
import { markerName } from "./marker.ts";
import { partial } from "./object-key.ts";

/** Exit codes with a special meaning; for all others the last line of the error stream is the reason. */
export const exits = { gone: 70, there: 71, outside: 72, unmarked: 73, closed: 74, noFolder: 75 };

/** Marker lines on the error stream, which no tool writes. */
export const openedLine = "quarterdeck opened";
export const unreadLine = "quarterdeck unread";
/** How a file was read back: `fromDisk` = with direct I/O, otherwise with ordinary reads. */
export const fromDisk = "disk";

/** `$1` is the storage's folder. All further paths are relative to its real path. */
const enter = `umask 077
ls -d -- "$1" >/dev/null || exit 1
[ -d "$1" ] || exit ${exits.noFolder}
cd -P -- "$1" || exit ${exits.closed}
r=$PWD`;

/** `$2` is `marked` where the folder must have a marker file. */
const enterMarked = `${enter}
[ "$2" != marked ] || [ -e ./${markerName} ] || exit ${exits.unmarked}
n=$3; shift 3`;

/**
 * Enters the folders above an object, and refuses to leave the storage.
 * @param missing commands to run where a folder does not exist
 */
const walk = (missing: string): string => `${enterMarked}
for p do
  [ -e "./$p" ] || [ -L "./$p" ] || { ${missing}; }
  cd -P -- "./$p" || exit ${exits.closed}
  case $PWD/ in "\${r%/}"/*) ;; *) echo "$p"; exit ${exits.outside} ;; esac
done`;

const walkThere = walk(`exit ${exits.gone}`);
/** Creates missing folders; each new folder is synced into its parent. */
const walkMaking = walk('{ mkdir -m 700 -- "./$p" || [ -d "./$p" ]; } && sync . || exit 1');

const notThere = `[ ! -e "./$n" ] && [ ! -L "./$n" ] || exit ${exits.there}`;
const isThere = `[ -e "./$n" ] || exit ${exits.gone}`;
const part = partial("./$n");

const writePart = `rm -f -- "${part}"
set -C
exec 3>"${part}" || exit 1
dd bs=1M conv=fsync status=none >&3 || { rm -f -- "${part}"; exit 1; }`;

/** Removes empty folders upwards, but never the storage's own. */
const leave = `while [ "$PWD" != "$r" ]; do
  d=$PWD; cd -P .. && rmdir -- "$d" 2>/dev/null || exit 0
done`;

/**
 * Arguments of all scripts but `isMarked` and `mark`: the storage's folder, `marked` or an empty word, the object's name, and the
 * folders above it.
 */
export const scripts = {
  /** Stores the input durably under the partial name, replacing a file of the same name that was left. */
  write: `${walkMaking}
${notThere}
${writePart}`,

  /** Like `write`, where an object of the final name may exist. */
  writeAnew: `${walkMaking}
${writePart}`,

  /** Renames the partial file to its final name. */
  name: `${walkThere}
${notThere}
mv -- "${part}" "./$n" && sync . && stat -L -c %s -- "./$n"`,

  /** Like `name`, replacing an existing object. */
  nameAnew: `${walkThere}
mv -f -- "${part}" "./$n" && sync .`,

  discard: `${walkThere}
rm -f -- "${part}" || exit 1
${leave}`,

  remove: `${walkThere}
rm -f -- "./$n" "${part}" || exit 1
${leave}`,

  size: `${walkThere}
${isThere}
stat -L -c %s -- "./$n"`,

  read: `${walkThere}
${isThere}
exec 3<"./$n" || exit 1
echo ${openedLine} >&2
exec cat <&3`,

  /** Reads a file with direct I/O, bypassing the page cache, where the file system supports it, and prints its SHA-256. */
  readBack: `${walkThere}
${isThere}
f=iflag=direct
dd if="./$n" of=/dev/null $f bs=1M count=1 2>/dev/null || f=
case $f$(stat -f -c :%t "./$n") in
:* | *:1021994 | *:858458f6) echo ;;
*) echo ${fromDisk} ;;
esac
{ dd if="./$n" bs=1M status=none $f || echo ${unreadLine} >&2; } | sha256sum`,

  /** Prints size and path of each file, without following links. Files that disappear meanwhile are not an error. */
  list: `${enterMarked}
echo ${openedLine} >&2
exec find . -ignore_readdir_race -type f -printf '%s %P\\0'`,

  free: `${enterMarked}
stat -f -c '%a %S' .`,

  isMarked: `${enter}
[ ! -e ./${markerName} ] || echo marked`,

  /** `$2` is the content of the marker file. */
  mark: `${enter}
printf %s "$2" >./${markerName} && sync ./${markerName} && sync .`,
} as const;
