// The rules of imports: which file may be imported as a backup of what. The import itself is a task in the queue of the target's server.
import { neverFrequency } from "../../../contract/backups/adoption.ts";
import { maxHold } from "../../../contract/backups/backup.ts";
import { slugOf } from "../../../contract/backups/slug.ts";
import type { FieldErrors } from "../../../contract/errors.ts";
import { recordActivity } from "../../activity/store.ts";
import type { Clock } from "../../clock.ts";
import { InvalidFields, unauthorized } from "../../http/service-error.ts";
import type { Caller } from "../../http/route.ts";
import type { DatabaseRow, InventoryStore, SiteRow } from "../../inventory/store.ts";
import type { ImportedFile } from "../../jobs/job-data.ts";
import type { ListedStorage } from "../../storage/storage.ts";
import type { Connection } from "../../store/database.ts";
import { type AddTasksOptions, createAddTasks } from "../tasks/add-tasks.ts";
import type { BackupRow, BackupStore } from "../backup-store.ts";
import type { ConfigurationRow, ConfigurationStore } from "../configuration-store.ts";
import type { ConfigurationTransitions } from "../configuration-transitions.ts";
import { backupEntry } from "../event-data.ts";
import { asConflict } from "../open-stored.ts";
import type { Resolver } from "../resolver.ts";
import { columnsOf, nameOf } from "../subject.ts";
import { findImportable, listImportable } from "./importable-files.ts";
import type { ImportStore } from "./import-store.ts";

type Target = DatabaseRow | SiteRow;

export type ImportServiceOptions = AddTasksOptions & {
  store: BackupStore;
  configurations: Pick<ConfigurationStore, "insert">;
  clock: Clock;
  importStore: ImportStore;
  inventory: Pick<InventoryStore, "findStorageProvider">;
  resolver: Pick<Resolver, "storage" | "encryption">;
  transitions: Pick<ConfigurationTransitions, "sendJobs">;
};

export type ImportService = ReturnType<typeof createImportService>;

const suffix = " (imported)";
/** How long a storage may take to find a file. */
const findMs = 45_000;

export function createImportService(options: ImportServiceOptions) {
  const { store, configurations, importStore, inventory, resolver, transitions, clock } = options;
  const { addTask } = createAddTasks(options);

  /** Returns the configuration for imports of a target, and creates it where it is missing. */
  async function configurationFor(
    tx: Connection,
    target: Target,
    providerId: number,
  ): Promise<ConfigurationRow> {
    await importStore.lock(tx);
    const columns = columnsOf(target);
    const name = nameOf(target).slice(0, 255 - suffix.length) + suffix;
    const there = await importStore.configurationOf(tx, columns, name);
    if (there !== null) return there;
    const now = new Date(clock.now());
    const row = await configurations.insert(tx, {
      server_id: target.serverId,
      name,
      frequency: neverFrequency,
      hold: maxHold,
      directory: slugOf(nameOf(target)),
      storage_provider_id: providerId,
      type: columns.site_id === null ? "database" : "site",
      ...columns,
      drill: null,
      // Like an adopted configuration, it makes no backups and retention deletes none until it is edited.
      adopted_at: now,
      created_at: now,
    });
    await transitions.sendJobs(tx, row);
    return row;
  }

  const insert = (tx: Connection, configuration: ConfigurationRow, providerId: number) =>
    store.insert(tx, {
      configuration_id: configuration.id,
      storage_provider_id: providerId,
      trigger: "import",
      started_at: new Date(clock.now()),
    });

  /** @throws a conflict where the storage cannot be used now */
  const openStorage = (id: number): Promise<ListedStorage> =>
    resolver.storage(id).catch(asConflict);

  /** Adds the task that imports a file. @returns its id */
  async function addImport(
    tx: Connection,
    configuration: ConfigurationRow,
    backup: Pick<BackupRow, "id">,
    file: ImportedFile,
  ): Promise<string> {
    const [id = ""] = await addTask(tx, configuration, backup.id, "import", { file });
    return id;
  }

  return {
    configurationFor,
    insert,
    openStorage,

    /** Returns errors by field. */
    async check({
      storage_provider_id: id,
    }: {
      storage_provider_id?: number;
    }): Promise<FieldErrors> {
      return id === undefined || (await inventory.findStorageProvider(id)) !== null
        ? {}
        : { storage_provider_id: ["The selected storage provider id is invalid."] };
    },

    /** @throws a conflict where the storage cannot be read */
    list: async (providerId: number, prefix: string, signal: AbortSignal) =>
      listImportable(await openStorage(providerId), prefix, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        return asConflict(error);
      }),

    addImport,

    /**
     * Queues the import of a file in a storage.
     * @throws InvalidFields where the file does not exist; `unauthorized`; a conflict
     */
    async pick(
      target: Target,
      { storage_provider_id: providerId, path }: { storage_provider_id: number; path: string },
      { serverIds }: Pick<Caller, "serverIds">,
    ): Promise<BackupRow> {
      // The file may belong to a server that the token may not access.
      if (serverIds !== null) throw unauthorized();
      const storage = await openStorage(providerId);
      const size = await findImportable(storage, path, AbortSignal.timeout(findMs)).catch(
        asConflict,
      );
      if (size === null)
        throw new InvalidFields({ path: [`There is no file of this path in ${storage.place}.`] });
      return store.transaction(async (tx) => {
        const configuration = await configurationFor(tx, target, providerId);
        const backup = await insert(tx, configuration, providerId);
        const file = {
          storage_provider_id: providerId,
          path,
          size,
          name: `${path} from ${storage.place}`,
          upload: null,
        };
        await addImport(tx, configuration, backup, file);
        const detail = `${path} from ${storage.place}`;
        await recordActivity(tx, backupEntry(configuration, backup, "asked to import", { detail }));
        return backup;
      });
    },
  };
}
