// Where a configuration's content comes from and goes to: the inventory's entries, opened.
import { userInfo } from "node:os";
import type { Host } from "../hosts/host.ts";
import { expandHome } from "../inventory/paths.ts";
import type { SecretReader } from "../inventory/secrets.ts";
import type { DatabaseEntry, InventoryStore } from "../inventory/store.ts";
import { openStorage } from "../storage/open-storage.ts";
import { StorageError, type Storage } from "../storage/storage.ts";
import type { ConfigurationRow } from "./configuration-store.ts";
import { createFolderSource } from "./sources/folder.ts";
import { createMysqlSource } from "./sources/mysql.ts";
import { createPostgresSource } from "./sources/postgres.ts";
import { SourceError, type Source } from "./sources/source.ts";
import { createSqliteSource } from "./sources/sqlite.ts";

export type PlacesOptions = {
  inventory: InventoryStore;
  host: Host;
  secrets: SecretReader;
  /** For what must lie on disk for a while; closed to other accounts. */
  scratchFolder: string;
};

export type Places = {
  /** @throws SourceError when the inventory has it no more, or its secret is not there */
  source(configuration: ConfigurationRow): Promise<Source>;
  /** @throws StorageError likewise */
  storage(providerId: number): Promise<Storage>;
};

export function createPlaces({ inventory, host, secrets, scratchFolder }: PlacesOptions): Places {
  async function databaseSource(entry: DatabaseEntry): Promise<Source> {
    const { name } = entry;
    if (entry.engine === "sqlite")
      return createSqliteSource({ name, path: expandHome(entry.path), scratchFolder });
    const url = await secrets.read(entry.url, `the url of database ${entry.id} (${name})`);
    return entry.engine === "postgres"
      ? createPostgresSource({ host, name, url })
      : createMysqlSource({ host, name, url, scratchFolder });
  }

  return {
    async source({ database_id, site_id }) {
      try {
        const database = database_id === null ? null : await inventory.findDatabase(database_id);
        if (database !== null) return await databaseSource(database.entry);
        const site = site_id === null ? null : await inventory.findSite(site_id);
        if (site === null) throw new SourceError("What it backs up is no longer in the inventory.");
        const isRoot = userInfo().uid === 0;
        return createFolderSource({
          host,
          name: site.name,
          root: site.root,
          scratchFolder,
          isRoot,
        });
      } catch (error) {
        throw error instanceof Error && error.name === "SecretMissing"
          ? new SourceError(error.message)
          : error;
      }
    },

    async storage(providerId) {
      const entry = await inventory.findStorageProvider(providerId);
      if (entry === null)
        throw new StorageError(`Storage provider ${providerId} is no longer in the inventory.`);
      return openStorage(entry, secrets);
    },
  };
}
