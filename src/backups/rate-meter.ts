// How fast a run goes, from what the polls have shown.

type Look = { atMs: number; bytes: number };

/** Long enough to be steady, short enough to show that it has become slower. */
const windowMs = 10_000;
/** Between two polls nothing is news; beyond that it has come to a stop. */
const quietMs = 5_000;

/**
 * Keeps the changes of the last seconds. The function it makes answers bytes a second, null until it has seen the count
 * change. The same look twice changes nothing, so a render may ask as often as it likes.
 */
export function makeRateMeter() {
  let looks: readonly Look[] = [];
  return (bytes: number, nowMs: number): number | null => {
    const last = looks.at(-1);
    if (last === undefined || bytes < last.bytes) looks = [{ atMs: nowMs, bytes }];
    else if (bytes > last.bytes) {
      const before = last.atMs === nowMs ? looks.slice(0, -1) : looks;
      // The newest look before the window stays: it is where the window begins.
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
