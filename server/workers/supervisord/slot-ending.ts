// Ends a process that supervisord keeps up: the requests to supervisord, the deadline, and the promises of those who wait.
import type { ProcessState } from "../../../contract/workers/worker.ts";
import type { Program } from "../processes/process-manager.ts";
import { killReason } from "../supervisor/reasons.ts";
import type { ProcessExit } from "./exits.ts";
import { isKept, type Step } from "./slot-step.ts";

/** A stop or restart that is under way. */
type Ending = {
  /** Whether only the process itself is signaled, so that it can finish its job. */
  isGentle: boolean;
  /** Whether supervisord must not start the successor by itself. */
  isFinal: boolean;
  /** Pid that the signal was sent to; null = none yet. */
  signaled: number | null;
  /** When the request was sent, not when its response came: supervisord's own deadline begins between the two. */
  sentAtMs: number | null;
  isKillTold: boolean;
  /** Whether a stop was requested: supervisord then starts no successor by itself, and may have stopped one that it had just started. */
  isStopTold: boolean;
  /** Whether a request was sent: even without a response, supervisord may carry it out later. */
  isTold: boolean;
};

type EndingPorts = {
  nowMs(): number;
  /** Returns the program that the process was started with. */
  startedAs(): Program;
  /** Whether supervisord has the current settings of the process. */
  isAsWanted(): boolean;
  /** Called once if the process had to be killed. */
  onKill(reason: string): void;
};

/** What supervisord shows of the process. */
type Shown = { state: ProcessState; pid: number | null };

export function createSlotEnding({ nowMs, startedAs, isAsWanted, onKill }: EndingPorts) {
  const begun = {
    signaled: null,
    sentAtMs: null,
    isKillTold: false,
    isStopTold: false,
    isTold: false,
  };
  let ending: Ending | null = null;
  let waiting: (() => void)[] = [];

  function finish() {
    ending = null;
    const resolve = waiting;
    waiting = [];
    for (const done of resolve) done();
  }

  const isOverdue = () =>
    ending !== null &&
    ending.sentAtMs !== null &&
    nowMs() - ending.sentAtMs >= startedAs().stopwaitsecs * 1000;

  function tellKill() {
    if (ending === null || ending.isKillTold) return;
    ending.isKillTold = true;
    const { stopwaitsecs, stopsignal } = startedAs();
    onKill(killReason(true, stopwaitsecs, `SIG${stopsignal}`));
  }

  return {
    /** Whether the stop seconds are over, so that supervisord may have killed the process. */
    isOverdue,
    isUnderWay: () => ending !== null,
    /** Whether supervisord must not start the successor by itself. */
    isFinal: () => ending?.isFinal === true,
    /** Whether supervisord starts the successor by itself, which completes the restart. */
    comesBack: () =>
      ending !== null &&
      !ending.isFinal &&
      ending.signaled !== null &&
      !ending.isStopTold &&
      isAsWanted(),
    finish,

    /** Begins a stop or restart. Resolves when the process has ended, and its successor, if any, is being started. */
    begin(isGentle: boolean, isFinal: boolean): Promise<void> {
      // Turns a restart that is under way into a stop, with the same deadline.
      ending = {
        ...(ending ?? begun),
        isGentle: isGentle && ending?.isGentle !== false,
        isFinal: isFinal || ending?.isFinal === true,
      };
      return new Promise<void>((resolve) => waiting.push(resolve));
    },

    /** Ends the successor as well, because it is outdated already; the promises stay pending. */
    repeat(isGentle: boolean) {
      ending = { ...begun, isGentle, isFinal: false };
    },

    /** Cancels a stop or restart of which no request was sent to supervisord. */
    cancelUntold() {
      if (ending?.isTold === false) finish();
    },

    tells({ kind }: Step) {
      if (ending === null) return;
      ending.isTold = true;
      if (kind === "stop" || kind === "kill") ending.isStopTold = true;
      if (kind === "stop") ending.sentAtMs ??= nowMs();
      if (kind === "signal") ending.sentAtMs = nowMs();
    },

    /** Returns the next step of a stop or restart. @param wanted whether a successor should be started */
    nextStep({ state, pid }: Shown, wanted: boolean): Step | null {
      if (state === "STOPPING" || state === "EXITED") return null;
      if (!isKept(state)) return wanted ? null : { kind: "removeGroup" };
      if (ending === null || !ending.isGentle || state !== "RUNNING") return { kind: "stop" };
      if (ending.signaled === null) return { kind: "signal", signal: startedAs().stopsignal };
      if (pid === null || ending.signaled !== pid) return { kind: "stop" };
      return isOverdue() ? { kind: "kill", pid } : null;
    },

    noteSignal(pid: number | null) {
      if (ending !== null) ending.signaled = pid;
    },
    noteKill: tellKill,
    /** To be called when the process has ended. Reports a kill by supervisord; if the exit is unknown, by the elapsed time. */
    noteEnd({ code, signal }: ProcessExit) {
      const isOwn = code !== null || (signal !== null && signal !== "SIGKILL");
      if (isOverdue() && !isOwn) tellKill();
    },
  };
}
