// Puts things in order after a restore that failed, so that the old content is there again.
import { toError } from "../../../to-error.ts";
import type { Attempt } from "../source.ts";
import type { MysqlClient } from "./client.ts";
import { readPlan, undone, writePlan, type Names } from "./plan.ts";
import { endSessions } from "./scratch.ts";

/** Putting things in order is renames and drops, and does not heed the attempt's abort. */
export const orderLimitMs = 5 * 60_000;

type Order<Plan> = {
  client: MysqlClient;
  names: Pick<Names, "lock" | "planFile">;
  /** What the restore was into, for people. */
  shown: string;
  undo(plan: Plan | null, signal: AbortSignal): Promise<void>;
  /** Removes what a restore that was done leaves beside. */
  clean(signal: AbortSignal): Promise<void>;
  /** Sentences on what cannot come back. */
  lost: readonly string[];
};

/**
 * What comes after all is as it was. Where that fails, it is kept that only scratch databases are left, so that nothing is put
 * back a second time, over what came since.
 * @param plan of the restore; null = there was none, so nothing was put back
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
 * Never finishes what failed: the operator is told that it did.
 * @throws `error`, unless all was in place and only old tables were left to drop
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
      await undo(plan, order);
      if (plan?.state === "begun") lost.forEach(say);
    }, order);
  } catch (left) {
    say(
      `Couldn't clean up after the restore: ${toError(left).message} Quarterdeck retries before the next backup or restore of ${shown}.`,
    );
  }
  if (!isDone) throw error;
}
