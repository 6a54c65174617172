// Opens the sources of the inventory, the destinations of restores, and the places of drills.
import { dirname, join } from "node:path";
import type { LocalHost } from "../hosts/host.ts";
import { mayHang } from "../hosts/mounts.ts";
import type { Scratch } from "../hosts/scratch.ts";
import type { EntryAccount } from "../inventory/one-account.ts";
import { expandHome } from "../inventory/paths.ts";
import type { SecretReader } from "../inventory/secrets.ts";
import type { DatabaseRow, InventoryStore, SiteRow } from "../inventory/store.ts";
import type { Account } from "../hosts/account.ts";
import type { Servers } from "../ssh/servers.ts";
import type { RestoreDestination } from "../jobs/job-data.ts";
import type { ConfigurationRow } from "./configuration-store.ts";
import { createDrillResolver, type PlacedDrill } from "./resolve-drill.ts";
import { openDatabase } from "./open-database.ts";
import { openHooks } from "./run/open-hooks.ts";
import { toExcludes } from "./sources/folder/excludes.ts";
import { createRemoteFolderSource } from "./sources/folder/remote/source.ts";
import { createFolderPart } from "./sources/folder/part.ts";
import { createFolderSource } from "./sources/folder/source.ts";
import type { TrustedTimes } from "./sources/folder/state.ts";
import type { BackupStore } from "./backup-store.ts";
import { SourceError, type Excludes, type Hooks, type Source } from "./sources/source.ts";
import { createRemoteSqliteSource } from "./sources/sqlite/remote/source.ts";
import { createSqliteSourceAs } from "./sources/sqlite/as-account.ts";
import { createSqliteSource } from "./sources/sqlite/source.ts";
import {
  createStorageResolver,
  type EntryStorageResolver,
  type StorageResolver,
} from "./resolve-storage.ts";
import { foldersOn, keepStoredInside, realPathHere, realPathOn } from "./restore/stored-inside.ts";
import { describeSubject, type Subject } from "./subject.ts";
import { createSourceWatch } from "./run/watched-source.ts";

type Into = Partial<RestoreDestination>;

export type RemoteServers = Pick<Servers, "open" | "login">;

type ResolverOptions = {
  inventory: InventoryStore;
  store: Pick<BackupStore, "newestPaths">;
  host: LocalHost;
  /** Servers over SSH. */
  servers: RemoteServers;
  secrets: SecretReader;
  scratch: Scratch;
  /** Short form of its id, for names of scratch objects on a database's server. */
  installation: string;
  /** Absent = the default. */
  times?: TrustedTimes | undefined;
};

export type Resolver = StorageResolver & {
  /**
   * Opens the place of a configuration's drills. Opens the source only where that is its own server.
   * @param into options of the restore
   * @throws like `source`
   */
  drill(
    configuration: ConfigurationRow,
    into?: Pick<RestoreDestination, "keeps_owners">,
  ): Promise<PlacedDrill>;
  /** @throws SourceError where it is no longer in the inventory, or its secret is missing */
  source(configuration: ConfigurationRow): Promise<Source>;
  /** Returns the hooks of the source without opening it; null = none. @throws SourceError where it is no longer in the inventory */
  hooks(configuration: ConfigurationRow): Promise<Hooks | null>;
  /** Opens the destination of a restore other than its own source. @throws like `source` */
  destination(destination: RestoreDestination): Promise<Source>;
  /** @throws SourceError where it is no longer in the inventory */
  describe(
    configuration: ConfigurationRow,
    source: Pick<Source, "database" | "tools">,
  ): Promise<Subject>;
};

/** Opens sources that need not be in the inventory. */
export type EntryResolver = EntryStorageResolver & {
  /** @throws SourceError where its secret is missing */
  sourceOf(found: DatabaseRow): Promise<Source>;
};

export function createResolver(options: ResolverOptions): Resolver & EntryResolver {
  const { inventory, host, servers, secrets, scratch, installation, times } = options;
  const drills = createDrillResolver(options);
  const watched = createSourceWatch(options);
  /** Patient, so that a run or restore does not fail because a connection was lost just before. */
  const openServer = (id: number) => servers.open(id, { isPatient: true });

  const accountOf = ({ account, problem }: EntryAccount): Account => {
    if (account === null) throw new SourceError(problem ?? "No account is known for this source.");
    return account;
  };

  /** Opens this machine as the account of an entry, with a scratch folder of that account. */
  async function openHere(entry: EntryAccount, path: string) {
    const as = host.as(accountOf(entry));
    const its = mayHang(path) ? as.apart() : as;
    return { host: its, scratchFolder: await scratch.folderOf(its) };
  }

  async function databaseSource(
    { entry, serverId, account }: DatabaseRow,
    into: Into = {},
  ): Promise<Source> {
    const { name } = entry;
    const { tables = null } = into;
    const isLocal = await inventory.isLocal(serverId);
    if (entry.engine === "sqlite") {
      if (!isLocal) {
        const there = await openServer(serverId);
        const its = there.as(accountOf(account));
        const source = createRemoteSqliteSource({ host: its, name, path: entry.path, tables });
        return watched(source, { serverId, path: entry.path, its });
      }
      const path = expandHome(entry.path);
      const { host: its, scratchFolder } = await openHere(account, path);
      const options = { name, path, scratchFolder, tables };
      const source = its.isOwn ? createSqliteSource(options) : createSqliteSourceAs(its, options);
      return watched(source, { serverId, path, its });
    }
    const own = await secrets.read(entry.url, `the url of database ${entry.id} (${name})`);
    const machine = isLocal ? host : await openServer(serverId);
    return openDatabase({
      host: machine,
      entry,
      url: own,
      into,
      spoolFolder: isLocal ? scratch.own : "/var/tmp",
      scratchFolder: scratch.own,
      installation,
      isDrilledElsewhere: (await inventory.findServer(serverId))?.drills != null,
    });
  }

  async function siteSource(
    { name, root, serverId, account }: SiteRow,
    { path }: Into,
    excludes: Excludes | null,
  ): Promise<Source> {
    const isLocal = await inventory.isLocal(serverId);
    const here = isLocal ? await openHere(account, root) : null;
    const its = here?.host ?? (await openServer(serverId)).as(accountOf(account));
    const source =
      here === null
        ? createRemoteFolderSource({ host: its, name, root, excludes, times })
        : createFolderSource({ ...here, name, root, excludes, times });
    const dataFolder = isLocal ? dirname(scratch.own) : null;
    return keepStoredInside(
      await watched(
        path === undefined ? source : createFolderPart(source, { host: its, root, path }),
        { serverId, path: root, its },
      ),
      {
        root,
        path: join(root, path ?? "."),
        kept: () => foldersOn({ inventory, serverId, dataFolder }),
        excludes,
        realPath: async (of) =>
          isLocal ? realPathHere(host, of) : realPathOn(await openServer(serverId), of),
      },
    );
  }

  const hooksOf = (found: DatabaseRow | SiteRow): Hooks | null =>
    openHooks(found, {
      inventory,
      openMachine: async (id) => ((await inventory.isLocal(id)) ? host : openServer(id)),
      accountOf: ({ account }) => accountOf(account),
    });

  /** @throws SourceError where it is no longer in the inventory */
  async function find({
    database_id,
    site_id,
  }: Pick<ConfigurationRow, "database_id" | "site_id">): Promise<DatabaseRow | SiteRow> {
    const database = database_id === null ? null : await inventory.findDatabase(database_id);
    if (database !== null) return database;
    const site = site_id === null ? null : await inventory.findSite(site_id);
    if (site === null) throw new SourceError("The source is no longer in the inventory.");
    return site;
  }

  async function open(
    found: DatabaseRow | SiteRow,
    { into = {}, excludes = null }: { into?: Into; excludes?: Excludes | null } = {},
  ): Promise<Source> {
    try {
      return await ("entry" in found
        ? databaseSource(found, into)
        : siteSource(found, into, excludes));
    } catch (error) {
      throw error instanceof Error && error.name === "SecretMissing"
        ? new SourceError(error.message)
        : error;
    }
  }

  return {
    ...createStorageResolver({ ...options, openServer }),
    sourceOf: (found) => open(found),

    async source(configuration) {
      const found = await find(configuration);
      const source = await open(found, { excludes: toExcludes(configuration) });
      const hooks = hooksOf(found);
      return hooks === null ? source : { ...source, hooks };
    },

    hooks: async (configuration) => hooksOf(await find(configuration)),

    destination: async (destination) => open(await find(destination), { into: destination }),

    async describe(configuration, source) {
      const found = await find(configuration);
      return describeSubject(found, await inventory.findServer(found.serverId), source);
    },

    async drill(configuration, into = { keeps_owners: true }) {
      const found = await find(configuration);
      return (await drills.of(found)) ?? { place: null, ...(await open(found, { into })) };
    },
  };
}
