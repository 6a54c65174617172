// Turns the report of a deployment into an event, and restarts the site's workers if the report says so.
import type { ReportDeploymentBody } from "../../contract/bodies.ts";
import { currentActor } from "../activity/actor.ts";
import type { EventRow, NewEvent } from "../events/event.ts";
import { recordEvent } from "../events/store.ts";
import type { SiteRow } from "../inventory/store.ts";
import type { Connection, Database } from "../store/database.ts";

type DeploymentServiceOptions = {
  db: Database;
  /**
   * Records a finished deployment for the site's workers.
   * @param restarts whether the workers restart once their jobs are done
   * @returns number of workers that restart
   */
  noteForWorkers(
    tx: Connection,
    siteId: number,
    deploymentId: number,
    restarts: boolean,
  ): Promise<number>;
};

type Details = Omit<ReportDeploymentBody, "restart_workers">;

export type DeploymentService = {
  /** @returns the event of the deployment, and the number of workers that restart */
  report(
    site: SiteRow,
    body: ReportDeploymentBody,
  ): Promise<{ event: EventRow; restarted: number }>;
};

export const createDeploymentService = ({
  db,
  noteForWorkers,
}: DeploymentServiceOptions): DeploymentService => ({
  report: (site, { restart_workers: restarts = false, ...details }) =>
    // One transaction, so that everything in the response is carried out even if the service is killed afterwards.
    db.transaction(async (tx) => {
      const event = await recordEvent(tx, deploymentEvent(site, details));
      // A failed deployment left the old code in place, so no worker needs a restart.
      const restarted =
        details.status === "finished" ? await noteForWorkers(tx, site.id, event.id, restarts) : 0;
      return { event, restarted };
    }),
});

function deploymentEvent(site: SiteRow, details: Details): NewEvent {
  const { status, commit, branch, author, message, url } = details;
  const facts = Object.entries({ Commit: commit, Branch: branch, By: author, Run: url });
  return {
    type: status === "finished" ? "site.deployed" : "site.deployment_failed",
    server_id: site.serverId,
    site_id: site.id,
    database_id: null,
    data: { site_id: site.id, site: site.name, server_id: site.serverId, ...details },
    notification: {
      subject: site.name,
      facts: facts.filter((fact): fact is [string, string] => fact[1] !== undefined),
      moments: [],
      reason: message ?? null,
      path: `/sites/${site.id}/workers`,
    },
    activity: {
      kind: "deployment",
      action: status === "finished" ? "deployed" : "deployment failed",
      object: { type: "site", id: site.id },
      actor: currentActor(),
    },
  };
}
