// The real clock, ahead by as much as a test wants: what is due in five days is due now, and waits stay real.
import { systemClock, type Clock } from "../clock.ts";

export function createShiftedClock(): Clock & { ahead(ms: number): void } {
  let aheadMs = 0;
  return {
    now: () => systemClock.now() + aheadMs,
    after: systemClock.after,
    ahead(ms) {
      aheadMs += ms;
    },
  };
}
