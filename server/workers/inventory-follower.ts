// Takes workers along to the servers that an inventory gives their sites, until each is there.
import type { Logger } from "pino";
import type { Clock } from "../clock.ts";
import type { InventoryStore } from "../inventory/store.ts";
import { createLoop, type Loop } from "../jobs/loop.ts";
import { deadlineAt } from "./deadlines.ts";
import type { ProcessManagers } from "./process-managers.ts";
import type { WorkerStore } from "./store.ts";
import { programOf } from "./worker-program.ts";

type InventoryFollowerOptions = {
  store: WorkerStore;
  inventory: InventoryStore;
  manager: ProcessManagers;
  clock: Clock;
  log: Logger;
};

/** What the database did not answer for is asked again so soon. */
const againMs = 1000;

/** Wake it when an inventory was accepted. */
export function createInventoryFollower(options: InventoryFollowerOptions): Loop {
  const { store, inventory, manager, clock, log } = options;
  /** Their managers say only once that they have moved. */
  const moved = new Set<number>();
  let isBehind = false;

  async function settle(id: number): Promise<void> {
    const row = await store.byId(id);
    if (row === null) return;
    // Whether its former server can be asked is of no interest any more.
    if (row.unreachable_since !== null)
      await store.setReachable(row, deadlineAt(row.status, row, clock.now()));
    const program = programOf(row, await inventory.findSite(row.site_id));
    // Not waited for: one that comes back may have to wait for what is left of it on a server that is away.
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
