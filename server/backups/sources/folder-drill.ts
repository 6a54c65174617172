// A restore into a scratch folder, to see that it would work.
import { lstat, mkdir, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { Host } from "../../hosts/host.ts";
import { extractArchive } from "./folder-extract.ts";
import { openUp, removeFolder } from "./folder-place.ts";
import { pathBelow, showName, walkFolder } from "./folder-walk.ts";
import { SourceError, type Attempt, type Manifest } from "./source.ts";

type Part = { host: Host; isRoot: boolean; scratchFolder: string };
type Counts = { entries: number; bytes: number };

export const drillFolderOf = (scratchFolder: string, id: number): string =>
  join(scratchFolder, `drill-${id}`);

export async function drillArchive(
  part: Part,
  from: Readable,
  manifest: Manifest | null,
  attempt: Attempt,
): Promise<string> {
  const scratch = drillFolderOf(part.scratchFolder, attempt.id);
  // The archive sets the mode of the folder that it is extracted into; the one around it keeps others out.
  const content = join(scratch, "content");
  try {
    if (manifest !== null && manifest.kind !== "folder")
      throw new SourceError("The backup says that it holds a database, not a folder.");
    await throwAway(part.host, scratch);
    await mkdir(part.scratchFolder, { recursive: true });
    if (manifest !== null) await refuseWithoutSpace(part.scratchFolder, manifest);
    await mkdir(scratch, { mode: 0o700 });
    await mkdir(content, { mode: 0o700 });
    const archived = await extractArchive(part, from, content, attempt);
    if (!part.isRoot) await openUp(part.host, content);
    const found = await countFolder(content, attempt.signal);
    refuseDifference("the archive", archived, "the disk", found);
    if (manifest !== null) {
      refuseDifference("the backup", manifest, "the archive", archived);
      if (manifest.digest !== archived.digest)
        throw new SourceError(
          "The archive's entries (their names, types, modes or sizes) are not those that were backed up.",
        );
    }
    const compared = manifest === null ? "there was nothing to hold them against" : "as backed up";
    return `${found.entries} entries with ${found.bytes} bytes restored, ${compared}.`;
  } finally {
    from.destroy();
    await throwAway(part.host, scratch).catch((reason: Error) => attempt.say(reason.message));
  }
}

async function throwAway(host: Host, folder: string): Promise<void> {
  const reason = await removeFolder(host, folder);
  if (reason !== null)
    throw new SourceError(`${folder} could not be removed: ${reason}. Remove it by hand.`);
}

/** Before the first byte: the scratch folder lies beside the service's own data, which a full disk would stop. */
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

async function countFolder(root: string, signal: AbortSignal): Promise<Counts> {
  const counts = { entries: 0, bytes: 0 };
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
      // The content of a file with several names is in the archive once.
      if (nlink > 1 && seen.has(ino)) continue;
      if (nlink > 1) seen.add(ino);
      counts.bytes += size;
    }
  }
  return counts;
}

function refuseDifference(oneName: string, one: Counts, otherName: string, other: Counts): void {
  if (one.entries === other.entries && one.bytes === other.bytes) return;
  throw new SourceError(
    `${oneName} has ${one.entries} entries with ${one.bytes} bytes, ${otherName} ${other.entries} with ${other.bytes}.`.replace(
      /^t/,
      "T",
    ),
  );
}
