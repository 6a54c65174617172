// Opens storages, and knows a local one whose disk is away: by its marker file, or before there was one, by its backups.
import { expandHome } from "../inventory/paths.ts";
import type { SecretReader } from "../inventory/secrets.ts";
import type { InventoryStore, StorageProviderEntry } from "../inventory/store.ts";
import { createLocalStorage } from "../storage/local.ts";
import { isMarked, mark, nothingOfOurs } from "../storage/marker.ts";
import { openStorage } from "../storage/open-storage.ts";
import { StorageError, type Storage } from "../storage/storage.ts";
import type { BackupStore } from "./backup-store.ts";

type StorageResolverOptions = {
  inventory: InventoryStore;
  store: Pick<BackupStore, "newestPaths">;
  secrets: SecretReader;
};

export type StorageResolver = {
  /** @throws StorageError when the inventory has it no more, its secret is not there, or its disk is away */
  storage(providerId: number): Promise<Storage>;
  /** After an installation or a run that went well: from now on a local storage is known by its marker. */
  markStorage(providerId: number): Promise<void>;
};

/** Of so many of the newest backups one has to be there, where a storage has no marker yet. */
const lookedFor = 20;

export function createStorageResolver({
  inventory,
  store,
  secrets,
}: StorageResolverOptions): StorageResolver {
  const rootOf = (entry: StorageProviderEntry) =>
    entry.type === "local" ? expandHome(entry.path) : null;

  async function holdsBackups(storage: Storage, providerId: number): Promise<boolean> {
    const paths = await store.newestPaths(providerId, lookedFor);
    for (const path of paths) if ((await storage.size(path)) !== null) return true;
    return paths.length === 0;
  }

  return {
    async storage(providerId) {
      const entry = await inventory.findStorageProvider(providerId);
      if (entry === null)
        throw new StorageError(`Storage provider ${providerId} is no longer in the inventory.`);
      const root = rootOf(entry);
      if (root === null) return openStorage(entry, secrets);
      const markedPath = await inventory.markedPathOf(providerId);
      const marked = createLocalStorage({ path: root, isMarked: true });
      if (markedPath === root) return marked;
      // Errors of the file system are reported by whoever works in the folder.
      if (await isMarked(root).catch(() => false)) {
        await inventory.setMarkedPath(providerId, root);
        return marked;
      }
      const storage = createLocalStorage({ path: root });
      if (await holdsBackups(storage, providerId)) return storage;
      throw nothingOfOurs(root);
    },

    async markStorage(providerId) {
      const entry = await inventory.findStorageProvider(providerId);
      const root = entry === null ? null : rootOf(entry);
      if (root === null || (await inventory.markedPathOf(providerId)) === root) return;
      await mark(root);
      await inventory.setMarkedPath(providerId, root);
    },
  };
}
