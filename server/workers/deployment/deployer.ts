// Replaces a site's processes after a deployment. The transaction of the deployment stores the required deployment in the workers'
// rows, so that the next start of the service carries it out if this one ends after its response.
import type { WorkerState } from "../../../contract/workers/worker.ts";
import { recordActivity } from "../../activity/store.ts";
import type { Clock } from "../../clock.ts";
import type { InventoryStore } from "../../inventory/store.ts";
import type { JobData } from "../../jobs/job-data.ts";
import type { Jobs } from "../../jobs/jobs.ts";
import type { Connection } from "../../store/database.ts";
import { deadlineAt } from "../deadlines/deadlines.ts";
import { askedEntry } from "../event-data.ts";
import type { Mover } from "../status/mover.ts";
import type { ProcessManager } from "../processes/process-manager.ts";
import type { WorkerRow, WorkerStore } from "../store.ts";
import { programOf } from "../processes/worker-program.ts";

/**
 * @param transition transition to which further changes of the worker's processes belong; null = the current one
 * @param carryOut gives the order to the process manager; its result shows in the states of the processes
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
   * @param restarts whether each process that was started before the deployment has to be replaced after its current job
   * @returns the number of workers with such processes
   */
  note(tx: Connection, siteId: number, deploymentId: number, restarts: boolean): Promise<number>;
  /** Replaces the processes of a worker that are older than its row requires. */
  carryOut(job: JobData["worker.deploy"]): Promise<void>;
};

export function createDeployer(options: DeployerOptions): Deployer {
  const { store, inventory, manager, jobs, mover, order, lastStatusOf, clock } = options;

  /** Whether a worker has processes to replace. A stopped, stopping or removed worker has none that will keep running. */
  function hasProcesses({ id, status }: WorkerRow): boolean {
    switch (status) {
      case "installed":
      case "installing":
      case "starting":
      case "restarting":
        return true;
      case "failed":
        // A process that failed to start gets the new code too; a process that failed to stop must still stop.
        return manager
          .processes(id)
          .some(({ state }) => state !== "STOPPED" && state !== "STOPPING");
      case "stopping":
      case "stopped":
      case "removing":
        return false;
    }
  }

  /** @returns the new transition, to which further changes of the processes belong; null = still the current one */
  async function begin(tx: Connection, row: WorkerRow): Promise<number | null> {
    if (row.status === "installed" || row.status === "failed") {
      const its = { lastStatus: lastStatusOf(row), isRestart: false };
      return (await mover.move(tx, row, "restarting", null, its))?.transition ?? null;
    }
    // A new transition would drop an order that is not carried out yet.
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
        // The number of processes of a failed worker may have been changed since.
        if (its !== null && manager.processes(id).length !== row.processes) manager.start(program);
        return manager.deploy(program);
      });
    },
  };
}
