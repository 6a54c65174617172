// What a storage over SSH has its server do, in the shell and the tools that every server has. No script moves the bytes of
// an object and names it: whatever still runs behind a connection that was cut cannot make one appear.
import { markerName } from "./marker.ts";
import { partial } from "./object-key.ts";

/** Exit codes with a meaning of their own; of all others the last line on the error stream is the reason. */
export const exits = { gone: 70, there: 71, outside: 72, unmarked: 73, closed: 74, noFolder: 75 };

/** Lines on the error stream that no tool writes. */
export const openedLine = "quarterdeck opened";
export const unreadLine = "quarterdeck unread";
/** How a file was read back: from its disk, or as the file system gives it. */
export const fromDisk = "disk";

/** `$1` is the storage's folder. All that follows is relative to where this leads. */
const enter = `umask 077
ls -d -- "$1" >/dev/null || exit 1
[ -d "$1" ] || exit ${exits.noFolder}
cd -P -- "$1" || exit ${exits.closed}
r=$PWD`;

/** `$2` is `marked` where there has to be a marker. */
const enterMarked = `${enter}
[ "$2" != marked ] || [ -e ./${markerName} ] || exit ${exits.unmarked}
n=$3; shift 3`;

/** Goes down the folders above an object, never out of the storage. @param missing what is done where one is not there */
const walk = (missing: string): string => `${enterMarked}
for p do
  [ -e "./$p" ] || [ -L "./$p" ] || { ${missing}; }
  cd -P -- "./$p" || exit ${exits.closed}
  case $PWD/ in "\${r%/}"/*) ;; *) echo "$p"; exit ${exits.outside} ;; esac
done`;

const walkThere = walk(`exit ${exits.gone}`);
/** Each new folder is synced into its parent. */
const walkMaking = walk('{ mkdir -m 700 -- "./$p" || [ -d "./$p" ]; } && sync . || exit 1');

const notThere = `[ ! -e "./$n" ] && [ ! -L "./$n" ] || exit ${exits.there}`;
const isThere = `[ -e "./$n" ] || exit ${exits.gone}`;
const part = partial("./$n");

const writePart = `rm -f -- "${part}"
set -C
exec 3>"${part}" || exit 1
dd bs=1M conv=fsync status=none >&3 || { rm -f -- "${part}"; exit 1; }`;

/** Removes folders that hold nothing any more, up to the storage's own. */
const leave = `while [ "$PWD" != "$r" ]; do
  d=$PWD; cd -P .. && rmdir -- "$d" 2>/dev/null || exit 0
done`;

/** Each gets the storage's folder, `marked` or nothing, the object's name, and the folders above it. */
export const scripts = {
  /** Stores its input under the name of a piece, safe from a power cut. What was left of the same name is replaced. */
  write: `${walkMaking}
${notThere}
${writePart}`,

  /** The same where something may be under the name itself. */
  writeAnew: `${walkMaking}
${writePart}`,

  /** Gives the piece its name. */
  name: `${walkThere}
${notThere}
mv -- "${part}" "./$n" && sync . && stat -L -c %s -- "./$n"`,

  /** The same in place of what has it. */
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

  /** Past the memory in which the system keeps what was written just now, where the file system can do that. */
  readBack: `${walkThere}
${isThere}
f=iflag=direct
dd if="./$n" of=/dev/null $f bs=1M count=1 2>/dev/null || f=
case $f$(stat -f -c :%t "./$n") in
:* | *:1021994 | *:858458f6) echo ;;
*) echo ${fromDisk} ;;
esac
{ dd if="./$n" bs=1M status=none $f || echo ${unreadLine} >&2; } | sha256sum`,

  /** Size and path of each file, links not followed. What goes away meanwhile is no failure. */
  list: `${enterMarked}
echo ${openedLine} >&2
exec find . -ignore_readdir_race -type f -printf '%s %P\\0'`,

  free: `${enterMarked}
stat -f -c '%a %S' .`,

  isMarked: `${enter}
[ ! -e ./${markerName} ] || echo marked`,

  /** `$2` is the marker's text. */
  mark: `${enter}
printf %s "$2" >./${markerName} && sync ./${markerName} && sync .`,
} as const;
