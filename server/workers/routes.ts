// The workers' operations over HTTP.
import { operations } from "../../contract/operations.ts";
import { readPage, toPage } from "../../contract/paging.ts";
import { toTimestamp } from "../../contract/values.ts";
import { toCommandLine, workerArguments } from "../../contract/workers/command.ts";
import type { Worker, WorkerProcess } from "../../contract/workers/worker.ts";
import { reply, route, type Caller, type Route } from "../http/route.ts";
import { InvalidFields } from "../http/service-error.ts";
import type { InventoryStore, SiteRow } from "../inventory/store.ts";
import { isAnyKept } from "./crash-loop.ts";
import type { WorkerService } from "./service.ts";
import type { WorkerRow } from "./store.ts";

const defaultLogLines = 200;

type Order = (typeof operations)["startWorker" | "stopWorker" | "restartWorker" | "deleteWorker"];

export function workerRoutes(workers: WorkerService, inventory: InventoryStore): Route[] {
  const findSite = async ({ id }: { id: number }, caller: Caller): Promise<SiteRow | null> => {
    const site = await inventory.findSite(id);
    return site !== null && caller.reaches(site.serverId) ? site : null;
  };
  const findWorker = async ({ id }: { id: number }, caller: Caller): Promise<WorkerRow | null> => {
    const found = await workers.withServer(id);
    return found !== null && caller.reaches(found.serverId) ? found.worker : null;
  };
  /** An operation that asks for a change and answers nothing. */
  const order = (operation: Order, give: (id: number) => Promise<void>): Route =>
    route(operation, {
      find: findWorker,
      handle: async ({ params }) => {
        await give(params.id);
        return reply(204);
      },
    });
  const toWorker = (
    row: WorkerRow,
    site: SiteRow,
    processes = workers.processes(row.id),
  ): Worker => ({
    id: row.id,
    command: toCommandLine(workerArguments(site.artisan, row)),
    connection: row.connection,
    queue: row.queue,
    max_jobs: row.max_jobs,
    max_time: row.max_time,
    force: row.force,
    memory: row.memory,
    sleep: row.sleep,
    timeout: row.timeout,
    tries: row.tries,
    processes: row.processes,
    directory: row.directory ?? site.root,
    startsecs: row.startsecs,
    stopwaitsecs: row.stopwaitsecs,
    startretries: row.startretries,
    stopsignal: row.stopsignal,
    stopasgroup: row.stopasgroup,
    status: row.status,
    created_at: toTimestamp(row.created_at),
    site_id: row.site_id,
    status_reason: row.status_reason,
    status_since: row.status_since && toTimestamp(row.status_since),
    deployment_id: row.deployment_id,
    crash_loop: crashLoopOf(row, processes),
    process_list: processes,
  });

  return [
    route(operations.listWorkers, {
      find: findSite,
      handle: async ({ found: site, query, url }) => {
        const page = readPage(query);
        const rows = await workers.list(site.id, page);
        const items = rows.map((row) => toWorker(row, site));
        return reply(200, toPage(items, site.workerCount, page, url));
      },
    }),
    route(operations.showWorker, {
      find: async ({ id }, caller) => {
        const worker = await findWorker({ id }, caller);
        const site = worker && (await inventory.findSite(worker.site_id));
        return site && { worker, site };
      },
      handle: async ({ found: { worker, site } }) => reply(200, toWorker(worker, site)),
    }),
    route(operations.createWorker, {
      find: findSite,
      handle: async ({ found: site, body }) => {
        const row = await workers.create(site, body);
        return reply(201, toWorker(row, site), `/api/worker/${row.id}`);
      },
    }),
    order(operations.stopWorker, workers.stop),
    order(operations.startWorker, workers.start),
    order(operations.restartWorker, workers.restart),
    order(operations.deleteWorker, workers.remove),
    route(operations.showWorkerLog, {
      find: findWorker,
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

/** What was stopped or given up since is in no loop any more, although its end was not told. */
function crashLoopOf(
  { status, crash_loop_since: since, crash_loop_reason: reason }: WorkerRow,
  processes: readonly WorkerProcess[],
): NonNullable<Worker["crash_loop"]> | null {
  const isEnding = status === "stopping" || status === "removing";
  if (since === null || reason === null || isEnding || !isAnyKept(processes)) return null;
  return { since: toTimestamp(since), reason };
}
