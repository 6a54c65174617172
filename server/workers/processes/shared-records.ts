// Stores the records of processes in the database, for the instance that looks after their servers next.
import type { Clock } from "../../clock.ts";
import { createLoop } from "../../jobs/loop.ts";
import type { Log } from "../../log.ts";
import type { WorkerStore } from "../store.ts";

type SharedRecordsOptions = {
  store: Pick<WorkerStore, "keepRecords">;
  clock: Clock;
  log: Log;
};

/** Delay that collects changes: a process that starts changes several times within it. */
const restMs = 200;
/** Delay of a retry after a failed write. */
const everyMs = 5000;

export function createSharedRecords({ store, clock, log }: SharedRecordsOptions) {
  const changed = new Map<number, string>();
  const loop = createLoop({
    name: "records of workers",
    everyMs: () => (changed.size > 0 ? everyMs : null),
    restMs,
    async turn() {
      const records = [...changed];
      if (records.length === 0) return;
      await store.keepRecords(records);
      for (const [id, text] of records) if (changed.get(id) === text) changed.delete(id);
    },
    clock,
    log,
  });
  return {
    keep(id: number, text: string) {
      changed.set(id, text);
      loop.wake();
    },
    stop: loop.stop,
  };
}
