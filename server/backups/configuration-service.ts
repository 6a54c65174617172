// The rules of configurations: when they may be created, changed and deleted.
import {
  type BackupableType,
  canBackupConfiguration,
  defaultHold,
} from "../../contract/backups/backup.ts";
import type {
  CreateBackupConfigurationBody,
  UpdateBackupConfigurationBody,
} from "../../contract/backups/bodies.ts";
import type { FieldErrors } from "../../contract/errors.ts";
import { usedRules } from "../../contract/backups/keep-rules.ts";
import { slugOf } from "../../contract/backups/slug.ts";
import { utcText } from "../../contract/values.ts";
import type { Clock } from "../clock.ts";
import { recordActivity } from "../activity/store.ts";
import type { Caller } from "../http/route.ts";
import { conflict } from "../http/service-error.ts";
import type { InventoryStore, ServerRow } from "../inventory/store.ts";
import type { Connection } from "../store/database.ts";
import type { ListRequest } from "../store/filtered-rows.ts";
import { configurationEntry } from "./event-data.ts";
import type { BackupStore } from "./backup-store.ts";
import type { ChainStore } from "./incremental/chain-store.ts";
import type { ConfigurationRow, ConfigurationStore } from "./configuration-store.ts";
import type { ConfigurationTransitions } from "./configuration-transitions.ts";
import type { TaskStore } from "./tasks/task-store.ts";

type ConfigurationServiceOptions = {
  store: BackupStore;
  chainStore: Pick<ChainStore, "neededElsewhere">;
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

  /** Locks a row for a change. @throws a conflict where its state does not allow the action */
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

  async function providerComplaint(id: number | undefined): Promise<FieldErrors> {
    if (id === undefined || (await inventory.findStorageProvider(id)) !== null) return {};
    return { storage_provider_id: ["The selected storage provider id is invalid."] };
  }

  /** Refuses a copy in the same storage, where both files would be lost together. */
  async function copyComplaint(
    first: number | undefined,
    second: number | null | undefined,
  ): Promise<FieldErrors> {
    if (second == null) return {};
    if (second === first)
      return { copy_storage_provider_id: ["Choose another storage than the first one."] };
    if ((await inventory.findStorageProvider(second)) !== null) return {};
    return { copy_storage_provider_id: ["The selected copy storage provider id is invalid."] };
  }

  async function backupableComplaint(
    server: ServerRow,
    { backupable_type: type, backupable_id: id }: Partial<CreateBackupConfigurationBody>,
    reaches: Reaches,
  ): Promise<FieldErrors> {
    if (type === undefined || id === undefined) return {};
    const found =
      type === "database" ? await inventory.findDatabase(id) : await inventory.findSite(id);
    if (found?.serverId === server.id) return {};
    return {
      backupable_id: [
        found === null || !reaches(found.serverId)
          ? "The selected backupable id is invalid."
          : `The selected backupable id is a ${type} of another server.`,
      ],
    };
  }

  return {
    list: (serverId: number, page: ListRequest) => configurations.list(serverId, page),
    byId: (id: number) => configurations.byId(id),

    /**
     * Checks fields against the inventory. Returns errors by field.
     * @param reaches the servers that the caller may see; entries on others count as missing
     */
    checkNew: async (
      server: ServerRow,
      fields: Partial<CreateBackupConfigurationBody>,
      reaches: Reaches,
    ): Promise<FieldErrors> => ({
      ...(await providerComplaint(fields.storage_provider_id)),
      ...(await copyComplaint(fields.storage_provider_id, fields.copy_storage_provider_id)),
      ...(await backupableComplaint(server, fields, reaches)),
      ...excludeComplaint(fields.backupable_type, fields),
    }),
    /** Like `checkNew`, for a change. */
    checkChange: async (
      { type, ...row }: ConfigurationRow,
      fields: Partial<UpdateBackupConfigurationBody>,
    ): Promise<FieldErrors> => ({
      ...(await providerComplaint(fields.storage_provider_id)),
      ...(await copyComplaint(
        fields.storage_provider_id,
        // An absent field is not changed.
        fields.copy_storage_provider_id === undefined
          ? row.copy_storage_provider_id
          : fields.copy_storage_provider_id,
      )),
      ...excludeComplaint(type, fields),
    }),

    /** @param body with checked fields */
    create(server: ServerRow, body: CreateBackupConfigurationBody): Promise<ConfigurationRow> {
      const { backupable_type: type, backupable_id: targetId } = body;
      return store.transaction(async (tx) => {
        const row = await configurations.insert(tx, {
          server_id: server.id,
          name: body.name,
          frequency: body.frequency,
          hold: body.hold ?? defaultHold,
          keep: usedRules(body.keep),
          exclude: usedPatterns(body.exclude),
          exclude_caches: body.exclude_caches ?? false,
          compression_level: body.compression_level ?? null,
          bytes_per_second: body.bytes_per_second ?? null,
          incremental: body.incremental ?? false,
          directory: toDirectory(body.directory ?? slugOf(body.name)),
          storage_provider_id: body.storage_provider_id,
          copy_storage_provider_id: body.copy_storage_provider_id ?? null,
          type,
          database_id: type === "database" ? targetId : null,
          site_id: type === "site" ? targetId : null,
          drill: body.drill ?? null,
          created_at: new Date(clock.now()),
        });
        await sendJobs(tx, row);
        await recordActivity(tx, configurationEntry(row, "created"));
        return row;
      });
    },

    /** Changes a configuration and rehearses it again. Absent fields are not changed. @param body with checked fields @throws a conflict */
    update(id: number, body: UpdateBackupConfigurationBody): Promise<ConfigurationRow> {
      return store.transaction(async (tx) => {
        const row = await lockFor(tx, id, "update");
        const moved = await move(tx, row, "installing", {
          name: body.name,
          frequency: body.frequency,
          storage_provider_id: body.storage_provider_id,
          status_reason: null,
          // A changed configuration is no longer an adopted one.
          adopted_at: null,
          ...(body.hold !== undefined && { hold: body.hold }),
          ...(body.keep !== undefined && { keep: usedRules(body.keep) }),
          ...(body.exclude !== undefined && { exclude: usedPatterns(body.exclude) }),
          ...(body.exclude_caches !== undefined && { exclude_caches: body.exclude_caches }),
          ...(body.compression_level !== undefined && {
            compression_level: body.compression_level,
          }),
          ...(body.bytes_per_second !== undefined && { bytes_per_second: body.bytes_per_second }),
          ...(body.incremental !== undefined && { incremental: body.incremental }),
          ...(body.directory !== undefined && { directory: toDirectory(body.directory) }),
          ...(body.copy_storage_provider_id !== undefined && {
            copy_storage_provider_id: body.copy_storage_provider_id,
          }),
          ...(body.drill !== undefined && { drill: body.drill }),
          // The old run must not be due before the new schedule applies. Also sets it where a failed deletion removed it.
          ...((body.frequency !== row.frequency || row.next_run_at === null) && {
            next_run_at: null,
            missed_since: null,
            schedule_since: new Date(clock.now()),
          }),
        });
        if (moved === null)
          throw conflict("The backup configuration is being changed. Try again in a moment.");
        await recordActivity(tx, configurationEntry(moved, "changed"));
        return moved;
      });
    },

    /** @param withFiles whether the stored files are deleted, too */
    async remove(id: number, withFiles: boolean): Promise<void> {
      await store.transaction(async (tx) => {
        const row = await lockFor(tx, id, "remove");
        const [busy] = await tasks.ofConfiguration(tx, row);
        // While its file is being uploaded, an import has no task.
        const doing = busy?.kind ?? ((await store.isReceiving(tx, id)) ? "import" : null);
        if (doing !== null)
          throw conflict(
            `${doing === "import" ? "An" : "A"} ${doing} of this configuration is queued or running. Delete the configuration once it is done.`,
          );
        const needing = await options.chainStore.neededElsewhere(tx, id);
        if (needing !== null)
          throw conflict(
            `Backups of “${needing}” need full backups of this configuration. Delete those of “${needing}” first.`,
          );
        const pinned = withFiles ? await store.pinned(tx, id) : 0;
        if (pinned > 0)
          throw conflict(
            `${pinned} of its backups ${pinned === 1 ? "is" : "are"} pinned. Unpin what may be deleted, or keep the stored files.`,
          );
        const until = withFiles ? await store.lockedUntil(tx, id, new Date(clock.now())) : null;
        if (until !== null)
          throw conflict(
            `Some of its backups are locked in their storage, the last one until ${utcText(until)}. Delete the configuration after that, or keep the stored files.`,
          );
        const names: string[] = [];
        for (const provider of [row.storage_provider_id, row.copy_storage_provider_id])
          if (provider !== null)
            names.push((await inventory.findStorageProvider(provider, tx))?.name ?? "its storage");
        const place = `${row.directory}/${id} on ${names.join(" and ")}`;
        const detail = withFiles ? `Stored files deleted: ${place}` : `Stored files kept: ${place}`;
        await recordActivity(tx, configurationEntry(row, "deleted", { detail }));
        if (withFiles) await move(tx, row, "removing", { status_reason: null, next_run_at: null });
        else await configurations.remove(tx, id);
      });
    },
  };
}

export type ConfigurationService = ReturnType<typeof createConfigurationService>;

/** Returns the patterns without empty lines; null where there are none. */
const usedPatterns = (lines: readonly string[] | null | undefined): string[] | null => {
  const used = (lines ?? []).filter((line) => line.trim() !== "");
  return used.length === 0 ? null : used;
};

function excludeComplaint(
  type: BackupableType | undefined,
  fields: Pick<Partial<UpdateBackupConfigurationBody>, "exclude" | "exclude_caches">,
): FieldErrors {
  if (type !== "database") return {};
  const reason = ["Only of a site's folder files can be left out."];
  return {
    ...(usedPatterns(fields.exclude) !== null && { exclude: reason }),
    ...(fields.exclude_caches === true && { exclude_caches: reason }),
  };
}

/** Normalizes a path, so that one place has one name: `a//b/./c/` to `a/b/c`. */
const toDirectory = (text: string): string =>
  text
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/") || "backups";
