// Replaces a worker's processes by ones with new settings, one after the other: each finishes its job, and the next one is
// replaced once its successor is up. Before its turn, a process that ends by itself is started again with its old settings.
import type { Program } from "../processes/process-manager.ts";
import type { Slot } from "./slot.ts";

/** The part of a slot that a change needs; slots of supervisord's processes have it, too. */
export type ChangingSlot = Pick<
  Slot,
  "number" | "status" | "hasProcess" | "isOutdated" | "renew" | "renewOutdated" | "retire"
>;

export type RollingChange = {
  /** The order that the change belongs to, see `Program`. */
  order: number | null;
  /** Returns the program that a process should run now, by its number. */
  programOf(number: number): Program;
  /** To be called at a deployment during the change: processes that are not replaced yet get it as well. */
  noteDeployment(program: Program): void;
  /** To be called after each change of one of the slots. */
  notice(slot: ChangingSlot): void;
  /** Resolves once all processes are replaced, or the change was canceled. */
  carryOut(): Promise<void>;
  cancel(): void;
};

type RollingChangeOptions = {
  /** The newest settings. */
  program(): Program;
  previous: Program;
  /** Numbers of the processes that are still to be replaced. */
  pending: Set<number>;
  /** Returns the slots that the worker should have, by number, and creates missing ones. */
  wanted(): ChangingSlot[];
  /** Returns the slots beyond the worker's number of processes. */
  surplus(): ChangingSlot[];
};

export function createRollingChange(options: RollingChangeOptions): RollingChange {
  const { program, pending, wanted, surplus } = options;
  let { previous } = options;
  let current: number | null = null;
  const canceled = new AbortController();
  let wake = () => {};
  /** Null = not begun. The first contact with a supervisord carries out a change again that was ordered before. */
  let carriedOut: Promise<void> | null = null;

  const isUp = (slot: ChangingSlot) => {
    const { state } = slot.status();
    // A process that exited by itself after its start seconds was up.
    return !slot.isOutdated() && (state === "RUNNING" || state === "EXITED");
  };

  /** Switches a slot to the new settings once its process has ended, because a process keeps its settings to its end. */
  const takeTurn = (slot: ChangingSlot) => {
    if (slot.number === current && !slot.hasProcess()) pending.delete(slot.number);
  };

  async function replace(slot: ChangingSlot): Promise<void> {
    current = slot.number;
    const isReplaced = () => !pending.has(slot.number) && isUp(slot);
    if (isReplaced()) return;
    const isNew = !pending.has(slot.number) && !slot.isOutdated() && slot.hasProcess();
    takeTurn(slot);
    if (!isNew) await slot.renew();
    while (!isReplaced() && !canceled.signal.aborted)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  }

  async function replaceAll(): Promise<void> {
    for (const slot of wanted()) {
      if (canceled.signal.aborted) return;
      await replace(slot);
    }
    if (!canceled.signal.aborted) await Promise.all(surplus().map((slot) => slot.retire()));
  }

  return {
    order: program().order,
    programOf: (number) => (pending.has(number) ? previous : program()),
    noteDeployment({ deployment, requiredDeployment }) {
      previous = { ...previous, deployment, requiredDeployment };
    },
    notice(slot) {
      if (slot.status().state === "STOPPED") takeTurn(slot);
      wake();
    },
    carryOut() {
      carriedOut ??= replaceAll();
      return carriedOut;
    },
    cancel() {
      canceled.abort();
      wake();
    },
  };
}
