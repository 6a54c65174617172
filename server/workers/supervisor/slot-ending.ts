// How a slot's process is brought to its end: who is signalled, how long they have, and when nothing is left.
import type { Program } from "../process-manager.ts";
import type { Leader } from "./process-table.ts";
import { killReason } from "./reasons.ts";
import type { SlotPorts, SlotSweep } from "./slot-ports.ts";

const groupPollMs = 50;
const killAgainMs = 1000;

/**
 * A stop is for all that the process started. A restart lets the process end its job, with what that started. So does the
 * end of one that gets no successor, which then ends what was left behind.
 */
export type EndKind = "stop" | "restart" | "retire";

/** @param onKill called with the reason before the first KILL of an ending */
export function createEnding(
  program: () => Program,
  ports: SlotPorts,
  onKill: (reason: string) => void,
) {
  const { clock } = ports;
  let sweep: SlotSweep | null = null;
  let isKillTold = false;
  let isLast = false;
  let cancelDeadline = () => {};
  let cancelPoll = () => {};

  const stopSignal = () => `SIG${program().stopsignal}` as const;

  function tellKill(process: Leader | null) {
    if (isKillTold) return;
    isKillTold = true;
    const reason = killReason(process !== null, program().stopwaitsecs, stopSignal());
    onKill(reason);
    ports.killing(reason, process?.pid ?? null);
  }

  function kill(process: Leader | null) {
    if (process !== null) {
      cancelDeadline = clock.after(killAgainMs, () => kill(process)); // what was just being forked is killed by the next
      if (ports.hasGroup(process)) {
        tellKill(ports.isAlive(process) ? process : null);
        ports.signalGroup(process, "SIGKILL");
      }
    }
    sweep?.kill();
  }

  function endAll(process: Leader | null) {
    if (process !== null) ports.signalGroup(process, stopSignal());
    sweep = ports.sweep(process, stopSignal(), () => tellKill(null));
  }

  function finish(process: Leader | null, done: () => void) {
    cancelPoll();
    if (process !== null && ports.hasGroup(process))
      cancelPoll = clock.after(groupPollMs, () => finish(process, done));
    else {
      if (isLast) sweep ??= ports.sweep(process, stopSignal(), () => tellKill(null));
      if (sweep === null) done();
      else sweep.finish(done);
    }
  }

  return {
    /** Sends the signal; the stop seconds begin. @param process null where nothing runs and only what was left is to end */
    begin(process: Leader | null, kind: EndKind) {
      isKillTold = false;
      isLast = kind === "retire";
      cancelDeadline = clock.after(program().stopwaitsecs * 1000, () => kill(process));
      if (kind === "stop" || process === null) endAll(process);
      else if (program().stopasgroup) ports.signalGroup(process, stopSignal());
      // Alone, as `queue:restart` does: its job, and what that started, has all the stop seconds to end.
      else ports.signalLeader(process, stopSignal());
    },
    /** A restart that is under way becomes a stop, within the time that it has. */
    widen: endAll,
    /** Whether it is a stop that is under way; while it is, the next process would be taken for what was left. */
    isStop: () => sweep !== null,
    /** The leader has ended: calls back once nothing is left that has to be gone. */
    finish,
    cancel() {
      cancelDeadline();
      cancelPoll();
      sweep?.cancel();
      sweep = null;
    },
  };
}
