// Brings a worker's processes onto other settings, one after the other: each ends its job, and the next one waits until its
// successor is up. Until its turn comes a process that ends by itself comes back with the settings that it had.
import type { Program } from "../process-manager.ts";
import type { Slot } from "./slot.ts";

/** What a change asks of a process; supervisord's fill it, too. */
export type ChangingSlot = Pick<
  Slot,
  "number" | "status" | "hasProcess" | "isOutdated" | "renew" | "renewOutdated" | "retire"
>;

export type RollingChange = {
  /** The transition that it belongs to. */
  order: number | null;
  /** What a process is to be run with, by its number. */
  programOf(number: number): Program;
  /** A deployment came meanwhile, which what is not replaced yet carries as well. */
  noteDeployment(program: Program): void;
  /** Something changed on one of the slots. */
  notice(slot: ChangingSlot): void;
  /** Resolves once all is done, or the change is no longer wanted. */
  carryOut(): Promise<void>;
  cancel(): void;
};

type RollingChangeOptions = {
  /** The newest settings. */
  program(): Program;
  previous: Program;
  /** Those that are still to be replaced. */
  pending: Set<number>;
  /** Makes those that are not there yet; by number. */
  wanted(): ChangingSlot[];
  /** Those that are too many. */
  surplus(): ChangingSlot[];
};

export function createRollingChange(options: RollingChangeOptions): RollingChange {
  const { program, pending, wanted, surplus } = options;
  let { previous } = options;
  let current: number | null = null;
  const canceled = new AbortController();
  let wake = () => {};

  const isUp = (slot: ChangingSlot) => {
    const { state } = slot.status();
    // One that ended by itself after its start seconds had come up.
    return !slot.isOutdated() && (state === "RUNNING" || state === "EXITED");
  };

  /** What ends keeps its settings to its end; its successor has the new ones. */
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
    async carryOut() {
      for (const slot of wanted()) {
        if (canceled.signal.aborted) return;
        await replace(slot);
      }
      if (!canceled.signal.aborted) await Promise.all(surplus().map((slot) => slot.retire()));
    },
    cancel() {
      canceled.abort();
      wake();
    },
  };
}
