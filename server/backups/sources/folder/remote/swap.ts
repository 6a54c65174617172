// The steps of a swap on another machine, with the same names and decisions as here, by commands of the site's account. Each step is
// one command, so that a broken connection leaves what a kill at that moment would leave.
import { createHash } from "node:crypto";
import { posix } from "node:path";
import type { Host } from "../../../../hosts/host.ts";
import { flushToDisk, type Outcome } from "../swap-steps.ts";
import { pathOf, tidying, type Place } from "../place.ts";
import type { Swap } from "../swap.ts";
import { SourceError } from "../../source.ts";
import { whyNotSwappable } from "./place.ts";
import { runScript } from "./script.ts";
import { toError } from "../../../../to-error.ts";

const there = 'there() { [ -e "$1" ] || [ -L "$1" ]; }';

/** `mv -T` renames, and never moves into an existing folder. */
const commit = `${there}; parent=$1 root=$2 new=$3 ready=$4 old=$5
mv -T -- "$new" "$ready" && sync -- "$parent" || exit 1
if there "$root"; then mv -T -- "$root" "$old" && echo aside || exit 1; fi
mv -T -- "$ready" "$root" && sync -- "$parent"`;

const settle = `${there}; parent=$1 root=$2 new=$3 ready=$4 old=$5
if there "$new"; then echo "left new"; fi
if ! there "$old"; then
  if there "$ready"; then echo "left ready"; echo "as it was"
  elif there "$new"; then echo "as it was"
  else echo unknown; fi
  exit 0
elif there "$ready"; then
  if there "$root" && ! rmdir -- "$root"; then echo occupied; exit 0; fi
  if mv -T -- "$ready" "$root"; then echo "left old"; echo restored
  else mv -T -- "$old" "$root" && echo "left ready" && echo "as it was" || exit 1; fi
elif ! there "$root"; then mv -T -- "$old" "$root" && echo "as it was" || exit 1
else echo "left old"; echo restored; fi
sync -- "$parent"`;

/** Repeated, because a folder may be closed to its owner, and an interrupted tar may still write there. */
const remove = `${there}; for pause in 0 0.1 0.5; do
  sleep $pause; rm -rf --one-file-system -- "$1"; there "$1" || exit 0; chmod -R u+rwX -- "$1"
done; exit 1`;

export function swapThere(host: Host, place: Place): Swap {
  const paths = [
    place.parent,
    ...[place.root, place.fresh, place.ready, place.old].map((name) => pathOf(place, name)),
  ];
  const refuseImpossible = async (signal: AbortSignal) => {
    const reason = await whyNotSwappable(host, place, signal);
    if (reason !== null) throw new SourceError(`Nothing was changed: ${reason}.`);
  };
  const nameOf: Record<string, string> = { new: place.fresh, ready: place.ready, old: place.old };
  return {
    place,

    async begin(signal) {
      await refuseImpossible(signal);
      // See makeFresh.
      const script = 'mkdir -m 700 -- "$1" && chmod g-s -- "$1"';
      await runScript(host, script, [pathOf(place, place.fresh)], signal);
    },

    flush: () => flushToDisk(host, place.parent),

    async commit() {
      await refuseImpossible(tidying());
      const { exitCode, stdout, stderr } = await host.run({
        argv: ["sh", "-c", commit, "sh", ...paths],
        signal: tidying(),
      });
      const problem = `${pathOf(place, place.root)} was not replaced: ${stderr.trim()}`;
      return { isAside: stdout.includes("aside"), problem: exitCode === 0 ? null : problem };
    },

    async settle(signal): Promise<Outcome> {
      const lines = (await runScript(host, settle, paths, signal)).trimEnd().split("\n");
      const left = lines.flatMap((line) => nameOf[line.replace(/^left /, "")] ?? []);
      const state = lines.at(-1);
      if (state === "as it was" || state === "restored" || state === "unknown")
        return { state, left, problem: null };
      const shown = pathOf(place, place.root);
      return {
        state: "unknown",
        left,
        problem: `${shown} was created again while a restore was interrupted. The restored folder is ${pathOf(place, place.ready)}, the one before it ${pathOf(place, place.old)}: move the right one to ${shown} and remove the others.`,
      };
    },

    remove: (name, signal) => removeThere(host, pathOf(place, name), signal),
  };
}

/** @returns why the folder could not be removed, or null */
export async function removeThere(
  host: Host,
  folder: string,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    await runScript(host, remove, [folder], signal);
    return null;
  } catch (error) {
    return signal.aborted ? "it took too long" : (toError(error).message.split("\n")[0] ?? "");
  }
}

/** Shell script: `$1` is the parent of the folder. */
export const listRestores = `cd -- "$1" || exit 0
for found in .*.quarterdeck-*; do [ ! -e "$found" ] || printf '%s/' "$found"; done`;

/**
 * Returns the ids of interrupted restores that could not be cleaned up at the time.
 * @param found output of `listRestores`
 */
export function leftRestores(place: Place, found: string): number[] {
  const names = found.split("/");
  const start = place.fresh.replace(/new-\d+$/, "");
  return [
    ...new Set(
      names.flatMap((name) => {
        const rest = name.startsWith(start) ? name.slice(start.length) : "";
        const id = /^(?:new|ready|old)-(\d+)$/.exec(rest)?.[1];
        return id === undefined ? [] : [Number(id)];
      }),
    ),
  ];
}

/** Parent of the scratch folders of drills: on a disk, unlike /tmp on some systems. */
export const drillRoot = "/var/tmp";
/** @param root of the site, to distinguish the drills of two services on one machine */
export const drillName = (id: number, root: string): string =>
  posix.join(
    drillRoot,
    `quarterdeck-drill-${id}-${createHash("sha256").update(root).digest("hex").slice(0, 12)}`,
  );
