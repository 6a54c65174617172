// Carries out the orders of a slot (start, stop, restart, replacement) according to its state.
import type { ProcessState } from "../../../contract/workers/worker.ts";
import type { Program } from "../processes/process-manager.ts";
import type { Leader } from "./process-table.ts";
import type { RunHistory } from "./run-history.ts";
import type { EndKind } from "./slot-ending.ts";

type SlotSteps = {
  program(): Program;
  history: RunHistory;
  state(): ProcessState;
  leader(): Leader | null;
  /** Whether the process should be up. */
  isWanted(): boolean;
  want(isUp: boolean): void;
  /** Whether a stop is under way, of the process or of what earlier ones left behind. */
  isEnding(): boolean;
  /** Whether the stop that is under way includes descendants outside the leader's group. */
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

  /** Resolves when the old process has ended and its successor was started. */
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
    // A process that was started for this order, or for a later one, need not be replaced.
    const isDone = slot.leader() !== null && !isEnding() && !history.isBefore(program().order);
    return isDone ? Promise.resolve() : replace();
  }

  const isOutdated = () => history.isOutdated(program().settings);

  /** Replaces or starts the process, regardless of the order that it was started for. */
  function renew(): Promise<void> {
    slot.want(true);
    return replace();
  }

  return {
    start,
    stop,
    restart,
    renew,
    /** Replaces the process if it was started before the required deployment. */
    deploy: (): Promise<void> =>
      slot.isWanted() && history.isOlderThan(program().requiredDeployment)
        ? replace()
        : Promise.resolve(),
    isOutdated,
    /** Replaces the process if it should be up and was started with other settings. */
    renewOutdated: (): Promise<void> =>
      slot.isWanted() && isOutdated() ? renew() : Promise.resolve(),
    /** Lets the process end its current job, and starts no successor. */
    retire(): Promise<void> {
      const leader = slot.leader();
      if (leader === null || isEnding()) return stop();
      slot.want(false);
      return end(leader, "retire");
    },
  };
}
