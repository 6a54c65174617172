// What a pipeline reports: a site was deployed, or was not. It is told to the site's webhooks and channels.
import { operations } from "../../contract/operations.ts";
import type { ReportDeploymentBody } from "../../contract/deployments.ts";
import { toTimestamp } from "../../contract/values.ts";
import { currentActor } from "../activity/actor.ts";
import type { NewEvent } from "../events/event.ts";
import { recordEvent } from "../events/store.ts";
import { reply, route, type Route } from "../http/route.ts";
import type { InventoryStore, SiteRow } from "../inventory/store.ts";
import type { Connection, Database } from "../store/database.ts";

export type DeploymentRoutesOptions = {
  db: Database;
  inventory: InventoryStore;
  /**
   * Notes a finished deployment for the site's workers.
   * @param restarts whether they finish their jobs and start anew
   * @returns how many of them do
   */
  noteForWorkers(
    tx: Connection,
    siteId: number,
    deploymentId: number,
    restarts: boolean,
  ): Promise<number>;
};

export const deploymentRoutes = (options: DeploymentRoutesOptions): Route[] => [
  route(operations.reportDeployment, {
    find: async ({ id }, caller) => {
      const site = await options.inventory.findSite(id);
      return site !== null && caller.reaches(site.serverId) ? site : null;
    },
    handle: async ({ found: site, body }) => {
      const { restart_workers: wantsRestart = false, ...told } = body;
      // In one transaction: what is answered for is carried out, whatever happens to the service next.
      const { event, restarted } = await options.db.transaction(async (tx) => {
        const stored = await recordEvent(tx, deploymentEvent(site, told));
        // A deployment that failed left the old code in place, so there is nothing to start anew.
        const many =
          told.status === "finished"
            ? await options.noteForWorkers(tx, site.id, stored.id, wantsRestart)
            : 0;
        return { event: stored, restarted: many };
      });
      return reply(202, {
        id: event.id,
        site_id: site.id,
        ...told,
        created_at: toTimestamp(event.created_at),
        restarted_workers: restarted,
      });
    },
  }),
];

function deploymentEvent(
  site: SiteRow,
  told: Omit<ReportDeploymentBody, "restart_workers">,
): NewEvent {
  const { status, commit, branch, author, message, url } = told;
  const facts = Object.entries({ Commit: commit, Branch: branch, By: author, Run: url });
  return {
    type: status === "finished" ? "site.deployed" : "site.deployment_failed",
    server_id: site.serverId,
    site_id: site.id,
    database_id: null,
    data: { site_id: site.id, site: site.name, server_id: site.serverId, ...told },
    news: {
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
