// One process of a worker as supervisord keeps it: what it is to be, what supervisord says it is, and the next step from
// the one to the other. It does nothing by itself, so that a step that was cut off is found again by looking.
import type { ProcessStatus } from "../process-manager.ts";
import { type ProcessExit, unknownExit } from "./exits.ts";
import type { Observed } from "./observed.ts";
import type { SlotRecord } from "./records.ts";
import { createSeenProcess, type SeenProcessPorts } from "./seen-process.ts";
import { createSlotEnding } from "./slot-ending.ts";
import { createSlotOrders } from "./slot-orders.ts";
import { isKept, type Step } from "./slot-step.ts";

/** `changed` may call back into the slot. */
type SlotPorts = SeenProcessPorts & {
  /** Its section of the program file as it would be started now; or why there is none. */
  target(): string | { problem: string };
  /** A stop or restart ended in a KILL. */
  killing(reason: string): void;
};

export type Slot = ReturnType<typeof createSlot>;

export function createSlot(number: number, ports: SlotPorts) {
  let wanted = false;
  /** A start was asked for that supervisord does not show yet. */
  let isStartDue = false;
  /** supervisord has its group; null = nobody has looked yet. */
  let isThere: boolean | null = null;
  /** Its section in the file, which is what supervisord has as long as the group is there. */
  let section: string | null = null;
  /** Somebody else changed the file, and supervisord may have read that since. */
  let isEdited = false;

  /** What it was to be when the look was asked for that comes next. */
  let asked = ports.program();
  /** What it was to be at a moment when no run had begun that is still to be seen. */
  let startedFor = asked;

  const isAsWanted = () => !isEdited && section === ports.target();

  /** Whether something was asked for that what is seen now may have been started before. */
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

  /** Whether what was to end has. */
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

    /** @returns null where there is nothing to do but to look again */
    nextStep(): Step | null {
      if (isThere === null) return null;
      if (isThere && (ending.isUnderWay() || !wanted))
        return ending.nextStep({ state: state(), pid: pid() }, wanted);
      if (!wanted || !isStartDue) return null;
      if (!isThere) return { kind: "addGroup" };
      if (isKept(state()) || state() === "STOPPING") return null;
      return isAsWanted() ? { kind: "start" } : { kind: "removeGroup" };
    },

    target: ports.target,
    /** Whether nothing is on its way that changes its section. */
    isSettled: () => !ending.isUnderWay() && !isStartDue,
    /** What is in the file for it; null = nothing. */
    section: () => section,
    setSection(text: string | null) {
      section = text;
      isEdited = false;
    },
    noteEdit() {
      isEdited = true;
    },
    isThere: () => isThere !== false,
    /** Whether it is on its way somewhere, so that it is worth it to look often. */
    isBusy: () =>
      ending.isUnderWay() ||
      isStartDue ||
      (state() !== "RUNNING" && state() !== "STOPPED" && state() !== "FATAL"),
    /** Whether this look shows that a run has ended since the last one. */
    hasEnded: (seen: Observed) =>
      isThere !== null && (shown.hasEnded(seen) || (ending.isOverdue() && isOver(seen))),

    /** Before anything was seen: what an earlier life of the service wrote down. */
    resume(record: SlotRecord | null, up: boolean) {
      wanted = up;
      isStartDue = up;
      if (record !== null) shown.restore(record);
    },

    /** supervisord is about to be asked. */
    looks() {
      asked = ports.program();
    },

    /** Takes in what supervisord says; null = it has no such group. */
    observe(seen: Observed | null, seenExit: ProcessExit | null) {
      const wasThere = isThere;
      isThere = seen !== null;
      // Before anybody is told of the end.
      if (ending.isUnderWay() && (seen === null || isOver(seen)))
        ending.noteEnd(seenExit ?? unknownExit);
      if (seen === null) shown.takeAbsence(wasThere);
      else shown.take(seen, seenExit, wasThere === null);
      startedFor = asked;
      checkEnding();
    },

    /** A step is about to be given to supervisord. */
    tells(step: Step) {
      startedFor = ports.program();
      ending.tells(step);
    },

    /** A step was given to supervisord. */
    noteStep(step: Step) {
      switch (step.kind) {
        case "kill":
          ending.noteKill();
          shown.enter("STOPPING");
          return;
        case "stop":
          // One that waits for its next start has nothing to end.
          if (state() !== "BACKOFF") shown.enter("STOPPING", null);
          return;
        case "signal":
          ending.noteSignal(pid());
          return;
        case "removeGroup":
          isThere = false;
          section = null;
          checkEnding();
          return;
        case "addGroup":
          isThere = true;
          return;
        case "start":
      }
    },

    /** Whether what runs would have to be added to supervisord once more after this step, otherwise than it is now. */
    needsReading: ({ kind }: Step) =>
      (kind === "stop" || kind === "signal") &&
      wanted &&
      hasProcess() &&
      // The settings of its successor are its own only once it has ended.
      (ending.isFinal() || !isAsWanted()),

    /** A start that is not possible. @param why a sentence */
    refuse(why: string) {
      isStartDue = false;
      // As of a start that failed: it is what it was to be started with that is refused.
      shown.history.starts(ports.program());
      shown.enter("FATAL", why);
    },

    record: shown.record,
    status: (): ProcessStatus => ({ number, ...shown.status() }),
  };
}

/** Nothing of it is left, and nothing comes by itself. */
const isOver = ({ pid, state }: Pick<Observed, "pid" | "state">) =>
  pid === null && !isKept(state) && state !== "STOPPING";
