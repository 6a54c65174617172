// Carries out the orders of a slot (start, stop, restart, replacement) according to the state that supervisord shows.
import type { ProcessState } from "../../../contract/workers/worker.ts";
import type { Program } from "../processes/process-manager.ts";
import type { RunHistory } from "../supervisor/run-history.ts";
import { isKept } from "./slot-step.ts";

type SlotSteps = {
  program(): Program;
  /** Returns the program that the process was started with. */
  startedAs(): Program;
  history: RunHistory;
  state(): ProcessState;
  hasProcess(): boolean;
  /** Whether supervisord has the group of the process; null = not polled yet. */
  isThere(): boolean | null;
  isWanted(): boolean;
  isEnding(): boolean;
  /** Sets whether the process should be up. */
  want(isUp: boolean): void;
  /** Sets whether a start was ordered that supervisord does not show yet. */
  setStartDue(isDue: boolean): void;
  /** Begins a stop or restart. Resolves when the process has ended, and its successor, if any, is being started. */
  end(how: { isGentle: boolean; isFinal: boolean }): Promise<void>;
  /** Cancels a stop or restart that was not sent to supervisord. */
  cancelUntold(): void;
};

export function createSlotOrders(slot: SlotSteps) {
  const { program, startedAs, history, state, hasProcess, isThere, isWanted, isEnding } = slot;
  const isGentle = () => !startedAs().stopasgroup;
  const isOutdated = () => history.isOutdated(program().settings);

  function start() {
    slot.want(true);
    slot.cancelUntold();
    const isOnItsWay = state() === "STARTING" || state() === "RUNNING" || isEnding();
    if (isThere() === null || !isOnItsWay) slot.setStartDue(true);
  }

  function stop(how: { isGentle: boolean }): Promise<void> {
    slot.want(false);
    slot.setStartDue(false);
    return isThere() === false ? Promise.resolve() : slot.end({ ...how, isFinal: true });
  }

  function replace(isFinal: boolean): Promise<void> {
    slot.want(true);
    if (isEnding() || isThere() === null || hasProcess() || isKept(state()))
      return slot.end({ isGentle: isGentle(), isFinal });
    start();
    return Promise.resolve();
  }

  /** Replaces the process if it was started before the required deployment. */
  const deploy = (): Promise<void> =>
    isWanted() && history.isOlderThan(program().requiredDeployment)
      ? replace(false)
      : Promise.resolve();

  return {
    start,
    stop: () => stop({ isGentle: false }),
    /** Lets the process end its current job, and starts no successor. */
    retire: () => stop({ isGentle: isGentle() }),
    /** Replaces or starts the process, regardless of the order that it was started for. */
    renew: () => replace(true),
    restart(): Promise<void> {
      const isDone = hasProcess() && !isEnding() && !history.isBefore(program().order);
      slot.want(true);
      return isDone ? Promise.resolve() : replace(false);
    },
    deploy,
    /** See `ProcessManager.withdraw`. */
    withdraw(isUp: boolean | null) {
      slot.cancelUntold();
      slot.setStartDue(false);
      if (isUp === true) start();
      else if (isUp === false || state() === "STOPPED") void stop({ isGentle: false });
      else slot.want(true);
    },
    /** Cancels the replacement of a process that has the current settings, if it was not sent to supervisord. */
    keep() {
      if (!isWanted() || isOutdated()) return;
      slot.cancelUntold();
      // A deployment may still require the replacement.
      void deploy();
    },
    isOutdated,
    renewOutdated: (): Promise<void> =>
      isWanted() && isOutdated() ? replace(true) : Promise.resolve(),
    /**
     * Whether the process was started before an order, as far as known. Before the first poll the record may be older than the
     * process: replacing it once too often is better than not at all.
     */
    isOlderThan: (given: number) => !isEnding() && history.isBefore(given),
  };
}
