// What is found on a server, over HTTP. Nothing is added by looking.
import { posix } from "node:path";
import { servedOperations } from "../../contract/served-operations.ts";
import type { Discovery } from "../../contract/discovery.ts";
import { CommandMissing, type Host } from "../hosts/host.ts";
import { conflict } from "../http/service-error.ts";
import { reply, route, type Route } from "../http/route.ts";
import { createServerFinder } from "../inventory/finders.ts";
import { expandHome } from "../inventory/paths.ts";
import type { DatabaseRow, InventoryStore, ServerRow, SiteRow } from "../inventory/store.ts";
import { ServerAway, toShownText } from "../ssh/server-away.ts";
import type { Servers } from "../ssh/servers.ts";
import { toError } from "../to-error.ts";
import { listDatabases } from "./list-databases.ts";
import { lookForThings, usualRoots } from "./look.ts";
import { settingsOf, siteRootOf } from "./program-settings.ts";

/** Opening a server and asking it; a look has less. */
const deadlineMs = 20_000;

export function discoveryRoutes(
  inventory: InventoryStore,
  servers: Pick<Servers, "open">,
): Route[] {
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
    const found = await onServer(server, (host, signal) =>
      lookForThings(host, { roots, supervisordConfig: server.supervisord?.config ?? null }, signal),
    );
    return {
      ...found,
      sites: found.sites.map((site) => ({ ...site, site_id: siteAt(sites, site.root) })),
      sqlite_files: found.sqlite_files.map((file) => ({
        ...file,
        database_id: databaseAt(databases, file.path),
      })),
      queue_workers: found.queue_workers.map((program) => {
        const root = siteRootOf(program);
        return {
          program: program.program,
          command: toShownText(program.options.get("command") ?? ""),
          file: program.file,
          site_id: root === null ? null : siteAt(sites, root),
          settings: settingsOf(program),
        };
      }),
    };
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
      handle: async ({ found, body }) =>
        reply(200, await onServer(found, (host, signal) => listDatabases(host, body, signal))),
    }),
  ];
}

const isAt = (written: string, path: string) => posix.normalize(expandHome(written)) === path;

const siteAt = (sites: readonly SiteRow[], root: string): number | null =>
  sites.find((site) => isAt(site.root, root))?.id ?? null;

const databaseAt = (databases: readonly DatabaseRow[], path: string): number | null =>
  databases.find(({ entry }) => entry.engine === "sqlite" && isAt(entry.path, path))?.id ?? null;
