// Moves workers to the servers of their sites after a change of the inventory, with retries.
import type { Logger } from "pino";
import type { Clock } from "../../clock.ts";
import type { InventoryStore } from "../../inventory/store.ts";
import { createLoop, type Loop } from "../../jobs/loop.ts";
import { deadlineAt } from "../deadlines/deadlines.ts";
import type { ProcessManagers } from "./process-managers.ts";
import type { WorkerStore } from "../store.ts";
import { programOf } from "./worker-program.ts";

type InventoryFollowerOptions = {
  store: WorkerStore;
  inventory: InventoryStore;
  manager: ProcessManagers;
  clock: Clock;
  log: Logger;
};

/** Delay of a retry after a failed query. */
const againMs = 1000;

/** Creates the loop, which is to be woken when an inventory was accepted. */
export function createInventoryFollower(options: InventoryFollowerOptions): Loop {
  const { store, inventory, manager, clock, log } = options;
  /** Ids of moved workers that are not settled yet; `follow` returns each move only once. */
  const moved = new Set<number>();
  let isBehind = false;

  async function settle(id: number): Promise<void> {
    const row = await store.byId(id);
    if (row === null) return;
    // Whether its former server responds no longer matters.
    if (row.unreachable_since !== null)
      await store.setReachable(row, deadlineAt(row.status, row, clock.now()));
    const program = programOf(row, await inventory.findSite(row.site_id));
    // Not awaited: a worker that moves back may have to wait for its removal on a server that is away.
    Promise.resolve(manager.know(program)).catch((error: unknown) => {
      log.error({ err: error, worker: id }, "a worker is made known to its server again");
      moved.add(id);
      clock.after(againMs, loop.wake);
    });
  }

  const loop = createLoop({
    name: "workers whose sites are on other servers now",
    everyMs: () => (isBehind ? againMs : null),
    async turn() {
      isBehind = true;
      for (const id of await manager.follow()) moved.add(id);
      for (const id of moved) {
        await settle(id);
        moved.delete(id);
      }
      isBehind = false;
    },
    clock,
    log,
  });
  return loop;
}
