// Puts an extracted folder in place of another, in steps that a kill may cut off anywhere:
//   new    → being extracted            settle: removed, the folder is as it was
//   ready  → whole and on the disk      settle: removed while the folder is still there, else put in its place
//   old    → the folder, moved aside    settle: removed once the restored one is in its place
import type { Readable } from "node:stream";
import { accountName } from "../../../hosts/account.ts";
import type { LocalHost } from "../../../hosts/host.ts";
import { exchangeFolder, settleInside } from "./exchange.ts";
import { extractArchive } from "./extract.ts";
import { findHolding } from "./mounts.ts";
import {
  findRealRoot,
  openPlace,
  pathOf,
  reachOf,
  removeEmptyFolder,
  removeFolder,
  tidying,
  type OpenPlace,
} from "./place.ts";
import { beginSwap, commitSwap, flushToDisk, settleSwap, type Settled } from "./swap-steps.ts";
import { reviveSourceError, SourceError, type Attempt } from "../source.ts";
import { toError } from "../../../to-error.ts";

/** @param root as the inventory has it @throws SourceError, the input's own error, or an abort; the folder is as it was then */
export async function restoreFolder(
  host: LocalHost,
  root: string,
  from: Readable,
  attempt: Attempt,
): Promise<void> {
  const real = await host.perform(findRealRoot, root, { signal: attempt.signal });
  const { isHeld, inside } = await findHolding(real);
  if (isHeld) await exchangeFolder(host, real, from, attempt);
  else
    await withPlace(host, root, attempt.id, attempt.signal, (open) =>
      restoreInto(host, open, from, attempt),
    );
  for (const path of inside) attempt.say(heldInside(path));
}

/** @throws SourceError when it cannot be told which folder is the right one; nothing is removed then */
export async function settleFolder(
  host: LocalHost,
  root: string,
  attempt: Attempt,
): Promise<Settled> {
  const real = await host.perform(findRealRoot, root, { signal: attempt.signal });
  return (
    (await settleInside(host, real, attempt)) ??
    withPlace(host, root, attempt.id, attempt.signal, (open) =>
      settlePlace(host, open, attempt, attempt.signal),
    )
  );
}

/** What an operator has to know of a folder that is mounted elsewhere from inside the site. */
export const heldInside = (path: string): string =>
  `${path} is mounted by itself elsewhere, e.g. in a container, and goes on showing there what was in it before a restore: restart what has it mounted after one.`;

async function withPlace<Result>(
  host: LocalHost,
  root: string,
  id: number,
  signal: AbortSignal,
  work: (open: OpenPlace) => Promise<Result>,
): Promise<Result> {
  const open = await openPlace(host, root, id, signal);
  try {
    return await work(open);
  } catch (error) {
    throw inPlaceWords(error, open);
  } finally {
    await open.close();
  }
}

function inPlaceWords(error: unknown, { place }: OpenPlace): unknown {
  const { code, syscall } = toError(error);
  if (syscall === undefined || (code !== "EACCES" && code !== "EPERM"))
    return reviveSourceError(error);
  return new SourceError(
    `Nothing was changed: ${accountName(place.actor)} may not work in ${place.parent}, where the new folder is swapped in.`,
  );
}

async function restoreInto(
  host: LocalHost,
  open: OpenPlace,
  from: Readable,
  attempt: Attempt,
): Promise<void> {
  const { place, perform } = open;
  let isAside = false;
  try {
    // What an earlier try for the same backup left.
    await settlePlace(host, open, attempt, attempt.signal);
    await perform(beginSwap, place, attempt.signal);
    await extractArchive(host, from, pathOf(place, place.fresh), attempt);
    // Named by the parent: the folder itself may be closed by now. By whoever renames there, and so may open it.
    await flushToDisk(host.as(place.actor), place.parent);
    attempt.signal.throwIfAborted();
    // From here on it is not told to end: whether it had ended could not be told.
    const swap = await perform(commitSwap, place, tidying());
    ({ isAside } = swap);
    if (swap.problem !== null) throw new SourceError(swap.problem);
  } catch (error) {
    from.destroy();
    const settled = await settlePlace(host, open, attempt, tidying()).catch(
      (reason: Error): Settled => {
        attempt.say(reason.message);
        return "unknown";
      },
    );
    if (!isAside || settled !== "restored") throw reviveSourceError(error);
    attempt.say(
      `The restored folder is in place, though there was trouble: ${toError(error).message}`,
    );
  }
  await clearAway(host, open, place.old, attempt, tidying());
}

async function settlePlace(
  host: LocalHost,
  open: OpenPlace,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<Settled> {
  const { state, problem, left } = await open.perform(settleSwap, open.place, signal);
  for (const name of left) await clearAway(host, open, name, attempt, signal);
  if (problem !== null) throw new SourceError(problem);
  return state;
}

/** What stays lying there takes space, but makes no restore wrong. */
async function clearAway(
  host: LocalHost,
  { place, perform }: OpenPlace,
  name: string,
  { say }: Attempt,
  signal: AbortSignal,
): Promise<void> {
  const folder = pathOf(place, name);
  // The account empties the folder; where the one above is not its own, the service removes what is left of it.
  const reason = await removeFolder(host, folder, signal, () =>
    perform(removeEmptyFolder, reachOf(place, name), signal),
  );
  if (reason !== null) say(`${folder} could not be removed: ${reason}. Remove it by hand.`);
}
