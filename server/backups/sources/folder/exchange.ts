// Restores a folder that is mounted elsewhere: exchanges its content in place, because another folder of its name would not be visible
// in the mount. For a moment some entries are old and some are new; after a kill, `settle` makes all of them old or new.
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { LocalHost } from "../../../hosts/host.ts";
import { carryRest } from "./carry.ts";
import {
  applyAttributes,
  beginExchange,
  commitExchange,
  isExchangeLeft,
  namesOf,
  settleExchange,
  takeAttributes,
  type Exchange,
} from "./exchange-steps.ts";
import type { Filling } from "./extract.ts";
import { removeFolder, tidying } from "./place.ts";
import { flushToDisk, stillThere, type Settled } from "./swap-steps.ts";
import { reviveSourceError, SourceError, type Attempt } from "../source.ts";
import { toError } from "../../../to-error.ts";

/** @param root its real path @throws SourceError, the error of `from`, or an abort; the folder is unchanged then */
export async function exchangeFolder(
  host: LocalHost,
  root: string,
  from: Readable,
  attempt: Attempt,
  { extract, carry }: Filling,
): Promise<void> {
  const exchange = { root, id: attempt.id };
  const { signal, say } = attempt;
  try {
    await settleInside(host, root, attempt);
    if (await host.perform(isExchangeLeft, exchange, { signal })) throw new SourceError(stillThere);
  } catch (error) {
    from.destroy();
    throw reviveSourceError(error);
  }
  try {
    await host.perform(beginExchange, exchange, { signal });
    await extract(host, from, join(root, namesOf(exchange).fresh), attempt);
    await carry?.(root, join(root, namesOf(exchange).fresh), "before", signal);
    await flushToDisk(host, root);
    signal.throwIfAborted();
    // Not the attempt's signal: after an abort, it would be unknown whether the step was done.
    await host.perform(commitExchange, exchange, { signal: tidying() });
    await carryRest(carry, join(root, namesOf(exchange).old), root, attempt);
    await finish(host, exchange, attempt);
  } catch (error) {
    from.destroy();
    const ending = { ...attempt, signal: tidying() };
    const settled = await settleInside(host, root, ending).catch((reason: Error): Settled => {
      say(reason.message);
      return "unknown";
    });
    if (settled !== "restored") throw reviveSourceError(error);
    say(`The restored content is in place, with a problem: ${toError(error).message}`);
  }
}

/** @returns null where nothing of an exchange is there @throws SourceError */
export async function settleInside(
  host: LocalHost,
  root: string,
  attempt: Attempt,
): Promise<Settled | null> {
  const exchange = { root, id: attempt.id };
  try {
    const found = await host.perform(settleExchange, exchange, { signal: attempt.signal });
    if (found === null) return null;
    if (found.state === "restored") await finish(host, exchange, attempt);
    else for (const name of found.left) await clearAway(host, join(root, name), attempt);
    return found.state;
  } catch (error) {
    throw reviveSourceError(error);
  }
}

/** Gives the folder itself the attributes of the archive, and removes the old content. */
async function finish(host: LocalHost, exchange: Exchange, attempt: Attempt): Promise<void> {
  const { root } = exchange;
  const { ready, old, fresh } = namesOf(exchange);
  const signal = tidying();
  // By cp, because Node cannot copy access lists and extended attributes.
  const argv = ["cp", "-a", "--attributes-only", "-T", "--", join(root, ready), root] as const;
  const { exitCode, stderr } = await host.run({ argv, signal });
  const attributes = await host.perform(takeAttributes, exchange, { signal });
  if (attributes !== null && exitCode !== 0)
    attempt.say(`Not all attributes of ${root} itself came back: ${stderr.trim()}`);
  for (const name of [fresh, old]) await clearAway(host, join(root, name), attempt);
  if (attributes !== null) await host.perform(applyAttributes, { root, ...attributes }, { signal });
}

/** Removes a folder. A failure is only reported: the folder takes space, but does no other harm. */
async function clearAway(host: LocalHost, folder: string, { say }: Attempt): Promise<void> {
  const reason = await removeFolder(host, folder, tidying());
  if (reason !== null) say(`${folder} could not be removed: ${reason}. Remove it by hand.`);
}
