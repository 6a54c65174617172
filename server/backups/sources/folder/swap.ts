// Swaps an extracted folder in for another, in steps that a kill may interrupt anywhere:
//   new    → being extracted            settle: removed, the folder is as it was
//   ready  → complete and on the disk   settle: removed while the folder is still there, else put in its place
//   old    → the folder, moved aside    settle: removed once the restored one is in its place
import type { Readable } from "node:stream";
import { accountName } from "../../../hosts/account.ts";
import type { Host, LocalHost } from "../../../hosts/host.ts";
import { carryRest } from "./carry.ts";
import { exchangeFolder, settleInside } from "./exchange.ts";
import type { Filling } from "./extract.ts";
import { findHolding } from "../../../hosts/mounts.ts";
import {
  findRealRoot,
  openPlace,
  pathOf,
  reachOf,
  removeEmptyFolder,
  removeFolder,
  tidying,
  type OpenPlace,
  type Place,
} from "./place.ts";
import {
  beginSwap,
  commitSwap,
  flushToDisk,
  settleSwap,
  stillThere,
  type Outcome,
  type Settled,
} from "./swap-steps.ts";
import { reviveSourceError, SourceError, type Attempt } from "../source.ts";
import { toError } from "../../../to-error.ts";

/** The steps, performed as the account that may rename there. */
export type Swap = {
  place: Place;
  begin(signal: AbortSignal): Promise<void>;
  /** Syncs the extracted files to the disk. */
  flush(): Promise<void>;
  commit(): Promise<{ isAside: boolean; problem: string | null }>;
  settle(signal: AbortSignal): Promise<Outcome>;
  /** @returns why the folder could not be removed, or null */
  remove(name: string, signal: AbortSignal): Promise<string | null>;
};

const swapBy = (host: LocalHost, { place, perform }: OpenPlace): Swap => ({
  place,
  begin: (signal) => perform(beginSwap, place, signal),
  // By the parent's path, because the folder itself may be closed to its owner, and as the account that may open the parent.
  flush: () => flushToDisk(host.as(place.actor), place.parent),
  commit: () => perform(commitSwap, place, tidying()),
  settle: (signal) => perform(settleSwap, place, signal),
  remove: (name, signal) =>
    // The account empties the folder; where it may not change the parent, the service removes the empty folder.
    removeFolder(host, pathOf(place, name), signal, () =>
      perform(removeEmptyFolder, reachOf(place, name), signal),
    ),
});

/** @param root as in the inventory @throws SourceError, the error of `from`, or an abort; the folder is unchanged then */
export async function restoreFolder(
  host: LocalHost,
  root: string,
  from: Readable,
  attempt: Attempt,
  filling: Filling,
): Promise<void> {
  const real = await host.perform(findRealRoot, root, { signal: attempt.signal });
  const { isHeld, inside } = await findHolding(real);
  if (isHeld) await exchangeFolder(host, real, from, attempt, filling);
  else
    await withPlace(host, root, attempt.id, attempt.signal, (open) =>
      restoreInto(host, swapBy(host, open), from, attempt, filling),
    );
  for (const path of inside) attempt.say(heldInside(path));
}

/** @throws SourceError where it is unknown which folder is the right one; nothing is removed then */
export async function settleFolder(
  host: LocalHost,
  root: string,
  attempt: Attempt,
): Promise<Settled> {
  const real = await host.perform(findRealRoot, root, { signal: attempt.signal });
  return (
    (await settleInside(host, real, attempt)) ??
    withPlace(host, root, attempt.id, attempt.signal, (open) =>
      settlePlace(swapBy(host, open), attempt, attempt.signal),
    )
  );
}

/** Returns a warning about a folder inside the site that is mounted elsewhere. */
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

/** @throws SourceError, the error of `from`, or an abort; the folder is unchanged then */
export async function restoreInto(
  host: Host,
  swap: Swap,
  from: Readable,
  attempt: Attempt,
  { extract, carry }: Filling,
): Promise<void> {
  const { place } = swap;

  try {
    const { isClear } = await settleAll(swap, attempt, attempt.signal);
    if (!isClear) throw new SourceError(stillThere);
  } catch (error) {
    from.destroy();
    throw reviveSourceError(error);
  }
  let isAside = false;
  try {
    await swap.begin(attempt.signal);
    await extract(host, from, pathOf(place, place.fresh), attempt);
    await carry?.(pathOf(place, place.root), pathOf(place, place.fresh), "before", attempt.signal);
    await swap.flush();
    attempt.signal.throwIfAborted();
    // Not the attempt's signal: after an abort, it would be unknown whether the step was done.
    const committed = await swap.commit();
    ({ isAside } = committed);
    if (committed.problem !== null) throw new SourceError(committed.problem);
  } catch (error) {
    from.destroy();
    const settled = await settlePlace(swap, attempt, tidying()).catch((reason: Error): Settled => {
      attempt.say(reason.message);
      return "unknown";
    });
    if (!isAside || settled !== "restored") throw reviveSourceError(error);
    attempt.say(`The restored folder is in place, with a problem: ${toError(error).message}`);
  }
  if (isAside) await carryRest(carry, pathOf(place, place.old), pathOf(place, place.root), attempt);
  await clearAway(swap, place.old, attempt, tidying());
}

/** Completes or undoes an interrupted swap. @throws SourceError where it is unknown which folder is the right one */
export const settlePlace = async (
  swap: Swap,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<Settled> => (await settleAll(swap, attempt, signal)).state;

/** `isClear`: whether nothing of the swap is left. @throws SourceError as above */
async function settleAll(
  swap: Swap,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<{ state: Settled; isClear: boolean }> {
  const { state, problem, left } = await swap.settle(signal);
  let isClear = true;
  for (const name of left) isClear = (await clearAway(swap, name, attempt, signal)) && isClear;
  if (problem !== null) throw new SourceError(problem);
  return { state, isClear };
}

/**
 * Removes a folder, and reports a failure. It then takes space, but is only in the way of another restore of the same backup.
 * @returns whether it was removed
 */
async function clearAway(
  swap: Swap,
  name: string,
  { say }: Attempt,
  signal: AbortSignal,
): Promise<boolean> {
  const reason = await swap.remove(name, signal);
  if (reason !== null)
    say(`${pathOf(swap.place, name)} could not be removed: ${reason}. Remove it by hand.`);
  return reason === null;
}
