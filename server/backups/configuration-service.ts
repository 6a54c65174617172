// The rules of configurations: what may be changed when, and the rehearsal that makes one `installed`.
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import type { Logger } from "pino";
import {
  canBackupConfiguration,
  defaultHold,
  type BackupConfigurationState,
  type CreateBackupConfigurationBody,
  type UpdateBackupConfigurationBody,
} from "../../contract/backups/backup.ts";
import { nextRun } from "../../contract/backups/schedule.ts";
import type { PageRequest } from "../../contract/paging.ts";
import type { Clock } from "../clock.ts";
import { theService } from "../activity/actor.ts";
import { recordActivity } from "../activity/store.ts";
import type { Caller } from "../http/route.ts";
import { conflict, InvalidFields } from "../http/service-error.ts";
import type { InventoryStore, ServerRow } from "../inventory/store.ts";
import type { JobData, Jobs } from "../jobs/jobs.ts";
import { StorageError, type Storage } from "../storage/storage.ts";
import type { Connection } from "../store/database.ts";
import { configurationEntry } from "./activity-entries.ts";
import type { BackupStore } from "./backup-store.ts";
import type {
  ConfigurationChange,
  ConfigurationRow,
  ConfigurationStore,
} from "./configuration-store.ts";
import type { Resolver } from "./resolve-source.ts";
import type { TaskStore } from "./task-store.ts";
import { operatorMessage, failureMessage } from "./failure-message.ts";

type ConfigurationServiceOptions = {
  store: BackupStore;
  configurations: ConfigurationStore;
  tasks: TaskStore;
  inventory: InventoryStore;
  resolver: Resolver;
  jobs: Pick<Jobs, "send">;
  clock: Clock;
  log: Logger;
};

type Reaches = Caller["reaches"];

/** A rehearsal is a few questions and one small object. */
const rehearsalMs = 100_000;
const deadlineSeconds = { installing: 150, removing: 3600 } as const;

export function createConfigurationService(options: ConfigurationServiceOptions) {
  const { store, configurations, tasks, inventory, resolver, jobs, clock, log } = options;

  /** Moves a row on; a state in transit gets its job and its deadline in the same breath. */
  async function move(
    tx: Connection,
    from: ConfigurationRow,
    status: BackupConfigurationState,
    change: ConfigurationChange,
  ): Promise<ConfigurationRow | null> {
    const row = await configurations.move(tx, from, status, change);
    if (row !== null) await sendJobs(tx, row);
    return row;
  }

  async function sendJobs(tx: Connection, row: ConfigurationRow): Promise<void> {
    if (row.status !== "installing" && row.status !== "removing") return;
    await jobs.send(tx, `backup-configuration.${row.status}`, ticket(row));
    await jobs.send(tx, "backup-configuration.deadline", ticket(row), deadlineSeconds[row.status]);
  }

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

  /** The storage takes a small object, gives it back and lets it go. */
  async function rehearseStorage(
    storage: Storage,
    { directory, id }: ConfigurationRow,
    signal: AbortSignal,
  ): Promise<void> {
    const key = `${directory}/${id}/rehearsal-${randomBytes(6).toString("hex")}`;
    const content = randomBytes(64);
    try {
      await storage.put(key, Readable.from([content]), { signal });
      const read: Buffer[] = [];
      for await (const chunk of await storage.get(key, { signal })) read.push(chunk);
      if (!Buffer.concat(read).equals(content))
        throw new StorageError(`${storage.place} returned other data than was written to it.`);
    } finally {
      await storage.remove(key);
    }
  }

  /**
   * Stores how a rehearsal ended. One that failed keeps its schedule: each run tries, fails loudly, and mends it once
   * it works. @param reason null when all is well
   */
  async function endInstall(
    row: ConfigurationRow,
    reason: string | null,
    warnings: string[] = [],
  ): Promise<void> {
    const server = await inventory.findServer(row.server_id);
    const next =
      row.next_run_at ?? nextRun(row.frequency, server?.timeZone ?? "UTC", new Date(clock.now()));
    await store.transaction(async (tx) => {
      const moved = await move(tx, row, reason === null ? "installed" : "failed", {
        status_reason: reason,
        install_warnings: warnings,
        next_run_at: next,
      });
      if (moved === null) return;
      const entry = configurationEntry(moved, reason === null ? "installed" : "install failed", {
        outcome: reason === null ? "good" : "bad",
        actor: theService,
        ...(reason !== null && { detail: reason }),
      });
      await recordActivity(tx, entry);
    });
  }

  async function removeFiles(row: ConfigurationRow): Promise<void> {
    for (const backup of await store.withFiles(row.id)) {
      const storage = await resolver.storage(backup.storage_provider_id);
      await storage.remove(backup.path);
    }
  }

  return {
    list: (serverId: number, page: PageRequest) => configurations.list(serverId, page),
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

    /** The rehearsal: what fails here would fail at night. */
    async install({ id, transition }: JobData["backup-configuration.installing"]): Promise<void> {
      const row = await configurations.byId(id);
      if (row === null || row.transition !== transition) return;
      const signal = AbortSignal.timeout(rehearsalMs);
      let reason: string | null = null;
      let warnings: string[] = [];
      try {
        const storage = await resolver.storage(row.storage_provider_id);
        await rehearseStorage(storage, row, signal);
        const source = await resolver.source(row);
        await source.rehearse(signal);
        warnings = (await source.warnings?.(signal)) ?? [];
        await resolver.markStorage(row.storage_provider_id);
      } catch (error) {
        if (operatorMessage(error) === null)
          log.error({ err: error, configuration: id }, "a rehearsal failed unexpectedly");
        reason = signal.aborted
          ? `The connection test timed out after ${rehearsalMs / 1000} s.`
          : failureMessage(error);
      }
      await endInstall(row, reason, warnings);
    },

    async finishRemoval({
      id,
      transition,
    }: JobData["backup-configuration.removing"]): Promise<void> {
      const row = await configurations.byId(id);
      if (row === null || row.transition !== transition) return;
      try {
        await removeFiles(row);
      } catch (error) {
        log.error({ err: error, configuration: id }, "a configuration's files were not removed");
        const reason = `Couldn't delete all stored files: ${failureMessage(error)} Fix the cause, then delete the configuration again.`;
        await store.transaction((tx) => move(tx, row, "failed", { status_reason: reason }));
        return;
      }
      await store.transaction(async (tx) => {
        const now = await configurations.lock(tx, id);
        if (now?.transition === transition) await configurations.remove(tx, id);
      });
    },

    /** Ends a state in transit that lasted too long. */
    async expire({ id, transition }: JobData["backup-configuration.deadline"]): Promise<void> {
      const row = await configurations.byId(id);
      if (row === null || row.transition !== transition) return;
      if (row.status !== "installing" && row.status !== "removing") return;
      const reason = `Timed out: still ${row.status} after ${deadlineSeconds[row.status]} s.`;
      if (row.status === "installing") await endInstall(row, reason);
      else await store.transaction((tx) => move(tx, row, "failed", { status_reason: reason }));
    },
  };
}

export type ConfigurationService = ReturnType<typeof createConfigurationService>;

const ticket = ({ id, transition }: ConfigurationRow) => ({ id, transition });

/** A directory's name made of a configuration's, e.g. "Shop, nightly" → `shop-nightly`. */
export const slugOf = (name: string): string =>
  name
    .normalize("NFKD")
    .replace(/\p{Mark}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 100) || "backups";

/** `a//b/./c/` is `a/b/c`: one place has one name. */
const toDirectory = (text: string): string =>
  text
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/") || "backups";
