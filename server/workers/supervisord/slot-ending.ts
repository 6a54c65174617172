// How a process that supervisord keeps is brought to its end: what is asked of supervisord, how long the process has, and
// who waits for that.
import type { ProcessState } from "../../../contract/workers/worker.ts";
import type { Program } from "../process-manager.ts";
import { killReason } from "../supervisor/reasons.ts";
import type { ProcessExit } from "./exits.ts";
import { isKept, type Step } from "./slot-step.ts";

/** A process on its way down. */
type Ending = {
  /** Its job may end first: the process alone is signaled. */
  isGentle: boolean;
  /** supervisord is not to start it again by itself meanwhile. */
  isFinal: boolean;
  /** Whom the signal was sent to. */
  signaled: number | null;
  /** When supervisord was asked, not when it answered: its own time runs from in between. */
  sentAtMs: number | null;
  isKillTold: boolean;
  /** Asked to stop it, supervisord starts nothing by itself, and may have stopped what it had just started. */
  isStopTold: boolean;
  /** supervisord may know of it: also where it did not answer, it may do what it was asked to once it goes on. */
  isTold: boolean;
};

type EndingPorts = {
  nowMs(): number;
  /** What the process was started as. */
  startedAs(): Program;
  /** Whether supervisord would start it as it is to be. */
  isAsWanted(): boolean;
  /** Once, where it had to be killed. */
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
    /** Whether it has had its stop seconds, so that supervisord may have killed it. */
    isOverdue,
    isUnderWay: () => ending !== null,
    /** Whether its successor is started by an order, and not by supervisord itself. */
    isFinal: () => ending?.isFinal === true,
    /** Whether supervisord starts it again by itself, which ends the ending. */
    comesBack: () =>
      ending !== null &&
      !ending.isFinal &&
      ending.signaled !== null &&
      !ending.isStopTold &&
      isAsWanted(),
    finish,

    /** @returns resolves when what runs is gone, and its successor on its way where there is to be one */
    begin(isGentle: boolean, isFinal: boolean): Promise<void> {
      // A restart that is under way becomes a stop, within the time that it has.
      ending = {
        ...(ending ?? begun),
        isGentle: isGentle && ending?.isGentle !== false,
        isFinal: isFinal || ending?.isFinal === true,
      };
      return new Promise<void>((resolve) => waiting.push(resolve));
    },

    /** What came back is to end as well; who waits for the end goes on waiting. */
    repeat(isGentle: boolean) {
      ending = { ...begun, isGentle, isFinal: false };
    },

    /** One that supervisord was not told of leaves no trace. */
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

    /** What is to be done next about a process that is not to be as it is. @param wanted whether it is to come back */
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
    /** The process has ended. supervisord kills by itself; where its log does not say how it ended, time does. */
    noteEnd({ code, signal }: ProcessExit) {
      const isOwn = code !== null || (signal !== null && signal !== "SIGKILL");
      if (isOverdue() && !isOwn) tellKill();
    },
  };
}
