// Ends processes that nobody watches: those of a worker that is removed, and strays.
import type { Clock } from "../../clock.ts";
import type { Log } from "../../log.ts";
import { type MarkedProcess, signalProcess } from "./process-table.ts";

const lookMs = 100;
/** How long they have after TERM before they are killed. */
const graceMs = 3000;
/** When to say that something does not even obey KILL (it hangs in the kernel, or is not ours to kill). */
const patienceMs = 10_000;

type Sweep = {
  /** The living processes to end, asked again and again: ended ones may have had children. */
  find: () => MarkedProcess[];
  clock: Clock;
  log: Log;
  /** The service is going, the next one sweeps again. */
  isReleased: () => boolean;
};

const pause = (clock: Clock, ms: number) =>
  new Promise<void>((resolve) => {
    clock.after(ms, resolve);
  });

/** Null where nothing can be seen now, for want of file descriptors or memory. */
function look(find: Sweep["find"]): MarkedProcess[] | null {
  try {
    return find();
  } catch {
    return null;
  }
}

/** Resolves when none is left, or on release. */
export async function sweep({ find, clock, log, isReleased }: Sweep): Promise<void> {
  const asked = new Set<string>();
  // Counted in looks, because the wall clock may jump.
  for (let waitedMs = 0; !isReleased(); waitedMs += lookMs) {
    const left = look(find);
    if (left?.length === 0) return;
    for (const { pid, startTime } of left ?? []) {
      const key = `${pid} ${startTime}`;
      const signal = waitedMs >= graceMs ? "SIGKILL" : "SIGTERM";
      if (signal === "SIGKILL" || !asked.has(key)) signalProcess(pid, signal);
      asked.add(key);
    }
    if (waitedMs === patienceMs)
      log.error({ pids: left?.map(({ pid }) => pid) }, "processes of a worker cannot be ended");
    await pause(clock, lookMs);
  }
}
