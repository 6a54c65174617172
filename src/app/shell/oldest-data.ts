import { oldMs } from "../routing/kept-cache.ts";
import type { Query, QueryCache } from "@tanstack/react-query";

/** Returns the shortest interval at which a query is polled; 0 = it is not polled. */
function pollMsOf(query: Query): number {
  const intervals = query.observers
    .map(({ options: { refetchInterval: every } }) =>
      typeof every === "function" ? every(query) : every,
    )
    .filter((ms) => typeof ms === "number");
  return intervals.length === 0 ? 0 : Math.min(...intervals);
}

/**
 * Returns when the oldest data on screen was read that is now being refetched; null = none of it is old. Polled data is
 * old once a poll was missed: otherwise a slow poll would find its data old each time.
 */
export function readOldest(cache: QueryCache, nowMs: number): number | null {
  const moments = cache
    .findAll({ type: "active", fetchStatus: "fetching" })
    .filter((query) => {
      const ageMs = nowMs - query.state.dataUpdatedAt;
      return query.state.dataUpdatedAt > 0 && ageMs > oldMs && ageMs > 2 * pollMsOf(query);
    })
    .map(({ state }) => state.dataUpdatedAt);
  return moments.length === 0 ? null : Math.min(...moments);
}
