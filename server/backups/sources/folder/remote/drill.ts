// Drills a restore into a scratch folder of another machine, and compares the result with the manifest.
import { posix } from "node:path";
import type { Readable } from "node:stream";
import type { Host } from "../../../../hosts/host.ts";
import { checkDatabases, extractCounted, refuseDifference, type Counts } from "../drill.ts";
import { tidying } from "../place.ts";
import { reviveSourceError, SourceError, type Attempt, type Manifest } from "../../source.ts";
import { findProblemThere, listDatabases, lookForSqlite } from "./databases.ts";
import { runScript } from "./script.ts";
import { drillName, drillRoot, removeThere } from "./swap.ts";

/** mkdir fails where another account has created the folder. */
const prepare = 'mkdir -m 700 -- "$1" && mkdir -m 700 -- "$1/content" && df -P -k -- "$1"';

/** Counts the content of a file with several names only once, as in the archive. */
const count = `chmod -R u+rwX -- "$1" || exit 1
find "$1" -printf '%y %s %n %D:%i\\n' | awk '
  { entries += 1 }
  $1 == "f" && ($3 == 1 || !seen[$4]++) { bytes += $2 }
  END { printf "%d %.0f\\n", entries, bytes }'`;

export async function drillThere(
  host: Host,
  root: string,
  from: Readable,
  manifest: Manifest | null,
  attempt: Attempt,
): Promise<string> {
  const { signal } = attempt;
  const scratch = drillName(attempt.id, root);
  const content = posix.join(scratch, "content");
  try {
    if (manifest !== null && manifest.kind !== "folder")
      throw new SourceError("The backup says that it holds a database, not a folder.");
    await throwAway(host, scratch, signal);
    refuseWithoutRoom(await runScript(host, prepare, [scratch], signal), manifest);
    const { archived, extracted } = await extractCounted(host, from, content, manifest, attempt);
    const [entries = 0, bytes = 0] = (await runScript(host, count, [content], signal))
      .split(" ")
      .map(Number);
    refuseDifference("the archive", extracted, "the disk", { entries, bytes });
    if (manifest !== null) {
      refuseDifference("the backup", manifest, "the archive", archived);
      if (manifest.digest !== archived.digest)
        throw new SourceError(
          "The archive's entries (their names, types, modes or sizes) are not those that were backed up.",
        );
    }
    const checked = await checkThere(host, content, manifest, attempt);
    const compared = manifest === null ? "there was nothing to hold them against" : "as backed up";
    return `${entries} entries with ${bytes} bytes restored, ${compared}.${checked}`;
  } catch (error) {
    signal.throwIfAborted();
    throw reviveSourceError(error);
  } finally {
    from.destroy();
    await throwAway(host, scratch, tidying()).catch((reason: Error) => attempt.say(reason.message));
  }
}

/** @returns a sentence for the drill's output, with a space in front */
async function checkThere(
  host: Host,
  content: string,
  manifest: Extract<Manifest, { kind: "folder" }> | null,
  { say, signal }: Attempt,
): Promise<string> {
  const script = `${lookForSqlite} && echo yes || echo no; ${listDatabases}`;
  const [hasSqlite, ...lines] = (await runScript(host, script, [content], signal)).split("\n");
  // A file whose name is not UTF-8 was not treated as a database by the run either.
  const paths = lines.filter((line) => line !== "" && !line.includes("\uFFFD"));
  if (hasSqlite !== "yes" && paths.length > 0)
    return ` Its SQLite databases were not opened: ${paths.length}. Install sqlite3 there for that.`;
  const names = paths.map((path) => Buffer.from(posix.relative(content, path)).toString("latin1"));
  return checkDatabases(names, manifest, say, (name) =>
    findProblemThere(host, posix.join(content, Buffer.from(name, "latin1").toString()), signal),
  );
}

async function throwAway(host: Host, folder: string, signal: AbortSignal): Promise<void> {
  const reason = await removeThere(host, folder, signal);
  if (reason !== null)
    throw new SourceError(`${folder} could not be removed: ${reason}. Remove it by hand.`);
}

const blockBytes = 4096;

function refuseWithoutRoom(table: string, manifest: Counts | null): void {
  const freeKb = Number(table.trimEnd().split("\n").at(-1)?.split(/\s+/)[3]);
  if (manifest === null || Number.isNaN(freeKb)) return;
  // Each entry takes a block, or the unused end of one.
  const neededKb = Math.ceil((manifest.bytes + manifest.entries * blockBytes) / 1024);
  if (freeKb < neededKb)
    throw new SourceError(
      `The drill needs ${Math.ceil(neededKb / 1024)} MB in ${drillRoot}, where ${Math.floor(freeKb / 1024)} MB are free. Free some space.`,
    );
}
