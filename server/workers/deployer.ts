// Replaces a site's processes after a deployment. The transaction of the deployment stores the required deployment in the workers'
// rows, so that the next start of the service carries it out if this one ends after its response.
import type { WorkerState } from "../../contract/workers/worker.ts";
import { recordActivity } from "../activity/store.ts";
import type { Clock } from "../clock.ts";
import type { InventoryStore } from "../inventory/store.ts";
import type { JobData } from "../jobs/job-data.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { Connection } from "../store/database.ts";
import { deadlineAt } from "./deadlines.ts";
import { askedEntry } from "./event-data.ts";
import type { Mover } from "./mover.ts";
import type { ProcessManager } from "./process-manager.ts";
import type { WorkerRow, WorkerStore } from "./store.ts";
import { programOf } from "./worker-program.ts";

/**
 * @param transition what is seen of the worker's processes from now on belongs to it; null = to the one that it belongs to now
 * @param carryOut its end is seen through the processes' states
 */
export type GiveOrder = (
  id: number,
  transition: number | null,
  carryOut: () => void | Promise<void>,
) => void;

type DeployerOptions = {
  store: WorkerStore;
  inventory: InventoryStore;
  manager: ProcessManager;
  jobs: Pick<Jobs, "send">;
  mover: Mover;
  /** Gives an order; see the service. */
  order: GiveOrder;
  /** Returns the last known status before an order that is given now. */
  lastStatusOf(row: WorkerRow): WorkerState;
  clock: Clock;
};

export type Deployer = {
  /**
   * Stores a finished deployment of a site for its workers.
   * @param restarts whether every process that was started before it has to be replaced, once its job is done
   * @returns the number of workers with such processes
   */
  note(tx: Connection, siteId: number, deploymentId: number, restarts: boolean): Promise<number>;
  /** Replaces the processes of a worker that are older than its row requires. */
  carryOut(job: JobData["worker.deploy"]): Promise<void>;
};

export function createDeployer(options: DeployerOptions): Deployer {
  const { store, inventory, manager, jobs, mover, order, lastStatusOf, clock } = options;

  /** Processes of a worker that was stopped, or is on its way, are started on the new code or never. */
  function hasProcesses({ id, status }: WorkerRow): boolean {
    switch (status) {
      case "installed":
      case "installing":
      case "starting":
      case "restarting":
        return true;
      case "failed":
        // What was given up gets the new code too; what was to stop and did not is to stop all the same.
        return manager
          .processes(id)
          .some(({ state }) => state !== "STOPPED" && state !== "STOPPING");
      case "stopping":
      case "stopped":
      case "removing":
        return false;
    }
  }

  /** @returns the transition that its processes' next changes belong to; null = the one that is under way stays it */
  async function begin(tx: Connection, row: WorkerRow): Promise<number | null> {
    if (row.status === "installed" || row.status === "failed") {
      const its = { lastStatus: lastStatusOf(row), isRestart: false };
      return (await mover.move(tx, row, "restarting", null, its))?.transition ?? null;
    }
    // A new transition would drop an order that is still to be carried out.
    await store.postpone(tx, [{ row, deadlineAt: deadlineAt(row.status, row, clock.now()) }]);
    return null;
  }

  return {
    async note(tx, siteId, deploymentId, restarts) {
      const rows = await store.lockOfSite(tx, siteId);
      if (rows.length === 0) return 0;
      await store.noteDeployment(tx, siteId, deploymentId, restarts);
      const site = await inventory.findSite(siteId, tx);
      const restarted = rows.filter((row) => restarts && hasProcesses(row));
      for (const row of rows) {
        if (row.status === "removing") continue;
        const transition = restarted.includes(row) ? await begin(tx, row) : null;
        if (site !== null)
          await jobs.send(tx, "worker.deploy", {
            id: row.id,
            transition,
            server_id: site.serverId,
          });
      }
      if (site !== null)
        await recordActivity(
          tx,
          ...restarted.map((row) => askedEntry(row, site, "asked to restart")),
        );
      return restarted.length;
    },

    async carryOut({ id, transition }) {
      const row = await store.byId(id);
      if (row === null) return;
      const program = programOf(row, await inventory.findSite(row.site_id));
      const its = row.transition === transition ? transition : null;
      order(id, its, () => {
        // One that had failed may have been given more or fewer processes since.
        if (its !== null && manager.processes(id).length !== row.processes) manager.start(program);
        return manager.deploy(program);
      });
    },
  };
}
