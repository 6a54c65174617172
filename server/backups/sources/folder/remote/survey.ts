// Collects what a run needs to know of a site's folder on another machine, by one command, because each one takes a round trip.
import type { Host } from "../../../../hosts/host.ts";
import { lookForZstd } from "../../compress-there.ts";
import { SourceError } from "../../source.ts";
import { tarMissing } from "../tar.ts";
import { listDatabases, lookForSqlite } from "./databases.ts";
import { lookAround, placeIn, tellWhyNotSwappable } from "./place.ts";
import { runScript } from "./script.ts";
import { leftRestores, listRestores } from "./swap.ts";

export type Survey = {
  state: string;
  /** Null = the machine has no GNU tar. */
  tarVersion: string | null;
  hasGnuFind: boolean;
  hasZstd: boolean;
  hasSqlite: boolean;
  /** Real path of the folder, whose last part need not exist. */
  real: string;
  /** Ids of interrupted restores that could not be cleaned up at the time. */
  leftRestores: number[];
  /** Why a restore could not swap a folder in; null = it could. */
  whyNotSwappable: string | null;
  /** Paths of SQLite databases, at most one more than are shown. */
  databases: string[];
};

export const shownDatabases = 3;

/** `test` reports entries of a closed folder as missing; `ls` distinguishes the two. */
const lookAt = `if [ ! -e "$1" ]; then
  case $(ls -Ld -- "$1" 2>&1) in *": Permission denied") echo closed ;; *) echo missing ;; esac
elif [ ! -d "$1" ]; then echo other
elif [ ! -r "$1" ] || [ ! -x "$1" ]; then echo closed; else echo open; fi`;

/** Without the dot, a line break at the end of a name would be lost. */
const script = `s=$(${lookAt}); printf '%s\\0' "$s"
tar --version; printf '\\0'; find --version | head -n 1; printf '\\0'
${lookForZstd} && echo zstd; printf '\\0'
${lookForSqlite} && echo sqlite3; printf '\\0'
r=$(readlink -f -- "$1" && printf .); r=\${r%??}; p=\${r%/*}; p=\${p:-/}
printf '%s\\0' "$r"
set -- "$p" "$r"
(${listRestores}); printf '\\0'
(${lookAround}); printf '\\0'
if [ "$s" = open ]; then set -- "$r"; ${listDatabases} | head -n ${shownDatabases + 1}; fi`;

/** @param root absolute path; may be a link */
export async function surveyFolder(host: Host, root: string, signal: AbortSignal): Promise<Survey> {
  const sections = (await runScript(host, script, [root], signal)).split("\0");
  const [
    state = "",
    tar = "",
    find = "",
    zstd = "",
    sqlite = "",
    real = "",
    restores = "",
    around = "",
  ] = sections;
  const place = placeIn(host, real, 0);
  return {
    state,
    tarVersion: /^tar \(GNU tar\) (\S+)/m.exec(tar)?.[1] ?? null,
    hasGnuFind: find.includes("GNU findutils"),
    hasZstd: zstd !== "",
    hasSqlite: sqlite !== "",
    real,
    leftRestores: leftRestores(place, restores),
    whyNotSwappable: tellWhyNotSwappable(host, place, around),
    databases: (sections[8] ?? "").split("\n").filter((path) => path !== ""),
  };
}

/** @throws SourceError where the folder cannot be backed up */
export function refuseUnreadable(
  { state, tarVersion, hasGnuFind }: Survey,
  { name, root, account }: { name: string; root: string; account: string },
): void {
  const folder = `The folder of ${name}, ${root},`;
  if (state === "missing")
    throw new SourceError(`${folder} is not there. Correct its path in the inventory, or make it.`);
  if (state === "other") throw new SourceError(`${folder} is not a folder.`);
  if (state === "closed")
    throw new SourceError(
      `${folder} may not be read by ${account}, the site's account. Give it read and enter permission on the folder and those above it, or name another user in the inventory.`,
    );
  if (tarVersion === null) throw tarMissing("the server has none");
  if (!hasGnuFind)
    throw new SourceError(
      "GNU find is needed to back up folders, and the server has none. Install it (Debian: apt-get install findutils).",
    );
}
