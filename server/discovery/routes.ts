// What is found on a server, over HTTP. Nothing is added by looking.
import { posix } from "node:path";
import { servedOperations } from "../../contract/served-operations.ts";
import type { Discovery, TakeOverBody } from "../../contract/discovery.ts";
import type { Worker } from "../../contract/workers/worker.ts";
import { CommandMissing, type Host } from "../hosts/host.ts";
import { conflict } from "../http/service-error.ts";
import { reply, route, type Route } from "../http/route.ts";
import { createServerFinder } from "../inventory/finders.ts";
import { expandHome } from "../inventory/paths.ts";
import type { DatabaseRow, InventoryStore, ServerRow } from "../inventory/store.ts";
import type { SecretReader } from "../inventory/secrets.ts";
import { ServerAway } from "../ssh/server-away.ts";
import type { Servers } from "../ssh/servers.ts";
import { toError } from "../to-error.ts";
import { listDatabases } from "./list-databases.ts";
import { lookForThings, usualRoots } from "./look.ts";
import { createPrograms, type WorkersOfPrograms } from "./programs.ts";
import { isAt, siteAt } from "./known-entries.ts";

/** Opening a server and asking it; a look has less. */
const deadlineMs = 20_000;

export function discoveryRoutes(
  inventory: InventoryStore,
  servers: Pick<Servers, "open">,
  workers: WorkersOfPrograms,
  secrets: SecretReader,
): Route[] {
  const programs = createPrograms(workers);

  /** Says what is wrong with the server in place of an error without words. */
  async function onServer<Result>(
    { id, name }: ServerRow,
    work: (host: Host, signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const signal = AbortSignal.timeout(deadlineMs);
    try {
      return await work(await servers.open(id, { signal }), signal);
    } catch (error) {
      if (error instanceof ServerAway || error instanceof CommandMissing)
        throw conflict(error.message);
      if (toError(error).name === "TimeoutError")
        throw conflict(`${name} did not respond in time. Try again.`);
      throw error;
    }
  }

  async function discover(server: ServerRow): Promise<Discovery> {
    const { sites, databases } = await inventory.listEntriesOf(server.id);
    const known = sites.map(({ root }) => posix.normalize(expandHome(root)));
    // Sites stand beside each other.
    const parents = known.map((root) => posix.dirname(root)).filter((folder) => folder !== "/");
    const roots = [...new Set([...usualRoots, ...parents])];
    const { supervisordFile: _, ...found } = await onServer(server, (host, signal) =>
      lookForThings(host, { roots, supervisordConfig: server.supervisordConfig }, signal),
    );
    return {
      ...found,
      sites: found.sites.map((site) => ({
        ...site,
        site_id: siteAt(sites, site.root)?.id ?? null,
      })),
      sqlite_files: found.sqlite_files.map((file) => ({
        ...file,
        database_id: databaseAt(databases, file.path),
      })),
      queue_workers: await programs.describe(server, sites, found.queue_workers),
    };
  }

  /** Looks anew, so that what somebody has changed meanwhile is not taken for what they saw. */
  async function takeOver(server: ServerRow, body: TakeOverBody): Promise<Worker> {
    const { sites } = await inventory.listEntriesOf(server.id);
    const found = await onServer(server, (host, signal) =>
      lookForThings(host, { roots: [], supervisordConfig: server.supervisordConfig }, signal),
    );
    return programs.takeOver(server, sites, found, body);
  }

  const ofServer = {
    find: createServerFinder(inventory),
    runsOn: ({ id }: ServerRow) => id,
  };
  return [
    route(servedOperations.discoverServer, {
      ...ofServer,
      handle: async ({ found }) => reply(200, await discover(found)),
    }),
    route(servedOperations.findDatabases, {
      ...ofServer,
      async handle({ found, body }) {
        const { databases: entries } = await inventory.listEntriesOf(found.id);
        const listed = await onServer(found, (host, signal) =>
          listDatabases(host, body, { entries, secrets }, signal),
        );
        return reply(200, listed);
      },
    }),
    route(servedOperations.takeOverProgram, {
      ...ofServer,
      async handle({ found, body }) {
        const worker = await takeOver(found, body);
        return reply(202, worker, `/api/worker/${worker.id}`);
      },
    }),
  ];
}

const databaseAt = (databases: readonly DatabaseRow[], path: string): number | null =>
  databases.find(({ entry }) => entry.engine === "sqlite" && isAt(entry.path, path))?.id ?? null;
