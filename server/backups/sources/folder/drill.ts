// Drills a restore into a scratch folder, and compares the result with the manifest.
import { lstat, mkdir, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { countOf } from "../../../../contract/count-text.ts";
import type { Host, LocalHost } from "../../../hosts/host.ts";
import { defineTask } from "../../../hosts/task.ts";
import type { ArchiveSummary } from "./archive.ts";
import { checkRestored, startsAsDatabase } from "./databases.ts";
import { extractArchive } from "./extract.ts";
import { createExtractedCounts } from "./extracted.ts";
import { openUp, removeFolder, tidying } from "./place.ts";
import { pathBelow, showName, walkFolder } from "./walk.ts";
import { reviveSourceError, SourceError, type Attempt, type Manifest } from "../source.ts";
import { folderTasks } from "./tasks.ts";
import { smallestDatabaseBytes } from "../sqlite/header.ts";

type FolderManifest = Extract<Manifest, { kind: "folder" }>;
type Part = { host: LocalHost; scratchFolder: string };
export type Counts = { entries: number; bytes: number };
/** `databases`: names of SQLite databases, one character per byte. */
type Found = Counts & { databases: string[] };

export const drillFolderOf = (scratchFolder: string, id: number): string =>
  join(scratchFolder, `drill-${id}`);

export async function drillArchive(
  part: Part,
  from: Readable,
  manifest: Manifest | null,
  attempt: Attempt,
): Promise<string> {
  const { host, scratchFolder } = part;
  const scratch = drillFolderOf(scratchFolder, attempt.id);
  // The archive sets the mode of the folder that it is extracted into; the folder around it keeps other accounts out.
  const content = join(scratch, "content");
  try {
    if (manifest !== null && manifest.kind !== "folder")
      throw new SourceError("The backup says that it holds a database, not a folder.");
    await throwAway(host, scratch, attempt.signal);
    const preparation = { scratchFolder, scratch, content, manifest };
    await host.perform(prepareDrill, preparation, { signal: attempt.signal });
    const { archived, extracted } = await extractCounted(host, from, content, manifest, attempt);
    if (host.account.uid !== 0) await openUp(host, content, attempt.signal);
    const found = await host.perform(countFolder, content, { signal: attempt.signal });
    refuseDifference("the archive", extracted, "the disk", found);
    if (manifest !== null) {
      refuseDifference("the backup", manifest, "the archive", archived);
      if (manifest.digest !== archived.digest)
        throw new SourceError(
          "The archive's entries (their names, types, modes or sizes) are not those that were backed up.",
        );
    }
    const at = join(scratch, "checked.sqlite");
    const checked = await checkDatabases(found.databases, manifest, attempt.say, (name) => {
      const target = { root: content, name, isApart: !host.isOwn, at };
      return host.perform(checkRestored, target, { signal: attempt.signal });
    });
    const compared = manifest === null ? "there was nothing to hold them against" : "as backed up";
    return `${found.entries} entries with ${found.bytes} bytes restored, ${compared}.${checked}`;
  } catch (error) {
    throw reviveSourceError(error);
  } finally {
    from.destroy();
    await throwAway(host, scratch, tidying()).catch((reason: Error) => attempt.say(reason.message));
  }
}

/**
 * Checks each restored SQLite database.
 * @param names one character per byte
 * @param findProblem returns the problem; null = the database is sound
 * @returns a sentence for the drill's output, with a space in front; nothing without databases
 * @throws SourceError for a damaged one that was sound when it was backed up, or that is not in the manifest
 */
export async function checkDatabases(
  names: readonly string[],
  manifest: FolderManifest | null,
  say: Attempt["say"],
  findProblem: (name: string) => Promise<string | null>,
): Promise<string> {
  const known = new Map(manifest?.databases?.map((one) => [one.name, one]));
  const broken: string[] = [];
  let sound = 0;
  for (const name of names) {
    const shown = showName(Buffer.from(name, "latin1"));
    const [before, problem] = [known.get(shown), await findProblem(name)];
    if (problem === null) sound += 1;
    else if (before === undefined || before.problem === null) broken.push(`${shown} (${problem})`);
    else if (before.isOpened === false)
      say(`${shown} is not sound (${problem}). In the site it couldn't be opened.`);
    else say(`${shown} was no sound database in the site either.`);
  }
  if (broken.length > 0)
    throw new SourceError(
      `${broken.length} of the SQLite databases in it ${broken.length === 1 ? "is" : "are"} not sound: ${broken.slice(0, shownBroken).join("; ")}.`,
    );
  const unsound = names.length - sound;
  if (names.length === 0) return "";
  return ` ${countOf(sound, "SQLite database")} in it passed the integrity check${unsound === 0 ? "" : `, ${unsound} did not, as in the site`}.`;
}

const shownBroken = 5;

/**
 * Extracts an archive. `extracted` are the counts that the disk has to have, according to the archive. Only a foreign archive may have
 * an entry twice, or lack folders, so that they differ from those of the archive.
 */
export async function extractCounted(
  host: Host,
  from: Readable,
  content: string,
  manifest: FolderManifest | null,
  attempt: Attempt,
): Promise<{ archived: ArchiveSummary; extracted: Counts }> {
  if (manifest?.databases !== undefined) {
    const archived = await extractArchive(host, from, content, attempt);
    return { archived, extracted: archived };
  }
  const extracted = createExtractedCounts();
  const picked = { names: [], onEntry: extracted.add };
  const archived = await extractArchive(host, from, content, attempt, picked);
  return { archived, extracted: extracted.counts() };
}

async function throwAway(host: LocalHost, folder: string, signal: AbortSignal): Promise<void> {
  const reason = await removeFolder(host, folder, signal);
  if (reason !== null)
    throw new SourceError(`${folder} could not be removed: ${reason}. Remove it by hand.`);
}

type Preparation = {
  scratchFolder: string;
  scratch: string;
  content: string;
  manifest: FolderManifest | null;
};

const prepareDrill = defineTask(
  folderTasks,
  "prepareDrill",
  async ({ scratchFolder, scratch, content, manifest }: Preparation): Promise<void> => {
    await mkdir(scratchFolder, { recursive: true, mode: 0o700 });
    if (manifest !== null) await refuseWithoutSpace(scratchFolder, manifest);
    await mkdir(scratch, { mode: 0o700 });
    await mkdir(content, { mode: 0o700 });
  },
);

/** Checks free space first, because the scratch folder is beside the service's own data, which a full disk would stop. */
async function refuseWithoutSpace(folder: string, { entries, bytes }: Counts): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  // Each entry takes a block, or the unused end of one.
  const neededBytes = bytes + entries * bsize;
  if (bavail * bsize < neededBytes)
    throw new SourceError(
      `The drill needs ${inMegabytes(neededBytes)} in ${folder}, where ${inMegabytes(bavail * bsize)} are free. Free some space.`,
    );
}

const inMegabytes = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)} MB`;

const countFolder = defineTask(
  folderTasks,
  "countFolder",
  async (root: string, { signal }): Promise<Found> => {
    const counts: Found = { entries: 0, bytes: 0, databases: [] };
    const seen = new Set<number>();
    const lots = walkFolder(root, (name, error) => {
      throw new SourceError(`${showName(name)} was restored but cannot be read: ${error.message}`);
    });
    for await (const lot of lots) {
      signal.throwIfAborted();
      counts.entries += lot.length;
      for (const { name, kind } of lot) {
        if (kind !== "file") continue;
        const { size, nlink, ino } = await lstat(pathBelow(root, name));
        // The archive has the content of a file with several names only once.
        if (nlink > 1 && seen.has(ino)) continue;
        if (nlink > 1) seen.add(ino);
        counts.bytes += size;
        // Pages have 512 bytes or a multiple, so that most files need not be read.
        const isPaged = size > 0 && size % smallestDatabaseBytes === 0;
        if (isPaged && (await startsAsDatabase(pathBelow(root, name))))
          counts.databases.push(name.toString("latin1"));
      }
    }
    return counts;
  },
);

export function refuseDifference(
  oneName: string,
  one: Counts,
  otherName: string,
  other: Counts,
): void {
  if (one.entries === other.entries && one.bytes === other.bytes) return;
  throw new SourceError(
    `${oneName} has ${one.entries} entries with ${one.bytes} bytes, ${otherName} ${other.entries} with ${other.bytes}.`.replace(
      /^t/,
      "T",
    ),
  );
}
