// Brings a site's processes onto a new deployment. What is to be done stands in the workers' rows, in the transaction of the
// deployment itself, so that whatever ends the service after its answer, the next one carries it out.
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
  /** What was known last before an order that is given now. */
  lastStatusOf(row: WorkerRow): WorkerState;
  clock: Clock;
};

export type Deployer = {
  /**
   * Notes a finished deployment of a site for its workers.
   * @param restarts whether every process that was started before it is to be replaced, once its job is done
   * @returns how many workers have such processes
   */
  note(tx: Connection, siteId: number, deploymentId: number, restarts: boolean): Promise<number>;
  /** Carries out what the row of a worker says. */
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
    // An order that is still to be carried out would be dropped if the row moved on.
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
