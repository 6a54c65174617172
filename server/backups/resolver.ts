// Opens sources, targets of restores, and places for drills, from their inventory entries.
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
  /** Short id of the installation, for names of temporary databases. */
  installation: string;
  /** Left out: as far as they can be. */
  times?: TrustedTimes | undefined;
};

export type Resolver = StorageResolver & {
  /**
   * Opens the place for drills; the source itself only where drills run on its own server.
   * @param into how the drill restores
   * @throws as `source`
   */
  drill(
    configuration: ConfigurationRow,
    into?: Pick<RestoreDestination, "keeps_owners">,
  ): Promise<PlacedDrill>;
  /** @throws SourceError where the inventory no longer lists it, or its secret is missing */
  source(configuration: ConfigurationRow): Promise<Source>;
  /**
   * @returns the source's hooks, without opening it; null = none
   * @throws SourceError where the inventory no longer lists it
   */
  hooks(configuration: ConfigurationRow): Promise<Hooks | null>;
  /**
   * Opens the target of a restore into something else than the source.
   * @throws as `source`
   */
  destination(destination: RestoreDestination): Promise<Source>;
  /** @throws SourceError when the inventory has it no more */
  describe(
    configuration: ConfigurationRow,
    source: Pick<Source, "database" | "tools">,
  ): Promise<Subject>;
};

/** Opens entries that the inventory may not list yet. */
export type EntryResolver = EntryStorageResolver & {
  /** @throws SourceError when its secret is not there */
  sourceOf(found: DatabaseRow): Promise<Source>;
};

export function createResolver(options: ResolverOptions): Resolver & EntryResolver {
  const { inventory, host, servers, secrets, scratch, installation, times } = options;
  const drills = createDrillResolver(options);
  const watched = createSourceWatch(options);
  /** Waits for a connection that was just lost, so that it does not fail a run or restore. */
  const openServer = (id: number) => servers.open(id, { isPatient: true });

  const accountOf = ({ account, problem }: EntryAccount): Account => {
    if (account === null) throw new SourceError(problem ?? "No account is known for this source.");
    return account;
  };

  /** @returns this machine as the entry's account, and where the account may store temporary files */
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

  /** @throws SourceError when the inventory has it no more */
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
