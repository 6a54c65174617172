// Decides when to poll next, by one rule for all pages.
import { isInTransit } from "../../contract/states.ts";

type Stateful = { id: number; status: string };

/** While something is in transit: polls every `everyMs` until that has lasted `untilMs`. */
const pace = [
  { untilMs: 10_000, everyMs: 500 },
  { untilMs: 30_000, everyMs: 1_000 },
  { untilMs: 120_000, everyMs: 3_000 },
] as const;

/** Interval for what is in transit for longer, and so slow or stuck. */
const draggingMs = 10_000;

/** Interval of a list with nothing in transit, which others may change. */
export const listFloorMs = 10_000;

/** How long after an action a service is polled more often, because it may not show the effect at once. */
const newsMs = 10_000;
const newsEveryMs = 1_000;
let orderedMs = Number.NEGATIVE_INFINITY;

/** Called after an action. */
export function expectNews(nowMs: number = Date.now()): void {
  orderedMs = nowMs;
}

/**
 * Milliseconds until the next poll, false = no poll.
 * @param elapsedMs how long ago the newest transition was first seen
 * @param settledMs the answer while nothing moves
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
 * Remembers since when things move, which the items themselves do not say, and asks `pollMs`.
 * The time starts anew when a transition appears that was not there before: one row that is stuck must
 * not slow down another that has just begun, and one that ends must not hurry the others.
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
