// Puts an extracted folder in place of another, in steps that a kill may cut off anywhere:
//   new    → being extracted            settle: removed, the folder is as it was
//   ready  → whole and on the disk      settle: removed while the folder is still there, else put in its place
//   old    → the folder, moved aside    settle: removed once the restored one is in its place
import { lstat, mkdir, rename, rmdir } from "node:fs/promises";
import type { Readable } from "node:stream";
import type { Host } from "../../hosts/host.ts";
import { extractArchive } from "./folder-extract.ts";
import { isThere, removeFolder, syncFolder, whyNotSwappable, type Place } from "./folder-place.ts";
import { SourceError, type Attempt } from "./source.ts";

type Part = { host: Host; isRoot: boolean };
type Settled = Awaited<ReturnType<typeof settleFolder>>;

export async function restoreFolder(
  part: Part,
  place: Place,
  from: Readable,
  attempt: Attempt,
): Promise<void> {
  const { root, parent, fresh, ready, old } = place;
  let isAside = false;
  try {
    await refuseImpossible(place);
    // What an earlier try for the same backup left.
    await settleFolder(part.host, place, attempt);
    await mkdir(fresh, { mode: 0o700 });
    await extractArchive(part, from, fresh, attempt);
    await flushToDisk(part.host, parent);
    attempt.signal.throwIfAborted();
    // Something may have been mounted meanwhile.
    await refuseImpossible(place);
    await rename(fresh, ready);
    await syncFolder(parent);
    if (await isThere(root)) {
      await rename(root, old);
      isAside = true;
    }
    await rename(ready, root);
    await syncFolder(parent);
  } catch (error) {
    from.destroy();
    const settled = await settleFolder(part.host, place, attempt).catch(
      (reason: Error): Settled => {
        attempt.say(reason.message);
        return "unknown";
      },
    );
    if (!isAside || settled !== "restored") throw inSwapWords(place, error);
    attempt.say(
      `The restored folder is in place, though there was trouble: ${(error as Error).message}`,
    );
  }
  await clearAway(part.host, old, attempt);
}

/** @throws SourceError when it cannot be told which folder is the right one; nothing is removed then */
export async function settleFolder(
  host: Host,
  { root, parent, fresh, ready, old }: Place,
  attempt: Attempt,
): Promise<"as it was" | "restored" | "unknown"> {
  const has = { fresh: await isThere(fresh), ready: await isThere(ready), old: await isThere(old) };
  if (has.fresh) await clearAway(host, fresh, attempt);
  if (!has.old) {
    if (has.ready) await clearAway(host, ready, attempt);
    // With nothing left beside it, a restore either never began or cleared up after itself.
    return has.fresh || has.ready ? "as it was" : "unknown";
  }
  if (has.ready) {
    await makeRoom(root, { ready, old });
    try {
      await rename(ready, root);
    } catch {
      await rename(old, root);
      await syncFolder(parent);
      await clearAway(host, ready, attempt);
      return "as it was";
    }
  } else if (!(await isThere(root))) {
    await rename(old, root);
    await syncFolder(parent);
    return "as it was";
  }
  await syncFolder(parent);
  await clearAway(host, old, attempt);
  return "restored";
}

/** Between the two steps of the swap something else may have made the folder anew. */
async function makeRoom(
  root: string,
  { ready, old }: { ready: string; old: string },
): Promise<void> {
  if (!(await isThere(root))) return;
  try {
    await rmdir(root);
  } catch {
    throw new SourceError(
      `${root} was made anew while a restore was cut off. The restored folder is ${ready}, the one before it ${old}: move the right one to ${root} and remove the others.`,
    );
  }
}

async function refuseImpossible({ root }: Place): Promise<void> {
  const reason = await whyNotSwappable(root);
  if (reason !== null) throw new SourceError(`Nothing was changed: ${reason}.`);
  if ((await isThere(root)) && !(await lstat(root)).isDirectory())
    throw new SourceError(`Nothing was changed: ${root} is not a folder.`);
}

/** The swap must not reach the disk before what is swapped in. Named by the parent: the folder itself may be closed by now. */
async function flushToDisk(host: Host, folder: string): Promise<void> {
  const { exitCode, stderr } = await host.run({ argv: ["sync", "--file-system", "--", folder] });
  if (exitCode !== 0)
    throw new SourceError(`The restored files could not be written to the disk: ${stderr.trim()}`);
}

/** What stays lying there takes space, but makes no restore wrong. */
async function clearAway(host: Host, folder: string, { say }: Attempt): Promise<void> {
  const reason = await removeFolder(host, folder);
  if (reason !== null) say(`${folder} could not be removed: ${reason}. Remove it by hand.`);
}

function inSwapWords({ root }: Place, error: unknown): unknown {
  const { code, message, syscall } = error as NodeJS.ErrnoException;
  if (error instanceof SourceError || syscall === undefined) return error;
  return new SourceError(
    `${root} was not replaced: ${message}.${code === "EBUSY" ? " It is a mount point or otherwise held; restore into a folder that is not." : ""}`,
  );
}
