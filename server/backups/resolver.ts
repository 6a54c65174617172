// Opens the source and the storage that a configuration names in the inventory. A local storage whose disk is away is known by
// its marker file, or before there was one, by its backups.
import { dirname, join } from "node:path";
import { EncryptionError } from "../encryption/encryption-error.ts";
import { createEncrypt, type Encrypt } from "../encryption/encrypt.ts";
import type { LocalHost } from "../hosts/host.ts";
import { mayHang } from "../hosts/mounts.ts";
import type { Scratch } from "../hosts/scratch.ts";
import type { EntryAccount } from "../inventory/one-account.ts";
import { expandHome } from "../inventory/paths.ts";
import type { SecretReader } from "../inventory/secrets.ts";
import type {
  DatabaseRow,
  InventoryStore,
  SiteRow,
  StorageProviderEntry,
} from "../inventory/store.ts";
import type { Account } from "../hosts/account.ts";
import { ServerAway } from "../ssh/server-away.ts";
import type { Servers } from "../ssh/servers.ts";
import { folderHere, folderThere, type StorageFolder } from "../storage/folder.ts";
import { nothingOfOurs } from "../storage/marker.ts";
import { storageAway } from "../storage/remote-folder.ts";
import { type ListedStorage, StorageError } from "../storage/storage.ts";
import { toError } from "../to-error.ts";
import type { RestoreDestination } from "../jobs/job-data.ts";
import type { ConfigurationRow } from "./configuration-store.ts";
import { createDrillPlaces, type PlacedDrill } from "./drill-places.ts";
import { openDatabase } from "./open-database.ts";
import { openHooks } from "./open-hooks.ts";
import { openService } from "./open-service.ts";
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
import type { Recipients } from "./stored-manifest.ts";
import { foldersOn, keepStoredInside, realPathHere, realPathOn } from "./stored-inside.ts";
import { describeSubject, type Subject } from "./subject.ts";
import { createSourceWatch } from "./watched-source.ts";

type Into = Partial<RestoreDestination>;
type LocalProvider = Extract<StorageProviderEntry, { type: "local" }>;

export type RemoteServers = Pick<Servers, "open" | "login">;

type ResolverOptions = {
  inventory: InventoryStore;
  store: Pick<BackupStore, "newestPaths">;
  host: LocalHost;
  /** Those over SSH. */
  servers: RemoteServers;
  secrets: SecretReader;
  scratch: Scratch;
  /** A few letters of its id, for the names of what is made on a database's server. */
  installation: string;
  /** Left out: as far as they can be. */
  times?: TrustedTimes | undefined;
};

type Encryption = { recipients: Recipients; encrypt: Encrypt };

export type Resolver = {
  /**
   * Where restores of it are tried. Opens the source only where that is its own server.
   * @param into how it is restored there
   * @throws like `source`
   */
  drill(
    configuration: ConfigurationRow,
    into?: Pick<RestoreDestination, "keeps_owners">,
  ): Promise<PlacedDrill>;
  /** @throws SourceError when the inventory has it no more, or its secret is not there */
  source(configuration: ConfigurationRow): Promise<Source>;
  /** Those of the source, which is not opened for them; null = nothing runs. @throws SourceError when the inventory has it no more */
  hooks(configuration: ConfigurationRow): Promise<Hooks | null>;
  /** What a restore replaces that does not go back into its source. @throws like `source` */
  destination(destination: RestoreDestination): Promise<Source>;
  /** @throws SourceError when the inventory has it no more */
  describe(
    configuration: ConfigurationRow,
    source: Pick<Source, "database" | "tools">,
  ): Promise<Subject>;
  /** @throws StorageError when the inventory has it no more, its secret is not there, or its disk is away */
  storage(providerId: number): Promise<ListedStorage>;
  /** What is stored there is encrypted with; null = nothing is. @throws EncryptionError when a recipient is none, or like `storage` */
  encryption(providerId: number): Promise<Encryption | null>;
  /** The text of the identity that drills decrypt with; null = there is none. @throws EncryptionError when it is not there */
  drillIdentity(providerId: number): Promise<string | null>;
  /** After an installation or a run that went well: from now on a local storage is known by its marker. */
  markStorage(providerId: number): Promise<void>;
};

/** What the inventory need not have. */
export type EntryResolver = {
  /** @throws SourceError when its secret is not there */
  sourceOf(found: DatabaseRow): Promise<Source>;
  /** @throws StorageError, also when the folder is one of the inventory whose disk is away */
  storageOf(entry: StorageProviderEntry): Promise<ListedStorage>;
  /** @throws EncryptionError when a recipient is none */
  encryptionOf(recipients: Recipients): Promise<Encryption>;
};

/** Of so many of the newest backups one has to be there, where a storage has no marker yet. */
const lookedFor = 20;

export function createResolver(options: ResolverOptions): Resolver & EntryResolver {
  const { inventory, store, host, servers, secrets, scratch, installation, times } = options;
  const drillPlaces = createDrillPlaces(options);
  const watched = createSourceWatch(options);
  /** A run or a restore does not fail for a connection that was lost a moment before it. */
  const openServer = (id: number) => servers.open(id, { isPatient: true });

  const accountOf = ({ account, problem }: EntryAccount): Account => {
    if (account === null) throw new SourceError(problem ?? "No account is known for this source.");
    return account;
  };

  /** This machine as the account of an entry sees it, and where that account may put things. */
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
      path === undefined
        ? await watched(source, { serverId, path: root, its })
        : createFolderPart(source, { host: its, root, path }),
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

  /** @throws StorageError when its server cannot be used now */
  async function folderOf({ path, server }: LocalProvider): Promise<StorageFolder> {
    const root = expandHome(path);
    if (server === undefined) return folderHere(root, host);
    const name = (await inventory.findServer(server))?.name ?? `server ${server}`;
    try {
      const there = await openServer(server);
      return there.isRemote
        ? folderThere(server, { host: there, server: name, root })
        : folderHere(root, host);
    } catch (error) {
      throw error instanceof ServerAway ? storageAway({ root, server: name }, error) : error;
    }
  }

  async function holdsBackups(storage: ListedStorage, providerId: number): Promise<boolean> {
    const paths = await store.newestPaths(providerId, lookedFor);
    for (const path of paths) if ((await storage.size(path)) !== null) return true;
    return paths.length === 0;
  }

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

  /** @throws StorageError when the inventory has it no more */
  async function findProvider(id: number): Promise<StorageProviderEntry> {
    const entry = await inventory.findStorageProvider(id);
    if (entry === null)
      throw new StorageError(`Storage provider ${id} is no longer in the inventory.`);
    return entry;
  }

  const encryptionOf = async (recipients: Recipients): Promise<Encryption> => ({
    recipients,
    encrypt: await createEncrypt(host, recipients),
  });

  return {
    sourceOf: (found) => open(found),
    encryptionOf,

    async storageOf(entry) {
      if (entry.type !== "local")
        return openService(entry, { secrets, host, servers, spoolFolder: scratch.own });
      const folder = await folderOf(entry);
      return folder.open({ isMarked: await inventory.isMarkedPath(folder.key) });
    },

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
      return (await drillPlaces.of(found)) ?? { place: null, ...(await open(found, { into })) };
    },

    async storage(providerId) {
      const entry = await findProvider(providerId);
      if (entry.type !== "local")
        return openService(entry, { secrets, host, servers, spoolFolder: scratch.own });
      const folder = await folderOf(entry);
      const marked = folder.open({ isMarked: true });
      if ((await inventory.markedPathOf(providerId)) === folder.key) return marked;
      // Errors of the file system are reported by whoever works in the folder.
      if (await folder.isMarked().catch(() => false)) {
        await inventory.setMarkedPath(providerId, folder.key);
        return marked;
      }
      const storage = folder.open({ isMarked: false });
      if (await holdsBackups(storage, providerId)) return storage;
      throw nothingOfOurs(folder);
    },

    async encryption(providerId) {
      // Removed since the storage was opened, it may have had recipients.
      const { recipients } = await findProvider(providerId);
      return recipients === undefined ? null : encryptionOf(recipients);
    },

    async drillIdentity(providerId) {
      const entry = await inventory.findStorageProvider(providerId);
      if (entry?.drill_identity === undefined) return null;
      const what = `the drill_identity of storage provider ${entry.id} (${entry.name})`;
      return secrets.read(entry.drill_identity, what).catch((error: unknown) => {
        throw new EncryptionError(toError(error).message);
      });
    },

    async markStorage(providerId) {
      const entry = await inventory.findStorageProvider(providerId);
      if (entry?.type !== "local") return;
      const folder = await folderOf(entry);
      if ((await inventory.markedPathOf(providerId)) === folder.key) return;
      await folder.mark();
      await inventory.setMarkedPath(providerId, folder.key);
    },
  };
}
