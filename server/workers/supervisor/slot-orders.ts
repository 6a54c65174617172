// What a slot can be asked for, and what that means in each of its states.
import type { ProcessState } from "../../../contract/workers/worker.ts";
import type { Program } from "../process-manager.ts";
import type { Leader } from "./process-table.ts";
import type { RunHistory } from "./run-history.ts";
import type { EndKind } from "./slot-ending.ts";

type SlotSteps = {
  program(): Program;
  history: RunHistory;
  state(): ProcessState;
  leader(): Leader | null;
  /** Whether it is to be up. */
  isWanted(): boolean;
  want(isUp: boolean): void;
  /** Whether something is on its way down, be it what earlier processes left behind. */
  isEnding(): boolean;
  /** Whether what ends is more than the process itself. */
  isStopping(): boolean;
  untilStopped(): Promise<void>;
  startFresh(): void;
  comeToRest(): void;
  end(process: Leader, kind: EndKind): void;
  endRest(): void;
  widen(process: Leader | null): void;
};

export function createSlotOrders(slot: SlotSteps) {
  const { program, history, state, isEnding } = slot;

  function start() {
    slot.want(true);
    if (state() !== "STARTING" && state() !== "RUNNING" && !isEnding()) slot.startFresh();
  }

  function end(process: Leader, kind: EndKind): Promise<void> {
    const done = slot.untilStopped();
    slot.end(process, kind);
    return done;
  }

  function stop(): Promise<void> {
    slot.want(false);
    const leader = slot.leader();
    if (state() === "STOPPED" && !isEnding()) return Promise.resolve();
    if (leader !== null && !isEnding()) return end(leader, "stop");
    const done = slot.untilStopped();
    if (state() === "STOPPING" && !slot.isStopping()) slot.widen(leader);
    else if (!isEnding()) slot.endRest();
    return done;
  }

  /** Resolves when what ran is gone and its successor is on its way. */
  function replace(): Promise<void> {
    const leader = slot.leader();
    if (isEnding()) return slot.untilStopped();
    if (leader !== null) return end(leader, "restart");
    if (state() === "BACKOFF" || state() === "STARTING") slot.comeToRest();
    else start();
    return Promise.resolve();
  }

  function restart(): Promise<void> {
    slot.want(true);
    // What was started for this order, or a later one, is what was asked for.
    const isDone = slot.leader() !== null && !isEnding() && !history.isBefore(program().order);
    return isDone ? Promise.resolve() : replace();
  }

  const isOutdated = () => history.isOutdated(program().settings);

  /** Replaces or starts it, whatever it was started for. */
  function renew(): Promise<void> {
    slot.want(true);
    return replace();
  }

  return {
    start,
    stop,
    restart,
    renew,
    /** Replaces a process that carries an older deployment than it must, once for each deployment. */
    deploy: (): Promise<void> =>
      slot.isWanted() && history.isOlderThan(program().requiredDeployment)
        ? replace()
        : Promise.resolve(),
    isOutdated,
    /** Replaces it if it is to be up and was started with other settings. */
    renewOutdated: (): Promise<void> =>
      slot.isWanted() && isOutdated() ? renew() : Promise.resolve(),
    /** Ends for good once its job is done. */
    retire(): Promise<void> {
      const leader = slot.leader();
      if (leader === null || isEnding()) return stop();
      slot.want(false);
      return end(leader, "retire");
    },
  };
}
