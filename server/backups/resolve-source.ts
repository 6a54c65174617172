// Resolves a configuration's source and storage: opens the inventory's entries.
import type { LocalHost } from "../hosts/host.ts";
import type { Scratch } from "../hosts/scratch.ts";
import type { EntryAccount } from "../inventory/accounts.ts";
import { expandHome } from "../inventory/paths.ts";
import type { SecretReader } from "../inventory/secrets.ts";
import type { DatabaseRow, InventoryStore } from "../inventory/store.ts";
import type { ConfigurationRow } from "./configuration-store.ts";
import { createFolderSource } from "./sources/folder/source.ts";
import type { BackupStore } from "./backup-store.ts";
import { createStorageResolver, type StorageResolver } from "./resolve-storage.ts";
import { createMysqlSource } from "./sources/mysql/source.ts";
import { createPostgresSource } from "./sources/postgres/source.ts";
import { SourceError, type Source } from "./sources/source.ts";
import { createSqliteSourceAs } from "./sources/sqlite/as-account.ts";
import { createSqliteSource } from "./sources/sqlite/source.ts";

type ResolverOptions = {
  inventory: InventoryStore;
  store: Pick<BackupStore, "newestPaths">;
  host: LocalHost;
  secrets: SecretReader;
  scratch: Scratch;
};

export type Resolver = StorageResolver & {
  /** @throws SourceError when the inventory has it no more, or its secret is not there */
  source(configuration: ConfigurationRow): Promise<Source>;
};

export function createResolver(options: ResolverOptions): Resolver {
  const { inventory, host, secrets, scratch } = options;

  /** The machine as the account of an entry sees it, and where that account may put things. */
  async function openAs({ account, problem }: EntryAccount) {
    if (account === null) throw new SourceError(problem ?? "No account is known for this source.");
    const its = host.as(account);
    return { host: its, scratchFolder: await scratch.folderOf(its) };
  }

  async function databaseSource({ entry, account }: DatabaseRow): Promise<Source> {
    const { name } = entry;
    if (entry.engine === "sqlite") {
      const { host: its, scratchFolder } = await openAs(account);
      const options = { name, path: expandHome(entry.path), scratchFolder };
      return its.isOwn ? createSqliteSource(options) : createSqliteSourceAs(its, options);
    }
    const url = await secrets.read(entry.url, `the url of database ${entry.id} (${name})`);
    return entry.engine === "postgres"
      ? createPostgresSource({ host, name, url })
      : createMysqlSource({ host, name, url, scratchFolder: scratch.own });
  }

  return {
    ...createStorageResolver(options),

    async source({ database_id, site_id }) {
      try {
        const database = database_id === null ? null : await inventory.findDatabase(database_id);
        if (database !== null) return await databaseSource(database);
        const site = site_id === null ? null : await inventory.findSite(site_id);
        if (site === null) throw new SourceError("The source is no longer in the inventory.");
        return createFolderSource({
          ...(await openAs(site.account)),
          name: site.name,
          root: site.root,
        });
      } catch (error) {
        throw error instanceof Error && error.name === "SecretMissing"
          ? new SourceError(error.message)
          : error;
      }
    },
  };
}
