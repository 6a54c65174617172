// Measures the rate of a run by the progress in the polls.

type Look = { atMs: number; bytes: number };

/** Long enough for a steady value, short enough to show a slowdown. */
const windowMs = 10_000;
/** Without a change for this long, longer than between two polls, the run has stalled. */
const quietMs = 5_000;

/**
 * Returns a function that records the progress of the last seconds, and returns bytes per second, or null until the
 * count has changed. Calling it again with the same values has no effect, so it is safe while rendering.
 */
export function makeRateMeter() {
  let looks: readonly Look[] = [];
  return (bytes: number, nowMs: number): number | null => {
    const last = looks.at(-1);
    if (last === undefined || bytes < last.bytes) looks = [{ atMs: nowMs, bytes }];
    else if (bytes > last.bytes) {
      const before = last.atMs === nowMs ? looks.slice(0, -1) : looks;
      // The newest sample before the window is kept as its beginning.
      const first = before.findLastIndex(({ atMs }) => atMs <= nowMs - windowMs);
      looks = [...before.slice(Math.max(0, first)), { atMs: nowMs, bytes }];
    }
    const [oldest] = looks;
    const newest = looks.at(-1);
    if (oldest === undefined || newest === undefined || oldest === newest) return null;
    const untilMs = nowMs - newest.atMs > quietMs ? nowMs : newest.atMs;
    return ((newest.bytes - oldest.bytes) * 1000) / (untilMs - oldest.atMs);
  };
}
