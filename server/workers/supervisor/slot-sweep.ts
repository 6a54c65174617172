// Ends what a stop's own signals do not reach: whoever bears the slot's mark and has left the leader's group.
import type { Clock } from "../../clock.ts";
import type { Log } from "../../log.ts";
import { type Leader, type MarkedProcess, signalProcess } from "./process-table.ts";
import type { SlotSweep } from "./slot-ports.ts";

const lookMs = 100;
/** After so many looks it hangs in the kernel, or is not ours to kill: told once, and looked at less often. */
const patientLooks = 100;
const patientLookMs = 1000;
/** One look may miss a child whose pid is below its parent's, because the numbers began anew; the next one sees it. */
const emptyLooks = 2;

type Options = {
  /** Null where nothing runs. */
  leader: Leader | null;
  signal: NodeJS.Signals;
  /** The living processes with the slot's mark; rejects where nothing can be seen now. */
  find(): Promise<readonly MarkedProcess[]>;
  onKill(): void;
  /** What the kernel keeps together for the slot, the leader included; without control groups nothing, and always empty. */
  group: { isEmpty(): boolean; kill(): void };
  clock: Clock;
  log: Log;
};

/** Begins at once. */
export function sweepSlot(options: Options): SlotSweep {
  const { leader, signal, find, onKill, group, clock, log } = options;
  const asked = new Set<string>();
  let done: (() => void) | null = null;
  let isKilling = false;
  let isCanceled = false;
  let isLooking = false;
  let empty = 0;
  let looks = 0;
  let cancelPause = () => {};

  function end(left: readonly MarkedProcess[]) {
    // Until its end the leader's group gets its signals from the stop itself.
    const outside = left.filter(({ group }) => done !== null || group !== leader?.pid);
    if (isKilling && (outside.length > 0 || (done !== null && !group.isEmpty()))) {
      onKill();
      group.kill();
    }
    for (const { pid, startTime } of outside) {
      const key = `${pid} ${startTime}`;
      if (isKilling) signalProcess(pid, "SIGKILL");
      else if (!asked.has(key)) signalProcess(pid, signal);
      asked.add(key);
    }
  }

  async function look() {
    cancelPause();
    if (isLooking || isCanceled) return;
    isLooking = true;
    const left = await find().catch(() => null);
    isLooking = false;
    // Canceled while it looked.
    if (isCanceled as boolean) return;
    if (left !== null) end(left);
    if (done === null) return;
    // What forks fast enough is missed by a look through all processes, but not by the kernel.
    empty = left?.length === 0 && group.isEmpty() ? empty + 1 : 0;
    if (empty === emptyLooks) {
      isCanceled = true;
      done();
      return;
    }
    looks += 1;
    if (looks === patientLooks)
      log.warn({ pids: left?.map(({ pid }) => pid) }, "processes of a worker have not ended yet");
    const pauseMs = looks < patientLooks ? lookMs : patientLookMs;
    if (empty > 0) void look();
    else cancelPause = clock.after(pauseMs, () => void look());
  }

  void look();
  return {
    finish(then) {
      done = then;
      void look();
    },
    kill() {
      isKilling = true;
      void look();
    },
    cancel() {
      isCanceled = true;
      cancelPause();
    },
  };
}
