// Ends a slot's process: sends the signals, kills at the deadline, and waits until nothing is left.
import type { Program } from "../processes/process-manager.ts";
import type { Leader } from "./process-table.ts";
import { killReason } from "./reasons.ts";
import type { SlotPorts, SlotSweep } from "./slot-ports.ts";

const groupPollMs = 50;
const killAgainMs = 1000;

/**
 * `stop` ends the process and all its descendants. `restart` signals only the process, so that it can finish its job, with what
 * that started. `retire` is for a process without a successor: as `restart`, and then ends what was left behind.
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
      cancelDeadline = clock.after(killAgainMs, () => kill(process)); // a process that was just being forked may miss the first KILL
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
    /** Sends the stop signal; the stop seconds begin. @param process null = only what earlier processes left behind has to end */
    begin(process: Leader | null, kind: EndKind) {
      isKillTold = false;
      isLast = kind === "retire";
      cancelDeadline = clock.after(program().stopwaitsecs * 1000, () => kill(process));
      if (kind === "stop" || process === null) endAll(process);
      else if (program().stopasgroup) ports.signalGroup(process, stopSignal());
      // Only the leader, like `queue:restart`: its job, and what that started, has the stop seconds to end.
      else ports.signalLeader(process, stopSignal());
    },
    /** Turns a restart that is under way into a stop, with the same deadline. */
    widen: endAll,
    /** Whether processes outside the leader's group are being ended; that would end a new process of the slot as well. */
    isStop: () => sweep !== null,
    /** To be called when the leader has ended. Calls `done` once everything that has to end has ended. */
    finish,
    cancel() {
      cancelDeadline();
      cancelPoll();
      sweep?.cancel();
      sweep = null;
    },
  };
}
