// Resolves where a site's folder is on another machine, and checks whether a restore could swap it.
import { posix } from "node:path";
import { accountName } from "../../../../hosts/account.ts";
import type { Host } from "../../../../hosts/host.ts";
import { mountsIn, namesBeside, type Place } from "../place.ts";
import { runScript } from "./script.ts";

/** Resolves the real path of the folder, whose last part need not exist, e.g. between the two steps of a swap. */
export async function findRealRoot(host: Host, root: string, signal: AbortSignal): Promise<string> {
  // Without the dot, a line break at the end of a name would be lost.
  const shown = await runScript(host, 'readlink -f -- "$1" && printf .', [root], signal);
  return shown.replace(/\n\.$/, "");
}

export async function openPlace(
  host: Host,
  root: string,
  id: number,
  signal: AbortSignal,
): Promise<Place> {
  return placeIn(host, await findRealRoot(host, root, signal), id);
}

/** @param real the real path of the folder */
export function placeIn(host: Host, real: string, id: number): Place {
  const parent = posix.dirname(real);
  return {
    parent,
    reach: parent,
    actor: host.account,
    owner: null,
    ...namesBeside(posix.basename(real), id),
  };
}

/** Shell script: `$1` is the parent, `$2` the folder. */
export const lookAround = `cat /proc/self/mountinfo 2>/dev/null; echo
if [ ! -d "$1" ]; then echo missing; elif [ ! -w "$1" ] || [ ! -x "$1" ]; then echo closed
elif [ -e "$2" ] && [ ! -d "$2" ]; then echo other; else echo open; fi`;

/** @returns why a restore could not swap a folder in; null = it could */
export async function whyNotSwappable(
  host: Host,
  place: Place,
  signal: AbortSignal,
): Promise<string | null> {
  const { parent, root } = place;
  const found = await runScript(host, lookAround, [parent, posix.join(parent, root)], signal);
  return tellWhyNotSwappable(host, place, found);
}

/** @param found output of `lookAround` */
export function tellWhyNotSwappable(host: Host, place: Place, found: string): string | null {
  const { parent, root: name } = place;
  const root = posix.join(parent, name);
  if (name === "") return `${root} is the whole file system`;
  const lines = found.trimEnd().split("\n");
  const answer = lines.pop();
  if (answer === "missing") return `${parent} is not there; make that folder first`;
  if (answer === "closed")
    return `${accountName(host.account)} may not write in ${parent}, where the new folder is swapped in`;
  if (answer === "other") return `${root} is not a folder`;
  const [mounted] = mountsIn(Buffer.from(lines.join("\n")).toString("latin1"), root);
  if (mounted === undefined) return null;
  return mounted === root
    ? `${root} is a mount point and cannot be swapped; back up a folder inside it`
    : `${mounted} is mounted inside ${root}; unmount it for the time of the restore`;
}
