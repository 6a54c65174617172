// Keeps what a backup excluded: it is hard-linked from the current folder into the restored one before that is swapped in, and again
// afterwards, for files that were created in between. With links, a kill at any moment leaves both folders intact, and hardly
// anything is copied.
import { PassThrough } from "node:stream";
import type { LocalHost } from "../../../hosts/host.ts";
import { there, tidying } from "./place.ts";
import { listExcluded } from "./names.ts";
import { tarEnvironment } from "./tar.ts";
import { companionEnds } from "../sqlite/header.ts";
import { SourceError, type Attempt, type Excludes } from "../source.ts";
import { toError } from "../../../to-error.ts";

/** Before or after the restored folder is swapped in. */
type Pass = "before" | "after";

/** Links excluded entries from one folder into another. @throws SourceError for an entry that cannot be kept */
export type Carry = (from: string, to: string, pass: Pass, signal: AbortSignal) => Promise<void>;

/** Shell function: whether two entries, neither of them a folder, are the same or equal. */
const same = `same() {
  if [ -L "$1" ] || [ -L "$2" ]; then
    [ -L "$1" ] && [ -L "$2" ] && [ "$(readlink -- "$1"; printf .)" = "$(readlink -- "$2"; printf .)" ]
  elif [ -f "$1" ] && [ -f "$2" ]; then [ "$1" -ef "$2" ] || cmp -s -- "$1" "$2"
  else [ ! -f "$1" ] && [ ! -f "$2" ] && [ ! -d "$1" ] && [ ! -d "$2" ]; fi
}
${there}`;

/** Shell script: prints entries that both folders, `$1` and `$2`, have with different content; `$3`… are the entries of the first one. */
const differing = `${same}
a=$1; b=$2; shift 2
for g do h=$b\${g#"$a"}; ! there "$h" || same "$g" "$h" || printf '%s\\n' "$g"; done`;

/**
 * Shell script: `$1` and `$2` are the folders, `$3` the pass, `$4` the script `differing`, and `$5` the name in both. Parent folders
 * that the archive lacks are created with the attributes of the current ones. Links in the restored folder are not followed, because
 * they may lead out of it. Existing entries stay; of folders, missing entries are added. Files that the account may not link, because
 * another account owns them, are copied.
 *
 * In the pass `before`, an existing entry comes from the archive: the name is excluded today and was not then, a link became a folder,
 * or a folder became a cache. The script fails where it differs, because today's entry would be lost: the safety backup excludes it.
 *
 * The log of a SQLite database is only kept together with its database: today's log beside a restored database would destroy that, and
 * a database without its log has lost its last changes.
 */
const carryOne = `set -f; e=; d=; IFS=/; p=$2; q=$1; n=$5; t=$2/$n; f=$1/$n; from=$1; pass=$3; differing=$4
${same}
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
replaced() { [ "$pass" = after ] || refuse "./\${1#"$from/./"}: the backup has something else there. Move it away first"; }
carry() {
  if folder "$1" && folder "$2"; then
    [ "$pass" = after ] || d=$(find "$1" ! -type d -exec sh -c "$differing" sh "$1" "$2" {} + | head -n 1)
    [ -z "$d" ] || replaced "$d"
  elif there "$1" && there "$2"; then same "$1" "$2" || replaced "$1"; return 0
  fi
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

/** Returns a command that reads names, each ended by a NUL. */
export const carryArguments = (from: string, to: string, pass: Pass) =>
  ["xargs", "-0", "-r", "-n", "1", "sh", "-c", carryOne, "sh", from, to, pass, differing] as const;

/** @throws SourceError */
export function refuseUncarried(exitCode: number | null, stderr: string, pass: Pass): void {
  if (exitCode === 0) return;
  const isReason = (line: string) => line !== "" && !line.startsWith("xargs: ");
  const reason = stderr.split("\n").find(isReason) ?? "xargs was ended";
  throw new SourceError(
    pass === "after"
      ? `${reason}.`
      : `Nothing was changed: a file that the backup leaves out can't be kept: ${reason}.`,
  );
}

export const carryHere =
  (host: LocalHost, excludes: Excludes): Carry =>
  async (from, to, pass, signal) => {
    const names = new PassThrough();
    // The run that reads the names reports the error.
    names.on("error", () => undefined);
    host.perform(listExcluded, { root: from, excludes }, { output: names, signal }).then(
      () => names.end(),
      (error: Error) => names.destroy(error),
    );
    const { exitCode, stderr } = await host.run({
      argv: carryArguments(from, to, pass),
      environment: tarEnvironment,
      input: names,
      signal,
    });
    refuseUncarried(exitCode, stderr, pass);
  };

/** Keeps files that were created between the first pass and the swap. A failure does not undo the restore. */
export async function carryRest(
  carry: Carry | null,
  from: string,
  to: string,
  { say }: Attempt,
): Promise<void> {
  await carry?.(from, to, "after", tidying()).catch((error: unknown) =>
    say(`Not all that was made during the restore was kept: ${toError(error).message}`),
  );
}
