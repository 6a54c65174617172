// Changes of workers' settings: begun, gone on with after a restart of the service, undone, given up.
import type { Program } from "../process-manager.ts";
import { type ChangingSlot, createRollingChange, type RollingChange } from "./rolling-change.ts";

/** The part of a worker that a change is about. */
type Changing = {
  program: Program;
  slots: ReadonlyMap<number, ChangingSlot>;
  /** Null while its processes are left as they are. */
  change: RollingChange | null;
};

type SettingsChangesOptions<Worker> = {
  /** Makes those that are not there yet; by number. */
  wanted(worker: Worker): ChangingSlot[];
  /** Those that are too many. */
  surplus(worker: Worker): ChangingSlot[];
  /** Forgets those that are too many and have ended. */
  dropSurplus(worker: Worker): void;
  onChange(id: number): void;
};

export function createSettingsChanges<Worker extends Changing>({
  wanted,
  surplus,
  dropSurplus,
  onChange,
}: SettingsChangesOptions<Worker>) {
  function end(worker: Worker): void {
    worker.change?.cancel();
    worker.change = null;
    dropSurplus(worker);
    onChange(worker.program.id);
  }

  /** @param pending numbers of the processes that are still to be replaced */
  function begin(worker: Worker, previous: Program, pending: Iterable<number>): void {
    worker.change?.cancel();
    worker.change = createRollingChange({
      program: () => worker.program,
      previous,
      pending: new Set(pending),
      wanted: () => wanted(worker),
      surplus: () => surplus(worker),
    });
  }

  async function carryOut(worker: Worker): Promise<void> {
    const { change } = worker;
    // Those that are to come are there from the beginning, so that nobody takes the rest for all of them.
    wanted(worker);
    await change?.carryOut();
    if (worker.change === change) end(worker);
  }

  /** Replaces what has other settings than the worker's, and ends what is too many. */
  const renewOutdated = async (worker: Worker): Promise<void> =>
    void (await Promise.all([
      ...surplus(worker).map((slot) => slot.retire()),
      ...wanted(worker).map((slot) => slot.renewOutdated()),
    ]));

  return {
    begin,
    /** Goes on with a change that was cut off, or with the undoing of one. */
    goOn: (worker: Worker): Promise<void> =>
      worker.change === null ? renewOutdated(worker) : carryOut(worker),
    end,
    renewOutdated,
    async change(worker: Worker, previous: Program): Promise<void> {
      // It was resumed already.
      if (worker.change !== null && worker.change.order === worker.program.order) return;
      const outdated = [...worker.slots.values()].filter((slot) => slot.isOutdated());
      begin(
        worker,
        previous,
        outdated.map(({ number }) => number),
      );
      await carryOut(worker);
    },
    async undo(worker: Worker): Promise<void> {
      end(worker);
      await renewOutdated(worker);
    },
  };
}
