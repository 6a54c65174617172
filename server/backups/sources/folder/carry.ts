// What a backup has left out survives its restore: it is linked from the folder that is there into the restored one before
// that takes its place, and once more afterwards, for what was made in between. Links, because a kill at any moment then
// leaves both folders as they should be, and hardly a byte is copied.
import { PassThrough } from "node:stream";
import type { LocalHost } from "../../../hosts/host.ts";
import { tidying } from "./place.ts";
import { listExcluded } from "./names.ts";
import { tarEnvironment } from "./tar.ts";
import { companionEnds } from "../sqlite/header.ts";
import { SourceError, type Attempt, type Excludes } from "../source.ts";
import { toError } from "../../../to-error.ts";

/** Carries over from one folder into another. @throws SourceError for what cannot be */
export type Carry = (from: string, to: string, signal: AbortSignal) => Promise<void>;

/**
 * For a shell: `$1` and `$2` are the folders, `$3` the name in both. Folders above it that the archive lacks are made like
 * those that are there. Links in the restored folder are not followed, since they may lead out of it. What is there already
 * stays, and of folders each entry that is not. What the account may not link, because it is somebody else's, is copied.
 *
 * The log of a SQLite database goes where its database goes, whatever it is named by: one from now beside a database from
 * then would destroy that, and a database without its log has lost its last changes.
 */
const carryOne = `set -f; e=; IFS=/; p=$2; q=$1; n=$3; t=$2/$n; f=$1/$n
refuse() { printf '%s\\n' "$1" >&2; exit 255; }
for c in \${n%/*}; do
  [ "$c" != . ] || continue
  p=$p/$c; q=$q/$c
  [ ! -L "$p" ] || refuse "$n: a folder above it is a link in the backup"
  [ -d "$p" ] && continue
  [ ! -e "$p" ] || refuse "$n: a folder above it is a file in the backup"
  mkdir -m 700 -- "$p" || exit 255
  chown --reference="$q" -- "$p" 2>/dev/null; chmod --reference="$q" -- "$p"; touch -r "$q" -- "$p"
done
unset IFS
folder() { [ -d "$1" ] && [ ! -L "$1" ]; }
sqlite() { [ -f "$1" ] && [ "$(head -c 15 -- "$1" 2>/dev/null)" = 'SQLite format 3' ]; }
for l in ${companionEnds.join(" ")}; do
  case $n in *"$l") ! sqlite "\${f%"$l"}" || exit 0;; esac
done
copy() { cp -a -n -T "$@" 2>&1 | grep -v -e ': No such file or directory$' -e 'behavior of -n'; }
carry() {
  if [ -e "$2" ] || [ -L "$2" ]; then folder "$2" && folder "$1" || return 0; fi
  e=$(copy -l -- "$1" "$2"); [ -z "$e" ] || e=$(copy -- "$1" "$2")
}
m=$(stat -c %a -- "$p"); s=$(stat -c %.9Y -- "$p"); chmod u+rwx -- "$p"
[ -e "$t" ] && h=1 || h=
carry "$f" "$t"
if [ -z "$e" ] && sqlite "$f" && { [ -z "$h" ] || [ "$f" -ef "$t" ]; }; then
  for l in ${companionEnds.join(" ")}; do [ -n "$e" ] || [ ! -f "$f$l" ] || carry "$f$l" "$t$l"; done
fi
touch -d "@$s" -- "$p"; chmod "$m" -- "$p"
[ -z "$e" ] || refuse "$e"`;

/** The arguments of a program that reads names, a NUL behind each. */
export const carryArguments = (from: string, to: string) =>
  ["xargs", "-0", "-r", "-n", "1", "sh", "-c", carryOne, "sh", from, to] as const;

/** @throws SourceError */
export function refuseUncarried(exitCode: number | null, stderr: string): void {
  if (exitCode === 0) return;
  const isReason = (line: string) => line !== "" && !line.startsWith("xargs: ");
  const reason = stderr.split("\n").find(isReason) ?? "xargs was ended";
  throw new SourceError(
    `Nothing was changed: a file that the backup leaves out can't be kept: ${reason}.`,
  );
}

export const carryHere =
  (host: LocalHost, excludes: Excludes): Carry =>
  async (from, to, signal) => {
    const names = new PassThrough();
    // Told by the run that reads them.
    names.on("error", () => undefined);
    host.perform(listExcluded, { root: from, excludes }, { output: names, signal }).then(
      () => names.end(),
      (error: Error) => names.destroy(error),
    );
    const { exitCode, stderr } = await host.run({
      argv: carryArguments(from, to),
      environment: tarEnvironment,
      input: names,
      signal,
    });
    refuseUncarried(exitCode, stderr);
  };

/** For what was made between the first time and the swap: trouble with it undoes no restore. */
export async function carryRest(
  carry: Carry | null,
  from: string,
  to: string,
  { say }: Attempt,
): Promise<void> {
  await carry?.(from, to, tidying()).catch((error: unknown) =>
    say(`Not all that was made during the restore was kept: ${toError(error).message}`),
  );
}
