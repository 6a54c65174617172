// How often to poll: one rule for every page. See "Dashboard habits" in the house style.
import { isInTransit } from "../../contract/states.ts";

type Stateful = { id: number; status: string };

/** While a row is in transit: poll every `everyMs` until it has been in transit for `untilMs`. */
const pace = [
  { untilMs: 10_000, everyMs: 500 },
  { untilMs: 30_000, everyMs: 1_000 },
  { untilMs: 120_000, everyMs: 3_000 },
] as const;

/** A transition that takes longer is stuck or slow; fast polling does not help. */
const draggingMs = 10_000;

/** Interval for a list without rows in transit, which other users may change. */
export const listFloorMs = 10_000;

/**
 * After an action, a service may briefly show neither a state in transit nor the result, so polling is fast for this
 * long.
 */
const newsMs = 10_000;
const newsEveryMs = 1_000;
let orderedMs = Number.NEGATIVE_INFINITY;

/** Records that an action was just sent to the service. */
export function expectNews(nowMs: number = Date.now()): void {
  orderedMs = nowMs;
}

/**
 * Returns the milliseconds until the next poll; false = no poll.
 * @param elapsedMs how long ago the newest transition was first seen
 * @param settledMs returned while nothing is in transit
 */
export function pollMs(
  items: readonly { status: string }[],
  elapsedMs: number,
  settledMs: number | false = listFloorMs,
): number | false {
  if (!items.some(({ status }) => isInTransit(status))) return settledMs;
  return pace.find(({ untilMs }) => elapsedMs < untilMs)?.everyMs ?? draggingMs;
}

/**
 * Records since when rows are in transit, which the rows themselves do not say, and calls `pollMs`. The time restarts
 * when a new transition appears: a stuck row must not slow down polling for a new one, and a row that ends must not
 * speed it up for the others.
 */
export function makePoller(nowMs: () => number = Date.now) {
  let seen: ReadonlySet<string> = new Set();
  let sinceMs = 0;
  return (items: readonly Stateful[], settledMs?: number | false): number | false => {
    const moving = items
      .filter(({ status }) => isInTransit(status))
      .map(({ id, status }) => `${id} ${status}`);
    if (moving.some((key) => !seen.has(key))) sinceMs = nowMs();
    seen = new Set(moving);
    const isNewsDue = nowMs() - orderedMs < newsMs;
    return pollMs(items, nowMs() - sinceMs, isNewsDue ? newsEveryMs : settledMs);
  };
}
