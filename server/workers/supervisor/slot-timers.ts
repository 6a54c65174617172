// A slot's timers, and which launch the events of a process belong to.
import type { Leader } from "./process-table.ts";
import type { SlotPorts } from "./slot-ports.ts";

/** A process that is not our child tells nobody that it ended. */
const adoptedPollMs = 250;

export function createSlotTimers({ clock, isAlive }: Pick<SlotPorts, "clock" | "isAlive">) {
  let cancelWait = () => {};
  let cancelWatch = () => {};
  let launches = 0;

  /** Takes the slot's next step in `delayMs` milliseconds, instead of the one that was waited for. */
  function wait(delayMs: number, run: () => void) {
    cancelWait();
    cancelWait = clock.after(delayMs, run);
  }

  /** Looks every 250 ms whether a process that is not our child still lives. */
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
    /** Cancels both timers; events of what was launched before are none of the slot's any more. */
    rest() {
      cancelWait();
      cancelWatch();
      launches += 1;
    },
    /** Makes functions that do nothing once the launch of this moment is no longer the present one. */
    guardLaunch() {
      const launch = launches;
      return <Args extends unknown[]>(run: (...args: Args) => void) =>
        (...args: Args) => {
          if (launch === launches) run(...args);
        };
    },
  };
}
