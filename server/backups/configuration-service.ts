// The rules of configurations: what may be created, changed and deleted when.
import {
  canBackupConfiguration,
  defaultHold,
  type CreateBackupConfigurationBody,
  type UpdateBackupConfigurationBody,
} from "../../contract/backups/backup.ts";
import { slugOf } from "../../contract/backups/slug.ts";
import type { Clock } from "../clock.ts";
import { recordActivity } from "../activity/store.ts";
import type { Caller } from "../http/route.ts";
import { conflict, InvalidFields } from "../http/service-error.ts";
import type { InventoryStore, ServerRow } from "../inventory/store.ts";
import type { Connection } from "../store/database.ts";
import type { ListRequest } from "../store/filtered-rows.ts";
import { configurationEntry } from "./activity-entries.ts";
import type { BackupStore } from "./backup-store.ts";
import type { ConfigurationRow, ConfigurationStore } from "./configuration-store.ts";
import type { ConfigurationTransitions } from "./configuration-transitions.ts";
import type { TaskStore } from "./task-store.ts";

type ConfigurationServiceOptions = {
  store: BackupStore;
  configurations: ConfigurationStore;
  tasks: TaskStore;
  inventory: InventoryStore;
  transitions: ConfigurationTransitions;
  clock: Clock;
};

type Reaches = Caller["reaches"];

export function createConfigurationService(options: ConfigurationServiceOptions) {
  const { store, configurations, tasks, inventory, transitions, clock } = options;
  const { move, sendJobs } = transitions;

  /** Locks a row that is about to be changed, or says why it cannot be. */
  async function lockFor(
    tx: Connection,
    id: number,
    action: keyof typeof canBackupConfiguration,
  ): Promise<ConfigurationRow> {
    const row = await configurations.lock(tx, id);
    if (row === null) throw conflict("The backup configuration no longer exists.");
    if (!canBackupConfiguration[action](row))
      throw conflict(`The backup configuration is ${row.status}. Try again once that is done.`);
    return row;
  }

  async function checkProvider(id: number): Promise<void> {
    if ((await inventory.findStorageProvider(id)) === null)
      throw new InvalidFields({
        storage_provider_id: ["The selected storage provider id is invalid."],
      });
  }

  /**
   * @param reaches the servers that whoever asks may see; what is on others is as if it were not there
   * @throws InvalidFields unless what is to be backed up is there, on this server
   */
  async function checkBackupable(
    server: ServerRow,
    { backupable_type, backupable_id }: CreateBackupConfigurationBody,
    reaches: Reaches,
  ): Promise<{ database_id: number | null; site_id: number | null; name: string }> {
    const complain = (text: string) => new InvalidFields({ backupable_id: [text] });
    const database =
      backupable_type === "database" ? await inventory.findDatabase(backupable_id) : null;
    const site = backupable_type === "site" ? await inventory.findSite(backupable_id) : null;
    const found = database ?? site;
    if (found === null || !reaches(found.serverId))
      throw complain("The selected backupable id is invalid.");
    if (found.serverId !== server.id)
      throw complain(`The selected backupable id is a ${backupable_type} of another server.`);
    return {
      database_id: database?.id ?? null,
      site_id: site?.id ?? null,
      name: database?.entry.name ?? site?.name ?? "",
    };
  }

  return {
    list: (serverId: number, page: ListRequest) => configurations.list(serverId, page),
    byId: (id: number) => configurations.byId(id),

    /** @throws InvalidFields */
    async create(
      server: ServerRow,
      body: CreateBackupConfigurationBody,
      reaches: Reaches,
    ): Promise<ConfigurationRow> {
      const { database_id, site_id } = await checkBackupable(server, body, reaches);
      await checkProvider(body.storage_provider_id);
      return store.transaction(async (tx) => {
        const row = await configurations.insert(tx, {
          server_id: server.id,
          name: body.name,
          frequency: body.frequency,
          hold: body.hold ?? defaultHold,
          directory: toDirectory(body.directory ?? slugOf(body.name)),
          storage_provider_id: body.storage_provider_id,
          type: body.backupable_type,
          database_id,
          site_id,
          drill: body.drill ?? null,
          created_at: new Date(clock.now()),
        });
        await sendJobs(tx, row);
        await recordActivity(tx, configurationEntry(row, "created"));
        return row;
      });
    },

    /** Rehearses anew. What is absent stays as it is. @throws InvalidFields, a conflict */
    async update(id: number, body: UpdateBackupConfigurationBody): Promise<ConfigurationRow> {
      await checkProvider(body.storage_provider_id);
      return store.transaction(async (tx) => {
        const row = await lockFor(tx, id, "update");
        const moved = await move(tx, row, "installing", {
          name: body.name,
          frequency: body.frequency,
          storage_provider_id: body.storage_provider_id,
          status_reason: null,
          ...(body.hold !== undefined && { hold: body.hold }),
          ...(body.directory !== undefined && { directory: toDirectory(body.directory) }),
          ...(body.drill !== undefined && { drill: body.drill }),
          // The old moment must not come before the new schedule is in force.
          ...(body.frequency !== row.frequency && { next_run_at: null, missed_since: null }),
        });
        if (moved === null)
          throw conflict("The backup configuration is being changed. Try again in a moment.");
        await recordActivity(tx, configurationEntry(moved, "changed"));
        return moved;
      });
    },

    /** @param removeFiles whether the stored files go too; otherwise they stay where they are */
    async remove(id: number, withFiles: boolean): Promise<void> {
      await store.transaction(async (tx) => {
        const row = await lockFor(tx, id, "remove");
        const busy = await tasks.ofConfiguration(tx, id);
        if (busy.length > 0)
          throw conflict(
            `A ${busy[0]?.kind} of this configuration is queued or running. Delete the configuration once it is done.`,
          );
        const provider = await inventory.findStorageProvider(row.storage_provider_id, tx);
        const place = `${row.directory}/${id} on ${provider?.name ?? "its storage"}`;
        const detail = withFiles ? `Stored files deleted: ${place}` : `Stored files kept: ${place}`;
        await recordActivity(tx, configurationEntry(row, "deleted", { detail }));
        if (withFiles) await move(tx, row, "removing", { status_reason: null, next_run_at: null });
        else await configurations.remove(tx, id);
      });
    },
  };
}

export type ConfigurationService = ReturnType<typeof createConfigurationService>;

/** `a//b/./c/` is `a/b/c`: one place has one name. */
const toDirectory = (text: string): string =>
  text
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/") || "backups";
