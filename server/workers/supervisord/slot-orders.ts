// What a slot can be asked for, and what that means in each state that supervisord shows.
import type { ProcessState } from "../../../contract/workers/worker.ts";
import type { Program } from "../process-manager.ts";
import type { RunHistory } from "../supervisor/run-history.ts";
import { isKept } from "./slot-step.ts";

type SlotSteps = {
  program(): Program;
  /** What its process was started as. */
  startedAs(): Program;
  history: RunHistory;
  state(): ProcessState;
  hasProcess(): boolean;
  /** supervisord has its group; null = nobody has looked yet. */
  isThere(): boolean | null;
  isWanted(): boolean;
  isEnding(): boolean;
  /** Whether it is to be up. */
  want(isUp: boolean): void;
  /** Whether a start is asked for that supervisord does not show yet. */
  setStartDue(isDue: boolean): void;
  /** @returns resolves when what runs is gone, and its successor on its way where there is to be one */
  end(how: { isGentle: boolean; isFinal: boolean }): Promise<void>;
  /** Forgets an end that supervisord was not told of. */
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

  /** Replaces a process that carries an older deployment than it must. */
  const deploy = (): Promise<void> =>
    isWanted() && history.isOlderThan(program().requiredDeployment)
      ? replace(false)
      : Promise.resolve();

  return {
    start,
    stop: () => stop({ isGentle: false }),
    /** Ends for good once its job is done. */
    retire: () => stop({ isGentle: isGentle() }),
    /** Replaces or starts it, whatever it was started for. */
    renew: () => replace(true),
    restart(): Promise<void> {
      const isDone = hasProcess() && !isEnding() && !history.isBefore(program().order);
      slot.want(true);
      return isDone ? Promise.resolve() : replace(false);
    },
    deploy,
    /** See the process manager. */
    withdraw(isUp: boolean | null) {
      slot.cancelUntold();
      slot.setStartDue(false);
      if (isUp === true) start();
      else if (isUp === false || state() === "STOPPED") void stop({ isGentle: false });
      else slot.want(true);
    },
    /** Leaves a process that is as it is to be, and was to be replaced, and supervisord knows nothing of that. */
    keep() {
      if (!isWanted() || isOutdated()) return;
      slot.cancelUntold();
      // It may have been for that as well.
      void deploy();
    },
    isOutdated,
    renewOutdated: (): Promise<void> =>
      isWanted() && isOutdated() ? replace(true) : Promise.resolve(),
    /**
     * Whether nothing says that what runs was started for that order. Before the first look the record may be older than the
     * process: one that is replaced once more is better than one that is missed.
     */
    isOlderThan: (given: number) => !isEnding() && history.isBefore(given),
  };
}
