// Withdraws orders that were given while a worker's server was away and are not carried out yet.
import type { WorkerState } from "../../../contract/workers/worker.ts";
import { recordActivity } from "../../activity/store.ts";
import type { Clock } from "../../clock.ts";
import { conflict } from "../../http/service-error.ts";
import type { InventoryStore } from "../../inventory/store.ts";
import { deadlineAt } from "../deadlines/deadlines.ts";
import type { GiveOrder } from "../deployment/deployer.ts";
import { askedEntry } from "../event-data.ts";
import { carries } from "../status/outcome.ts";
import type { ProcessManager } from "../processes/process-manager.ts";
import type { WorkerRow, WorkerStore } from "../store.ts";
import { programOf } from "../processes/worker-program.ts";

type WithdrawerOptions = {
  store: WorkerStore;
  inventory: InventoryStore;
  manager: ProcessManager;
  /** Gives an order; see the service. */
  order: GiveOrder;
  clock: Clock;
};

/** Returns the state that a waiting order leads to; null = no order waits for the worker's server. */
export const pendingStatusOf = ({
  status,
  unreachable_since: since,
  transition,
  waiting_order: order,
}: Pick<
  WorkerRow,
  "status" | "unreachable_since" | "transition" | "waiting_order"
>): WorkerState | null => (since !== null && order === transition ? status : null);

/** Whether processes should be up in a state; null = each as it is. */
const isUpIn = (status: WorkerState): boolean | null =>
  status === "failed" ? null : status !== "stopped" && status !== "stopping";

export function createWithdrawer({ store, inventory, manager, order, clock }: WithdrawerOptions) {
  /** @throws a conflict if no order waits, or the order belongs to a deployment */
  return async function withdraw(id: number): Promise<void> {
    const { row, status } = await store.transaction(async (tx) => {
      const found = await store.lock(tx, id);
      if (found === null) throw conflict("The worker no longer exists.");
      const { last_status: last } = found;
      const pending = pendingStatusOf(found);
      if (pending === null || last === null)
        throw conflict(
          "No request waits for the worker's server: it was carried out or withdrawn.",
        );
      const { required_deployment_id: required } = found;
      if (pending === "restarting" && !manager.processes(id).every((one) => carries(one, required)))
        throw conflict("The restart belongs to a deployment, which can't be withdrawn.");
      const moved = await store.withdraw(tx, found, last, deadlineAt(last, found, clock.now()));
      const site = await inventory.findSite(found.site_id, tx);
      if (site !== null) await recordActivity(tx, askedEntry(moved, site, "order withdrawn"));
      return { row: moved, status: last };
    });
    const program = programOf(row, await inventory.findSite(row.site_id));
    order(id, row.transition, () => manager.withdraw(program, isUpIn(status)));
  };
}
