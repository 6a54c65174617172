// Opens the place for the drills of a server, where the inventory names another machine than the server itself.
import { posix } from "node:path";
import { CommandMissing, type Host, type LocalHost } from "../hosts/host.ts";
import type { Scratch } from "../hosts/scratch.ts";
import { expandHome } from "../inventory/paths.ts";
import type { SecretReader } from "../inventory/secrets.ts";
import type { DatabaseRow, InventoryStore, ServerRow, SiteRow } from "../inventory/store.ts";
import { createRemoteAccounts } from "../ssh/remote-accounts.ts";
import { ServerAway } from "../ssh/server-away.ts";
import type { Servers } from "../ssh/servers.ts";
import { toError } from "../to-error.ts";
import { createFolderDrill } from "./sources/folder/remote/drill-elsewhere.ts";
import { createMysqlDrillOn } from "./sources/mysql/source.ts";
import { createServerDrill } from "./sources/whole-server/drill.ts";
import { besideDatabases as besideMysql } from "./sources/mysql-server/accounts.ts";
import { besideDatabases as besidePostgres } from "./sources/postgres-server/roles.ts";
import { createPostgresDrill } from "./sources/postgres/drill.ts";
import { SourceError, type Attempt, type Drill } from "./sources/source.ts";
import { createRemoteSqliteSource } from "./sources/sqlite/remote/source.ts";

export type PlacedDrill = Drill & {
  /** The place as text; null = the source's own server. */
  place: string | null;
};

type DrillResolverOptions = {
  inventory: Pick<InventoryStore, "findServer">;
  host: LocalHost;
  servers: Pick<Servers, "open">;
  secrets: SecretReader;
  scratch: Scratch;
  installation: string;
};

type Drills = NonNullable<ServerRow["drills"]>;
/** `server`: the server that the drills belong to. */
type Place = { drills: Drills; server: ServerRow; shown: string };

export function createDrillResolver(options: DrillResolverOptions) {
  const { inventory, host, servers, secrets, scratch, installation } = options;

  async function find(serverId: number): Promise<Place | null> {
    const server = await inventory.findServer(serverId);
    if (server === null || server.drills === null) return null;
    const { drills } = server;
    if (drills.server === "local") return { drills, server, shown: "this machine" };
    const there = await inventory.findServer(drills.server);
    const shown = there?.connection === "local" ? "this machine" : there?.name;
    return { drills, server, shown: shown ?? `server ${drills.server}` };
  }

  const open = async ({ drills }: Place): Promise<Host> =>
    drills.server === "local" ? host : servers.open(drills.server, { isPatient: true });

  async function databaseDrill(
    place: Place,
    entry: Exclude<DatabaseRow["entry"], { engine: "sqlite" }>,
  ): Promise<Drill> {
    const { engine } = entry;
    const { drills, server, shown } = place;
    const reference = drills[engine];
    const kind = engine === "postgres" ? "PostgreSQL" : "MySQL or MariaDB";
    if (reference === undefined)
      throw new SourceError(
        `the inventory names no ${kind} there. Add “${engine}: env:NAME” to “drills” of server ${server.id} (${server.name}): the URL of a database server as ${shown} reaches it.`,
      );
    const purpose = `“${engine}” in “drills” of server ${server.id} (${server.name})`;
    const name = `drills of ${server.name}`;
    const url = withDatabase(await secrets.read(reference, purpose), engine);
    const machine = await open(place);
    const isServer = entry.scope === "server";
    if (engine === "mysql") {
      const drill = createMysqlDrillOn({
        host: machine,
        name,
        url,
        scratchFolder: scratch.own,
        installation,
      });
      return isServer ? createServerDrill(besideMysql, drill) : drill;
    }
    const drill = createPostgresDrill({ host: machine, name, url, installation });
    return isServer ? createServerDrill(besidePostgres, drill) : drill;
  }

  /** Opens the place as the account for files. @param name of the source */
  async function openForFiles(place: Place, name: string): Promise<Host> {
    const { drills, server, shown } = place;
    const machine = await open(place);
    const cure = `Set “user” in “drills” of server ${server.id} (${server.name})`;
    if (drills.user === undefined) {
      if (machine.account.uid !== 0) return machine;
      throw new SourceError(
        `the files of ${name} would be written as root. ${cure} to an account of ${shown}, or to “root” if that is meant.`,
      );
    }
    const account = await createRemoteAccounts(machine).find(drills.user);
    if (account === null)
      throw new SourceError(`${shown} has no user “${drills.user}”. ${cure} to another account.`);
    return machine.as(account);
  }

  async function openDrill(place: Place, source: DatabaseRow | SiteRow): Promise<Drill> {
    if (!("entry" in source))
      return createFolderDrill(await openForFiles(place, source.name), source.root);
    const { entry } = source;
    if (entry.engine !== "sqlite") return databaseDrill(place, entry);
    const host = await openForFiles(place, entry.name);
    // Not the database's own path, where the other machine may have a file.
    const path = posix.join("/var/tmp", expandHome(entry.path));
    return createRemoteSqliteSource({ host, name: entry.name, path });
  }

  /** Adds the place to an error, unless that is about the stored file. */
  function inPlace(shown: string, error: unknown): unknown {
    const isKnown = [SourceError, ServerAway, CommandMissing].some((kind) => error instanceof kind);
    const isMissingSecret = toError(error).name === "SecretMissing";
    if (!isKnown && !isMissingSecret) return error;
    return new SourceError(`Drill on ${shown}: ${toError(error).message}`, { cause: error });
  }

  return {
    /** @returns null where drills run on the source's own server */
    async of(source: DatabaseRow | SiteRow): Promise<PlacedDrill | null> {
      const place = await find(source.serverId);
      if (place === null) return null;
      const opened = async <Result>(work: (drill: Drill) => Promise<Result>): Promise<Result> => {
        try {
          return await work(await openDrill(place, source));
        } catch (error) {
          throw inPlace(place.shown, error);
        }
      };
      return {
        place: place.shown,
        async drill(from, ...held) {
          try {
            return await opened((drill) => drill.drill(from, ...held));
          } finally {
            from.destroy();
          }
        },
        settle: (attempt: Attempt) => opened((drill) => drill.settle(attempt)),
      };
    },
  };
}

/** Adds a database to a URL without one, which is allowed because a drill creates its own database. */
function withDatabase(url: string, name: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  if (parsed.pathname.length < 2) parsed.pathname = `/${name}`;
  return parsed.href;
}
