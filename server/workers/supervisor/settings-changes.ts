// Carries out changes of workers' settings: begins, resumes after a restart of the service, undoes and ends them.
import type { Program } from "../processes/process-manager.ts";
import { type ChangingSlot, createRollingChange, type RollingChange } from "./rolling-change.ts";

/** The part of a worker that a change needs. */
type Changing = {
  program: Program;
  slots: ReadonlyMap<number, ChangingSlot>;
  /** Null = no change is under way. */
  change: RollingChange | null;
};

type SettingsChangesOptions<Worker> = {
  /** Returns the slots that the worker should have, by number, and creates missing ones. */
  wanted(worker: Worker): ChangingSlot[];
  /** Returns the slots beyond the worker's number of processes. */
  surplus(worker: Worker): ChangingSlot[];
  /** Removes the surplus slots whose process has ended. */
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
    // Creates all slots first, so that the existing ones do not pass for the whole worker.
    wanted(worker);
    await change?.carryOut();
    if (worker.change === change) end(worker);
  }

  /** Replaces processes with other settings than the worker's, and ends surplus ones. */
  const renewOutdated = async (worker: Worker): Promise<void> =>
    void (await Promise.all([
      ...surplus(worker).map((slot) => slot.retire()),
      ...wanted(worker).map((slot) => slot.renewOutdated()),
    ]));

  return {
    begin,
    /** Resumes a change that was interrupted, or the undoing of one. */
    goOn: (worker: Worker): Promise<void> =>
      worker.change === null ? renewOutdated(worker) : carryOut(worker),
    end,
    renewOutdated,
    async change(worker: Worker, previous: Program): Promise<void> {
      // The start of the service has resumed this change already.
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
