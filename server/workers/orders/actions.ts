// Accepts the orders without further fields (start, stop, restart, remove): changes the state, and sends the job.
import {
  canWorker,
  type WorkerAction,
  type WorkerState,
} from "../../../contract/workers/worker.ts";
import { recordActivity } from "../../activity/store.ts";
import { conflict } from "../../http/service-error.ts";
import type { InventoryStore } from "../../inventory/store.ts";
import type { Jobs } from "../../jobs/jobs.ts";
import { askedEntry } from "../event-data.ts";
import { jobReference } from "../job-reference.ts";
import type { Mover } from "../status/mover.ts";
import type { WorkerRow, WorkerStore } from "../store.ts";

/** By action: the state that it leads to, the states in which it does nothing, and its text on the timeline. */
const actions = {
  start: {
    into: "starting",
    done: ["installed", "starting", "restarting"],
    asked: "asked to start",
  },
  stop: { into: "stopping", done: ["stopped", "stopping"], asked: "asked to stop" },
  restart: { into: "restarting", done: [], asked: "asked to restart" },
  remove: { into: "removing", done: [], asked: "deleted" },
} as const satisfies Record<
  WorkerAction,
  { into: WorkerState; done: readonly WorkerState[]; asked: string }
>;

type ActionsOptions = {
  store: WorkerStore;
  inventory: InventoryStore;
  jobs: Pick<Jobs, "send">;
  mover: Pick<Mover, "move">;
  /** Returns the last known status before an order that is given now. */
  lastStatusOf(row: WorkerRow): WorkerState;
};

export function createActions({ store, inventory, jobs, mover, lastStatusOf }: ActionsOptions) {
  async function act(id: number, action: WorkerAction): Promise<void> {
    const { into, done, asked } = actions[action];
    await store.transaction(async (tx) => {
      const row = await store.lock(tx, id);
      // Another request has deleted the worker.
      if (row === null) throw conflict("The worker no longer exists.");
      if (!canWorker[action](row))
        throw conflict(`The worker is ${row.status}. Try again once that is done.`);
      if (action === "restart" && row.changed_from !== null)
        throw conflict("The worker is being changed. Try again once that is done.");
      if (done.some((state) => state === row.status)) return;
      const lastStatus = lastStatusOf(row);
      const isRestart = action === "restart";
      const moved = await mover.move(tx, row, into, null, { lastStatus, isRestart });
      if (moved === null) return;
      const site = await inventory.findSite(row.site_id, tx);
      if (site === null) throw conflict("The worker's site is no longer in the inventory.");
      await jobs.send(tx, "worker.apply", jobReference(moved, site));
      await recordActivity(tx, askedEntry(moved, site, asked));
    });
  }

  return {
    start: (id: number) => act(id, "start"),
    stop: (id: number) => act(id, "stop"),
    restart: (id: number) => act(id, "restart"),
    remove: (id: number) => act(id, "remove"),
  };
}
