// Finds what a server has and the inventory does not list yet. It adds nothing.
import { posix } from "node:path";
import type {
  Discovery,
  FindDatabasesBody,
  FoundDatabases,
  TakeOverBody,
} from "../../contract/discovery.ts";
import type { Worker } from "../../contract/workers/worker.ts";
import { CommandMissing, type Host } from "../hosts/host.ts";
import { conflict } from "../http/service-error.ts";
import { expandHome } from "../inventory/paths.ts";
import type { DatabaseRow, InventoryStore, ServerRow } from "../inventory/store.ts";
import type { SecretReader } from "../inventory/secrets.ts";
import { ServerAway } from "../ssh/server-away.ts";
import type { Servers } from "../ssh/servers.ts";
import { toError } from "../to-error.ts";
import { listDatabases } from "./list-databases.ts";
import { scanServer, usualRoots } from "./scan.ts";
import { createPrograms, type WorkersOfPrograms } from "./programs.ts";
import { isAt, siteAt } from "./known-entries.ts";

/** Limit of a request, from connecting to the server on. `scanServer` has a shorter one of its own. */
const deadlineMs = 20_000;

export function createDiscoveryService(
  inventory: InventoryStore,
  servers: Pick<Servers, "open">,
  workers: WorkersOfPrograms,
  secrets: SecretReader,
) {
  const programs = createPrograms(workers);

  /** Runs work on a server. @throws ServiceError `conflict` where the server cannot be used or is too slow */
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
    // Other sites are often in the same folder.
    const parents = known.map((root) => posix.dirname(root)).filter((folder) => folder !== "/");
    const roots = [...new Set([...usualRoots, ...parents])];
    const { supervisordFile: _, ...found } = await onServer(server, (host, signal) =>
      scanServer(host, { roots, supervisordConfig: server.supervisordConfig }, signal),
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

  /** Scans again, because the program may have changed since the user saw it. */
  async function takeOver(server: ServerRow, body: TakeOverBody): Promise<Worker> {
    const { sites } = await inventory.listEntriesOf(server.id);
    const found = await onServer(server, (host, signal) =>
      scanServer(host, { roots: [], supervisordConfig: server.supervisordConfig }, signal),
    );
    return programs.takeOver(server, sites, found, body);
  }

  async function findDatabases(
    server: ServerRow,
    body: FindDatabasesBody,
  ): Promise<FoundDatabases> {
    const { databases: entries } = await inventory.listEntriesOf(server.id);
    return onServer(server, (host, signal) =>
      listDatabases(host, body, { entries, secrets }, signal),
    );
  }

  return { discover, findDatabases, takeOver };
}

export type DiscoveryService = ReturnType<typeof createDiscoveryService>;

const databaseAt = (databases: readonly DatabaseRow[], path: string): number | null =>
  databases.find(({ entry }) => entry.engine === "sqlite" && isAt(entry.path, path))?.id ?? null;
