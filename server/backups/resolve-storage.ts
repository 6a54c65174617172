// Opens the storages of the inventory and their encryption. A local storage whose disk is not mounted is detected by its missing marker
// file or, before it had one, by its missing backups.
import { createEncrypt, type Encrypt } from "../encryption/encrypt.ts";
import { EncryptionError } from "../encryption/encryption-error.ts";
import type { LocalHost } from "../hosts/host.ts";
import type { Scratch } from "../hosts/scratch.ts";
import { expandHome } from "../inventory/paths.ts";
import type { SecretReader } from "../inventory/secrets.ts";
import type { InventoryStore, StorageProviderEntry } from "../inventory/store.ts";
import { ServerAway } from "../ssh/server-away.ts";
import type { Servers } from "../ssh/servers.ts";
import { folderHere, folderThere, type StorageFolder } from "../storage/folder.ts";
import { nothingOfOurs } from "../storage/marker.ts";
import { storageAway } from "../storage/remote-folder.ts";
import { type ListedStorage, StorageError } from "../storage/storage.ts";
import { toError } from "../to-error.ts";
import type { BackupStore } from "./backup-store.ts";
import { openService } from "./open-service.ts";
import type { Recipients } from "./recovery/stored-manifest.ts";

type LocalProvider = Extract<StorageProviderEntry, { type: "local" }>;
type Encryption = { recipients: Recipients; encrypt: Encrypt };

type StorageResolverOptions = {
  inventory: InventoryStore;
  store: Pick<BackupStore, "newestPaths">;
  host: LocalHost;
  servers: Pick<Servers, "open" | "login">;
  openServer: (id: number) => ReturnType<Servers["open"]>;
  secrets: SecretReader;
  scratch: Scratch;
};

export type StorageResolver = {
  /** @throws StorageError where it is no longer in the inventory, its secret is missing, or its disk is not mounted */
  storage(providerId: number): Promise<ListedStorage>;
  /** Returns the encryption of new files; null = none. @throws EncryptionError where a recipient is invalid, or like `storage` */
  encryption(providerId: number): Promise<Encryption | null>;
  /** Returns the identity that drills decrypt with; null = none. @throws EncryptionError where its file is missing */
  drillIdentity(providerId: number): Promise<string | null>;
  /** Called after a successful rehearsal or run: from then on a local storage must have its marker. */
  markStorage(providerId: number): Promise<void>;
};

/** Opens storages that need not be in the inventory. */
export type EntryStorageResolver = {
  /** @throws StorageError, also where the folder belongs to a storage of the inventory whose disk is not mounted */
  storageOf(entry: StorageProviderEntry): Promise<ListedStorage>;
  /** @throws EncryptionError where a recipient is invalid */
  encryptionOf(recipients: Recipients): Promise<Encryption>;
};

/** Number of the newest backups of which one must exist, where a storage has no marker yet. */
const lookedFor = 20;

export function createStorageResolver(
  options: StorageResolverOptions,
): StorageResolver & EntryStorageResolver {
  const { inventory, store, host, servers, openServer, secrets, scratch } = options;

  /** @throws StorageError where its server cannot be used now */
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

  /** @throws StorageError where it is no longer in the inventory */
  async function findProvider(id: number): Promise<StorageProviderEntry> {
    const entry = await inventory.findStorageProvider(id);
    if (entry === null)
      throw new StorageError(`Storage provider ${id} is no longer in the inventory.`);
    return entry;
  }

  const encryptionOf = async (recipients: Recipients): Promise<Encryption> => ({
    recipients,
    encrypt: await createEncrypt(recipients),
  });

  return {
    encryptionOf,

    async storageOf(entry) {
      if (entry.type !== "local")
        return openService(entry, { secrets, host, servers, spoolFolder: scratch.own });
      const folder = await folderOf(entry);
      return folder.open({ isMarked: await inventory.isMarkedPath(folder.key) });
    },

    async storage(providerId) {
      const entry = await findProvider(providerId);
      if (entry.type !== "local")
        return openService(entry, { secrets, host, servers, spoolFolder: scratch.own });
      const folder = await folderOf(entry);
      const marked = folder.open({ isMarked: true });
      if ((await inventory.markedPathOf(providerId)) === folder.key) return marked;
      // Errors of the file system are reported when the folder is used.
      if (await folder.isMarked().catch(() => false)) {
        await inventory.setMarkedPath(providerId, folder.key);
        return marked;
      }
      const storage = folder.open({ isMarked: false });
      if (await holdsBackups(storage, providerId)) return storage;
      throw nothingOfOurs(folder);
    },

    async encryption(providerId) {
      // Throws where the provider was removed meanwhile, because it may have had recipients.
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
