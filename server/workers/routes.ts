import { servedOperations } from "../../contract/served-operations.ts";
import { listFilters } from "../http/list-filters.ts";
import { filteredListRoute, reply, route, type Caller, type Route } from "../http/route.ts";
import { InvalidFields } from "../http/service-error.ts";
import { createSiteFinder } from "../inventory/finders.ts";
import type { InventoryStore, SiteRow } from "../inventory/store.ts";
import { toUsage, toWorker } from "./serializer.ts";
import type { WorkerService } from "./service.ts";
import type { WorkerRow } from "./store.ts";

const defaultLogLines = 200;

type Order = (typeof servedOperations)[
  | "startWorker"
  | "stopWorker"
  | "restartWorker"
  | "deleteWorker"
  | "withdrawWorkerOrder"];

export function workerRoutes(workers: WorkerService, inventory: InventoryStore): Route[] {
  const findSite = createSiteFinder(inventory);
  const findWorker = async ({ id }: { id: number }, caller: Caller) => {
    const found = await workers.withServer(id);
    return found !== null && caller.reaches(found.serverId) ? found : null;
  };
  const ofWorker = { find: findWorker, runsOn: ({ serverId }: { serverId: number }) => serverId };
  const ofSite = { find: findSite, runsOn: ({ serverId }: SiteRow) => serverId };
  /** Creates the route of an order, whose response has no body. */
  const order = (operation: Order, give: (id: number) => Promise<void>): Route =>
    route(operation, {
      ...ofWorker,
      handle: async ({ params }) => {
        await give(params.id);
        return reply(204);
      },
    });
  const findWithSite = async (params: { id: number }, caller: Caller) => {
    const found = await findWorker(params, caller);
    if (found === null) return null;
    const site = await inventory.findSite(found.worker.site_id);
    return site && { worker: found.worker, site };
  };
  const withSite = {
    find: findWithSite,
    runsOn: ({ site }: { worker: WorkerRow; site: SiteRow }) => site.serverId,
  };
  const present = (row: WorkerRow, site: SiteRow) => toWorker(row, site, workers.look(row));

  return [
    filteredListRoute(servedOperations.listWorkers, {
      ...ofSite,
      isKnownWithout: true,
      filters: listFilters.listWorkers,
      list: async (page, { found: site }) => {
        const { rows, ...counted } = await workers.list(site, page);
        return { items: rows.map((row) => present(row, site)), ...counted };
      },
    }),
    route(servedOperations.showWorker, {
      ...withSite,
      isKnownWithout: true,
      handle: async ({ found: { worker, site } }) => reply(200, present(worker, site)),
    }),
    route(servedOperations.updateWorker, {
      ...withSite,
      check: ({ found: { site }, fields }) => workers.checkFields(site, fields),
      handle: async ({ params, found: { site }, body }) =>
        reply(200, present(await workers.update(params.id, site, body), site)),
    }),
    route(servedOperations.createWorker, {
      ...ofSite,
      check: ({ found: site, fields }) => workers.checkFields(site, fields),
      handle: async ({ found: site, body }) => {
        const row = await workers.create(site, body);
        return reply(201, present(row, site), `/api/worker/${row.id}`);
      },
    }),
    order(servedOperations.stopWorker, workers.stop),
    order(servedOperations.startWorker, workers.start),
    order(servedOperations.restartWorker, workers.restart),
    order(servedOperations.deleteWorker, workers.remove),
    order(servedOperations.withdrawWorkerOrder, workers.withdraw),
    route(servedOperations.showWorkerUsage, {
      ...ofWorker,
      isKnownWithout: true,
      handle: async ({ params }) => reply(200, toUsage(workers.usage(params.id))),
    }),
    route(servedOperations.showWorkerLog, {
      ...ofWorker,
      handle: async ({ params, query }) => {
        const { lines, offset } = query;
        if (lines !== undefined && offset !== undefined)
          throw new InvalidFields({ offset: ["Use either lines or offset, not both."] });
        const position =
          offset === undefined
            ? { lines: lines === undefined ? defaultLogLines : Number(lines) }
            : { offset: Number(offset) };
        return reply(200, await workers.readLog(params.id, position));
      },
    }),
  ];
}
