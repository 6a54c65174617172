// Provides the real clock, which a test can advance, e.g. by days; timers stay real.
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
