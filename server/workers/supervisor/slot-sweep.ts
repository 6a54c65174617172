// Ends the processes that a stop's own signals do not reach: those with the slot's mark outside the leader's group.
import type { Clock } from "../../clock.ts";
import type { Log } from "../../log.ts";
import { type Leader, type MarkedProcess, signalProcess } from "./process-table.ts";
import type { SlotSweep } from "./slot-ports.ts";

const lookMs = 100;
/** After this many scans, the rest hangs in the kernel or may not be killed: logged once, and scanned less often. */
const patientLooks = 100;
const patientLookMs = 1000;
/** Scans without a finding until done: one may miss a child with a lower pid than its parent (pids wrap around). */
const emptyLooks = 2;

type Options = {
  /** Null where no process of the slot runs. */
  leader: Leader | null;
  signal: NodeJS.Signals;
  /** Finds the living processes with the slot's mark; rejects where /proc cannot be read now. */
  find(): Promise<readonly MarkedProcess[]>;
  onKill(): void;
  /** The slot's control group, the leader included; always empty where there are no control groups. */
  group: { isEmpty(): boolean; kill(): void };
  clock: Clock;
  log: Log;
};

/** Starts the sweep. */
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
    // Until the leader's group has ended, the stop itself signals it.
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
    // The cast keeps TypeScript from assuming that `isCanceled` is still false after the await.
    if (isCanceled as boolean) return;
    if (left !== null) end(left);
    if (done === null) return;
    // A scan of all processes may miss those that fork quickly; the control group does not.
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
