// Restores one file or folder of an archive into a live site: extracts it into a scratch folder within the site, as the site's account,
// and exchanges it by a rename. Uses the same commands here and on a remote machine.
import { posix } from "node:path";
import { Readable } from "node:stream";
import type { Host } from "../../../hosts/host.ts";
import { toError } from "../../../to-error.ts";
import { SourceError, type Attempt, type Excludes, type Manifest, type Source } from "../source.ts";
import type { ArchiveEntry } from "./archive.ts";
import { cacheSignature, cacheTag, excludedBy } from "./excludes.ts";
import { extractArchive } from "./extract.ts";
import { there, tidying } from "./place.ts";
import { runScript } from "./remote/script.ts";
import { tarEnvironment } from "./tar.ts";

type PartOptions = {
  /** The machine, as the site's account. */
  host: Host;
  /** Folder of the site; may be a link. */
  root: string;
  /** Path below the root, without `.` and `..`. */
  path: string;
};

/** What listings show for bytes of a name that are not UTF-8. */
const unknownBytes = "\ufffd";
const unnamable =
  "A name that isn't UTF-8 is shown with “\ufffd” and can't be asked for. Restore the folder that it is in.";

const scratchName = (id: number) => `.quarterdeck-restore-${id}`;

/** Shell function that moves an entry. A folder has an entry for its parent, so that its owner needs write permission to move it. */
const move = `move() {
  n=; if [ -d "$1" ] && [ ! -L "$1" ] && [ ! -w "$1" ]; then n=$(stat -c %a -- "$1"); chmod u+w -- "$1"; fi
  if mv -T -- "$1" "$2"; then [ -z "$n" ] || chmod "$n" -- "$2"; else [ -z "$n" ] || chmod "$n" -- "$1"; return 1; fi
}`;

/**
 * Shell script: descends from the site's folder ($1) through the folders of the path ($3…) as far as they exist, and never through a
 * link, which could lead outside. $2 is the scratch folder's name; `each` runs at each step.
 */
const walk = (each: string) => `${there}
cd -P -- "$1" 2>/dev/null || { echo missing; exit 0; }
at=$(pwd -P && printf .); at=\${at%??}; skipped=; scratch=$2; shift 2
while :; do
  ${each}
  [ $# -gt 1 ] && there "./$1" || break
  if [ -L "./$1" ]; then printf 'link\\n%s' "$at/$1"; exit 0; fi
  if [ ! -d "./$1" ]; then printf 'other\\n%s' "$at/$1"; exit 0; fi
  at=\${at%/}/$1
  cd -P -- "./$1" 2>/dev/null || { printf 'closed\\n%s' "$at"; exit 0; }
  now=$(pwd -P && printf .); [ "\${now%??}" = "$at" ] || { printf 'link\\n%s' "$at"; exit 0; }
  skipped=$skipped$1/; shift
done`;

const remove = `for pause in 0 0.1 0.5; do
  sleep $pause; rm -rf --one-file-system -- "./$scratch"; there "./$scratch" || break; chmod -R u+rwX -- "./$scratch"
done`;

/** With excludes, a folder is not exchanged: its excluded files are in no backup, not even in the safety backup. */
const refuseFolder = `if [ -d "./$1" ] && [ ! -L "./$1" ]; then printf 'partial\\n%s' "$at/$1"; exit 0; fi`;

/** A file in a folder that is a cache today is not exchanged either, because the safety backup excludes it. */
const lookForTag = `if [ -n "$skipped" ] && [ -f ${cacheTag} ] && [ ! -L ${cacheTag} ] &&
    [ "$(head -c ${cacheSignature.length} ${cacheTag})" = "${cacheSignature}" ]; then cached=1; fi`;
const refuseCached = `if [ -n "$cached" ] && [ "$1" != ${cacheTag} ] && there "./$1"; then printf 'cached\\n%s' "$at/$1"; exit 0; fi`;

/** Shell script: prints where the entry to exchange is, and how many parts of the path do not exist yet; creates the scratch folder. */
const prepare = (excludes: Excludes | null) => `cached=
${walk(excludes?.caches === true ? lookForTag : ":")}
${excludes === null ? "" : refuseFolder}
${refuseCached}
mkdir -m 700 -- "./$scratch" && chmod g-s -- "./$scratch" && mkdir -m 700 -- "./$scratch/tree" || { printf 'closed\\n%s' "$at"; exit 0; }
printf 'ok\\n%s\\n%s' "$#" "$at"`;

/** Folder in the scratch folder where a part is extracted again, together with the files that its hard links refer to. */
const again = "linked";
const listOfNames = "names";

/** Shell script: `$1` is the scratch folder; reads the names from its input. */
const prepareAgain = `cd -P -- "$1" && mkdir -m 700 ${again} && cat >${listOfNames}`;

/** Shell script: replaces the part by the one with its hard links. `$1` is the scratch folder, `$2` the part. */
const takeLinked = `${there}; ${move}
cd -P -- "$1" && there "./${again}/$2" || exit 1
new=./${again}/$2 old=./tree/$2; above=\${old%/*}
mkdir -p -- "$above" || exit 1
m=$(stat -c %a -- "$above"); s=$(stat -c %.9Y -- "$above"); chmod u+rwx -- "$above" || exit 1
if [ -d "$old" ] && [ ! -L "$old" ]; then chmod -R u+rwX -- "$old"; fi
rm -rf -- "$old"; move "$new" "$old" || exit 1
touch -d "@$s" -- "$above"; chmod "$m" -- "$above"`;

/**
 * Shell script: exchanges the entry. `$1` is the folder, `$2` the scratch folder's name, `$3` the entry, `$4` the new one below the
 * scratch tree, `$5` the requested path there. Links of the backup are not followed, because they lead to what exists now. Archived
 * folders may be closed to their owner.
 */
const exchange = `${there}; ${move}
cd -P -- "$1" && [ "$(pwd -P)" = "$1" ] || exit 1
new=./$2/tree/$4
absent() { printf '%s is not in the backup.' "$5" >&2; exit 1; }
set -f; IFS=/
p=./$2/tree; case $5 in */*) for c in \${5%/*}; do p=$p/$c; [ ! -L "$p" ] || absent "$@"; done ;; esac
p=./$2/tree; case $4 in */*) for c in \${4%/*}; do p=$p/$c; chmod u+rwx -- "$p" 2>/dev/null; done ;; esac
unset IFS
there "$new" && there "./$2/tree/$5" || absent "$@"
: >"./$2/ready" && sync -f . || exit 1
if there "./$3" && { [ -d "./$3" ] && [ ! -L "./$3" ] || [ -d "$new" ] && [ ! -L "$new" ]; }; then
  move "./$3" "./$2/old" || exit 1
  move "$new" "./$3" || { move "./$2/old" "./$3"; exit 1; }
elif [ -d "$new" ] && [ ! -L "$new" ]; then move "$new" "./$3" || exit 1
else mv -fT -- "$new" "./$3" || exit 1; fi
sync -f .`;

/**
 * Shell script: settles an interrupted restore, whose scratch folder is beside the entry. Without its mark nothing was exchanged; with
 * it, the old entry is moved back unless the new one is in place.
 */
const settle = `${move}
${walk('if [ -d "./$scratch" ]; then break; fi')}
[ -d "./$scratch" ] || { echo unknown; exit 0; }
state='as it was'
if [ -e "./$scratch/ready" ]; then
  if there "./$scratch/old" && ! there "./$1"; then move "./$scratch/old" "./$1" || exit 1
  elif ! there "./$scratch/tree/$skipped$1"; then state=restored; fi
fi
${remove}
there "./$scratch" && echo "left $at/$scratch"
echo "$state"`;

const refusals: Record<string, (shown: string) => string> = {
  missing: () => "the site's folder is not there",
  link: (shown) => `${shown} is a symbolic link, and a restore goes through none`,
  other: (shown) => `${shown} is no folder any more`,
  partial: (shown) =>
    `the backup left out files by its excludes, and ${shown} may hold such files. Restore files of it one by one, or the whole site`,
  cached: (shown) =>
    `${shown} is in a cache by now, which the backup before the restore leaves out. Move it away first`,
  closed: (shown) => `the site's account may not write in ${shown}`,
};

const bytesOf = (text: string): string => Buffer.from(text).toString("latin1");

/** Finds hard links in a part of an archive to files outside of it. */
function findLinksOut(part: string) {
  const top = bytesOf(part);
  const isInside = (archived: string) => {
    const name = archived.replace(/^(?:\.\/)+/, "");
    return name === top || name.startsWith(`${top}/`);
  };
  /** As archived, one character per byte. */
  const targets = new Set<string>();
  return {
    targets,
    look({ path, type, target }: ArchiveEntry): void {
      if (type === "1" && isInside(path) && !isInside(target)) targets.add(target);
    },
  };
}

/** Creates a source for a site whose restore replaces one file or folder, and leaves everything else. */
export function createFolderPart(source: Source, { host, root, path }: PartOptions): Source {
  const parts = path.split("/");

  async function settlePart({ id, say }: Attempt): ReturnType<Source["settle"]> {
    const told = await runScript(host, settle, [root, scratchName(id), ...parts], tidying());
    const lines = told.trimEnd().split("\n");
    const left = lines.find((line) => line.startsWith("left "));
    if (left !== undefined) say(`${left.slice(5)} could not be removed.`);
    const state = lines.at(-1);
    return state === "restored" || state === "as it was" ? state : "unknown";
  }

  async function restorePart(
    from: Readable,
    attempt: Attempt,
    manifest: Manifest | null,
  ): Promise<void> {
    const { id, signal } = attempt;
    const scratch = scratchName(id);
    const script = prepare(excludedBy(manifest));
    const told = await runScript(host, script, [root, scratch, ...parts], signal);
    const [answer = "", first = "", ...rest] = told.split("\n");
    const refusal = refusals[answer];
    if (refusal !== undefined)
      throw new SourceError(`Nothing was changed: ${refusal([first, ...rest].join("\n"))}.`);
    const folder = rest.join("\n");
    const known = parts.length - Number(first);
    const entry = parts.slice(0, known + 1).join("/");
    // With the parent folders, which may have to be created. Archives from this machine and from remote ones name entries differently.
    const named = (name: string) => [`--add-file=${name}`, `--add-file=./${name}`];
    const above = parts.slice(0, -1).flatMap((_, n) => named(parts.slice(0, n + 1).join("/")));
    const links = findLinksOut(path);
    await extractArchive(host, from, posix.join(folder, scratch, "tree"), attempt, {
      names: ["--no-unquote", "--no-recursion", ...above, "--recursion", ...named(path)],
      onEntry: links.look,
      isWithoutLinks: true,
    });
    if (links.targets.size > 0)
      await extractLinked(posix.join(folder, scratch), links.targets, attempt);
    const last = [folder, scratch, posix.basename(entry), entry, path];
    await runScript(host, exchange, last, signal).catch((error: unknown) => {
      throw path.includes(unknownBytes)
        ? new SourceError(`${toError(error).message} ${unnamable}`, { cause: error })
        : error;
    });
  }

  /** Extracts hard links to files outside of the part: reads the archive again, and extracts both. */
  async function extractLinked(
    scratch: string,
    targets: ReadonlySet<string>,
    attempt: Attempt,
  ): Promise<void> {
    const { signal, reopen } = attempt;
    if (reopen === undefined) throw new Error("The archive can't be read once more.");
    const names = [...targets, ...[path, `./${path}`].map(bytesOf)].map((name) => `${name}\0`);
    const { exitCode, stderr } = await host.run({
      argv: ["sh", "-c", prepareAgain, "sh", scratch],
      environment: tarEnvironment,
      input: Readable.from(names.map((name) => Buffer.from(name, "latin1"))),
      signal,
    });
    if (exitCode !== 0) throw new SourceError(`Nothing was changed: ${stderr.trim()}`);
    const list = `--files-from=${posix.join(scratch, listOfNames)}`;
    await extractArchive(host, await reopen(), posix.join(scratch, again), attempt, {
      names: ["--no-unquote", "--null", "--verbatim-files-from", list],
    });
    await runScript(host, takeLinked, [scratch, path], signal);
  }

  return {
    ...source,

    // The folder itself is not swapped.
    refuseRestore: async () => undefined,

    // The content is that of the whole site, of which only a part is extracted.
    unpacking: async () => null,

    async restore(from, attempt, manifest = null) {
      try {
        await settlePart(attempt);
        await restorePart(from, attempt, manifest);
        await settlePart(attempt);
      } catch (error) {
        from.destroy();
        const state = await settlePart(attempt).catch((left: unknown) => {
          attempt.say(`Couldn't clean up after the restore: ${toError(left).message}`);
          return "unknown" as const;
        });
        // The last step was done, and only its response was lost.
        if (state === "restored" && !attempt.signal.aborted) return;
        throw error;
      }
    },

    settle: settlePart,
  };
}
