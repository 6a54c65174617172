// One process of a worker that supervisord keeps up: its wanted state, its state in supervisord, and the next step between the
// two. A slot takes no step itself, so that after an interrupted step, the next poll determines what is still to be done.
import type { ProcessStatus } from "../processes/process-manager.ts";
import { type ProcessExit, unknownExit } from "./exits.ts";
import type { Observed } from "./observed.ts";
import type { SlotRecord } from "./records.ts";
import { createSeenProcess, type SeenProcessPorts } from "./seen-process.ts";
import { createSlotEnding } from "./slot-ending.ts";
import { createSlotOrders } from "./slot-orders.ts";
import { isKept, type Step } from "./slot-step.ts";

/** `changed` may call back into the slot. */
type SlotPorts = SeenProcessPorts & {
  /** Returns the section of the program file with the current settings; or why there is none. */
  target(): string | { problem: string };
  /** Called when a stop or restart needed SIGKILL. */
  killing(reason: string): void;
};

export type Slot = ReturnType<typeof createSlot>;

export function createSlot(number: number, ports: SlotPorts) {
  let wanted = false;
  /** Whether a start was ordered that supervisord does not show yet. */
  let isStartDue = false;
  /** Whether supervisord has the group of the process; null = not polled yet. */
  let isThere: boolean | null = null;
  /** The process's section in the program file, which is what supervisord has while the group exists. */
  let section: string | null = null;
  /** Whether the file was changed on the server, so that supervisord may have read other settings. */
  let isEdited = false;

  /** Whether supervisord may count failed starts, which it does until a start succeeds or is given up, also across a stop. */
  let isCounting = false;

  /** The wanted program at the time of the current poll's request. */
  let asked = ports.program();
  /** The wanted program at the last poll or step: a run that is seen for the first time began after that. */
  let startedFor = asked;

  const isAsWanted = () => !isEdited && section === ports.target();

  /** Whether the process may have been started before the newest order or deployment. */
  function isOutstanding(): boolean {
    const { order, requiredDeployment } = ports.program();
    return (
      (order ?? 0) > (startedFor.order ?? 0) ||
      (requiredDeployment ?? 0) > (startedFor.deployment ?? 0)
    );
  }

  const shown = createSeenProcess(ports, {
    isUp: () => wanted && !ending.isUnderWay() && !isStartDue,
    isEnding: () => ending.isUnderWay(),
    isStart: () => isStartDue || ending.isUnderWay(),
    isAsWanted,
    startedFor: () => startedFor,
    noteStart() {
      isStartDue = false;
    },
    noteReturn(isOrdered) {
      const isBack = ending.comesBack();
      if (isOrdered && wanted && (isBack || !ending.isUnderWay()) && isOutstanding())
        ending.repeat(!shown.startedAs().stopasgroup);
      else if (isBack) ending.finish();
    },
  });
  const { state, pid, hasProcess } = shown;
  const ending = createSlotEnding({
    nowMs: ports.nowMs,
    startedAs: shown.startedAs,
    isAsWanted,
    onKill(why) {
      shown.noteKill(why);
      ports.killing(why);
    },
  });
  const orders = createSlotOrders({
    program: ports.program,
    startedAs: shown.startedAs,
    history: shown.history,
    state,
    hasProcess,
    isThere: () => isThere,
    isWanted: () => wanted,
    isEnding: ending.isUnderWay,
    want(isUp) {
      wanted = isUp;
    },
    setStartDue(isDue) {
      isStartDue = isDue;
    },
    end({ isGentle, isFinal }) {
      if (!ending.isUnderWay()) shown.forgetKill();
      return ending.begin(isGentle, isFinal);
    },
    cancelUntold: ending.cancelUntold,
  });

  function noteCount() {
    if (state() === "STARTING" || state() === "BACKOFF") isCounting = true;
    else if (isThere === false || (state() !== "STOPPING" && state() !== "STOPPED"))
      isCounting = false;
  }

  /** Completes a stop or restart once the process has ended. */
  function checkEnding() {
    if (!ending.isUnderWay()) return;
    if (isThere !== false && !isOver({ pid: pid(), state: state() })) return;
    if (wanted) isStartDue = true;
    if (wanted || isThere === false) ending.finish();
  }

  return {
    number,
    ...orders,
    hasProcess,

    /** @returns null where no step is needed now */
    nextStep(): Step | null {
      if (isThere === null) return null;
      if (isThere && (ending.isUnderWay() || !wanted))
        return ending.nextStep({ state: state(), pid: pid() }, wanted);
      if (!wanted || !isStartDue) return null;
      if (!isThere) return { kind: "addGroup" };
      if (isKept(state()) || state() === "STOPPING") return null;
      return isAsWanted() && !isCounting ? { kind: "start" } : { kind: "removeGroup" };
    },

    target: ports.target,
    /** Whether no order is under way that changes the section. */
    isSettled: () => !ending.isUnderWay() && !isStartDue,
    /** Returns the process's section in the file; null = none. */
    section: () => section,
    setSection(text: string | null) {
      section = text;
      isEdited = false;
    },
    noteEdit() {
      isEdited = true;
    },
    isThere: () => isThere !== false,
    /** Whether the state is expected to change soon, so that supervisord is polled often. */
    isBusy: () =>
      ending.isUnderWay() ||
      isStartDue ||
      (state() !== "RUNNING" && state() !== "STOPPED" && state() !== "FATAL"),
    /** Whether a run has ended since the last poll. */
    hasEnded: (seen: Observed) =>
      isThere !== null && (shown.hasEnded(seen) || (ending.isOverdue() && isOver(seen))),

    /** Continues from the record of an earlier run of the service. To be called before the first poll. */
    resume(record: SlotRecord | null, up: boolean) {
      wanted = up;
      isStartDue = up;
      if (record !== null) shown.restore(record);
      noteCount();
    },

    /** To be called before each poll. */
    looks() {
      asked = ports.program();
    },

    /** Stores the result of a poll. @param seen null = supervisord has no such group */
    observe(seen: Observed | null, seenExit: ProcessExit | null) {
      const wasThere = isThere;
      isThere = seen !== null;
      // Before `shown` reports the end, so that the reason of a kill is already known.
      if (ending.isUnderWay() && (seen === null || isOver(seen)))
        ending.noteEnd(seenExit ?? unknownExit);
      if (seen === null) shown.takeAbsence(wasThere);
      else shown.take(seen, seenExit, wasThere === null);
      noteCount();
      startedFor = asked;
      checkEnding();
    },

    /** To be called before a step is sent to supervisord. */
    tells(step: Step) {
      startedFor = ports.program();
      ending.tells(step);
    },

    /** To be called after supervisord has accepted a step. */
    noteStep(step: Step) {
      switch (step.kind) {
        case "kill":
          ending.noteKill();
          shown.enter("STOPPING");
          return;
        case "stop":
          // In BACKOFF there is no process to end.
          if (state() !== "BACKOFF") shown.enter("STOPPING", null);
          return;
        case "signal":
          ending.noteSignal(pid());
          return;
        case "removeGroup":
          isThere = false;
          isCounting = false;
          section = null;
          checkEnding();
          return;
        case "addGroup":
          isThere = true;
          return;
        case "start":
      }
    },

    /** Whether the step replaces a process by one of another section or group, which supervisord has to read first. */
    needsReading: ({ kind }: Step) =>
      (kind === "stop" || kind === "signal") &&
      wanted &&
      (isCounting || hasProcess()) &&
      // During a rolling change, the slot has the new settings only once its process has ended, hence `isFinal`.
      (isCounting || ending.isFinal() || !isAsWanted()),

    /** To be called when a start is not possible. @param why a sentence */
    refuse(why: string) {
      isStartDue = false;
      shown.refuse(why);
    },

    record: shown.record,
    status: (): ProcessStatus => ({ number, ...shown.status() }),
  };
}

/** Whether the process has ended and supervisord will not start it again by itself. */
const isOver = ({ pid, state }: Pick<Observed, "pid" | "state">) =>
  pid === null && !isKept(state) && state !== "STOPPING";
