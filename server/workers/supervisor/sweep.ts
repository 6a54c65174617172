// Ends processes that belong to no slot: those of a removed worker, and strays.
import type { Clock } from "../../clock.ts";
import type { Log } from "../../log.ts";
import { type MarkedProcess, signalProcess } from "./process-table.ts";

const lookMs = 100;
/** How long processes may take to end after SIGTERM before they are killed. */
const graceMs = 3000;
/** When to log that a process has survived SIGKILL (it hangs in the kernel, or may not be killed). */
const patienceMs = 10_000;

type Sweep = {
  /** Finds the living processes to end. Called repeatedly, because they may have started others. */
  find: () => MarkedProcess[];
  clock: Clock;
  log: Log;
  /** Whether the service is stopping; its next start sweeps again. */
  isReleased: () => boolean;
};

const pause = (clock: Clock, ms: number) =>
  new Promise<void>((resolve) => {
    clock.after(ms, resolve);
  });

/** Returns null where /proc cannot be read now, for lack of file descriptors or memory. */
function look(find: Sweep["find"]): MarkedProcess[] | null {
  try {
    return find();
  } catch {
    return null;
  }
}

/** Resolves when no process is left, or when the service is stopping. */
export async function sweep({ find, clock, log, isReleased }: Sweep): Promise<void> {
  const asked = new Set<string>();
  // Counts scans, because the wall clock may jump.
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
