// Timers of a slot, and a guard against events of an earlier launch.
import type { Leader } from "./process-table.ts";
import type { SlotPorts } from "./slot-ports.ts";

/** Poll interval for adopted processes: the service gets no exit event of a process that is not its child. */
const adoptedPollMs = 250;

export function createSlotTimers({ clock, isAlive }: Pick<SlotPorts, "clock" | "isAlive">) {
  let cancelWait = () => {};
  let cancelWatch = () => {};
  let launches = 0;

  /** Schedules the slot's next step in `delayMs` milliseconds, in place of the one scheduled before. */
  function wait(delayMs: number, run: () => void) {
    cancelWait();
    cancelWait = clock.after(delayMs, run);
  }

  /** Polls whether an adopted process still lives. */
  function watch(process: Leader, ended: () => void) {
    cancelWatch = clock.after(adoptedPollMs, () => {
      if (isAlive(process)) watch(process, ended);
      else ended();
    });
  }

  return {
    wait,
    watch,
    /** Waits between 0 and `maxMs`. Both bounds, because the wall clock may have jumped either way. */
    waitWithin: (delayMs: number, maxMs: number, run: () => void) =>
      wait(Math.min(Math.max(delayMs, 0), maxMs), run),
    cancelWait: () => cancelWait(),
    /** Cancels both timers, and makes guarded functions of earlier launches ineffective. */
    rest() {
      cancelWait();
      cancelWatch();
      launches += 1;
    },
    /** Returns a wrapper for functions, which do nothing once another launch has begun. */
    guardLaunch() {
      const launch = launches;
      return <Args extends unknown[]>(run: (...args: Args) => void) =>
        (...args: Args) => {
          if (launch === launches) run(...args);
        };
    },
  };
}
