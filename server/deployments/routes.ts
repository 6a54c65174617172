// Route for pipelines to report deployments.
import { servedOperations } from "../../contract/served-operations.ts";
import { toTimestamp } from "../../contract/values.ts";
import { reply, route, type Route } from "../http/route.ts";
import { createSiteFinder } from "../inventory/finders.ts";
import type { InventoryStore } from "../inventory/store.ts";
import type { DeploymentService } from "./service.ts";

export const deploymentRoutes = (
  deployments: DeploymentService,
  inventory: InventoryStore,
): Route[] => [
  route(servedOperations.reportDeployment, {
    find: createSiteFinder(inventory),
    runsOn: ({ serverId }) => serverId,
    handle: async ({ found: site, body }) => {
      const { event, restarted } = await deployments.report(site, body);
      const { restart_workers: _, ...details } = body;
      return reply(202, {
        id: event.id,
        site_id: site.id,
        ...details,
        created_at: toTimestamp(event.created_at),
        restarted_workers: restarted,
      });
    },
  }),
];
