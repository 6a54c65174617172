// Cleans up after a restore that failed, so that the old content is back in place.
import { toError } from "../../../to-error.ts";
import type { Attempt } from "../source.ts";
import type { MysqlClient } from "./client.ts";
import { readPlan, undone, writePlan, type Names } from "./plan.ts";
import { endSessions } from "./scratch.ts";

/** Limit of a cleanup, which renames and drops, and is independent of the attempt's signal. */
export const orderLimitMs = 5 * 60_000;

type Order<Plan> = {
  client: MysqlClient;
  names: Pick<Names, "lock" | "planFile">;
  /** The target of the restore, for people. */
  shown: string;
  undo(plan: Plan | null, telling: Pick<Attempt, "say" | "signal">): Promise<void>;
  /** Removes what a completed restore leaves. */
  clean(signal: AbortSignal): Promise<void>;
  /** Sentences about what cannot be restored to its old state. */
  lost: readonly string[];
};

/**
 * Removes leftovers once a restore is undone. Stores that state first, so that a later cleanup does not undo it a second time, over
 * newer data.
 * @param plan of the restore; null = there was none, so nothing was undone
 */
export async function cleanUndone(
  names: Pick<Names, "planFile">,
  plan: object | null,
  clean: () => Promise<void>,
): Promise<void> {
  if (plan !== null) await writePlan(names, undone);
  await clean();
}

/**
 * Undoes a failed restore. Never completes one, because the operator gets the error.
 * @throws `error`, unless the restore was complete and only old tables were left to drop
 */
export async function putInOrder<Plan extends { state: string }>(
  { client, names, shown, undo, clean, lost }: Order<Plan>,
  say: Attempt["say"],
  error: unknown,
): Promise<void> {
  const order = AbortSignal.timeout(orderLimitMs);
  let isDone = false;
  try {
    await client.patiently(async () => {
      await endSessions(client, names, order);
      const plan = await readPlan<Plan>(names);
      isDone = plan?.state === "done";
      if (isDone) return clean(order);
      await undo(plan, { say, signal: order });
      if (plan?.state === "begun") lost.forEach(say);
    }, order);
  } catch (left) {
    say(
      `Couldn't clean up after the restore: ${toError(left).message} Quarterdeck retries before the next backup or restore of ${shown}.`,
    );
  }
  if (!isDone) throw error;
}
