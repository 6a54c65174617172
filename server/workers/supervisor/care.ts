// Maintains workers with processes once a second: writes records that could not be written, recovers and rotates logs.
import type { Clock } from "../../clock.ts";
import type { Slot } from "./slot.ts";
import type { WorkerSystem } from "./worker-system.ts";

type Cared = { slots: ReadonlyMap<number, Slot>; system: Pick<WorkerSystem, "lookAfterLog"> };

const everyMs = 1000;

const isBusy = ({ slots }: Cared) =>
  slots.values().some((slot) => slot.hasProcess() || !slot.isSaved());

export function createCare({ workers, clock }: { workers(): Iterable<Cared>; clock: Clock }) {
  let isStopped = false;
  let isUnderWay = false;
  let looking: Promise<void> | null = null;
  let cancel = () => {};

  /** Starts the loop, which continues while a process runs or a record is not written. */
  function begin() {
    if (isUnderWay || isStopped) return;
    isUnderWay = true;
    cancel = clock.after(everyMs, () => {
      looking = look();
    });
  }

  async function look() {
    for (const worker of workers()) {
      if (isStopped) return;
      if (!isBusy(worker)) continue;
      const { slots, system } = worker;
      for (const slot of slots.values()) if (!slot.isSaved()) slot.save();
      const pids = [...slots.values()].flatMap((slot) => slot.status().pid ?? []);
      await system.lookAfterLog(pids);
    }
    isUnderWay = false;
    if ([...workers()].some(isBusy)) begin();
  }

  return {
    begin,
    /** Resolves when nothing is written any more. */
    async stop(): Promise<void> {
      isStopped = true;
      cancel();
      await looking;
    },
  };
}
