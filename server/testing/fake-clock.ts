// Provides a clock that a test advances.
import type { Clock } from "../clock.ts";

type FakeClock = Clock & {
  /** Advances the clock, and runs the timers that fall due, in order. */
  advance(ms: number): void;
  /** Moves the wall clock by `ms`; timers are not affected, like those of `systemClock`. */
  jump(ms: number): void;
};

export function createFakeClock(startMs = 1_700_000_000_000): FakeClock {
  let wallMs = startMs;
  let elapsedMs = 0;
  let timers: { dueMs: number; run: () => void }[] = [];
  return {
    now: () => wallMs,
    after(delayMs, run) {
      const timer = { dueMs: elapsedMs + delayMs, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance(ms) {
      const endMs = elapsedMs + ms;
      for (;;) {
        const next = timers
          .filter(({ dueMs }) => dueMs <= endMs)
          .sort((a, b) => a.dueMs - b.dueMs)[0];
        const stepMs = (next?.dueMs ?? endMs) - elapsedMs;
        elapsedMs += stepMs;
        wallMs += stepMs;
        if (next === undefined) return;
        timers = timers.filter((other) => other !== next);
        next.run();
      }
    },
    jump(ms) {
      wallMs += ms;
    },
  };
}
