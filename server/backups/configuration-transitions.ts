// Performs the transitions of configurations: the rehearsal that leads to `installed`, the removal, and the deadlines of both.
import type { Logger } from "pino";
import type { BackupConfigurationState } from "../../contract/backups/backup.ts";
import { nextRun } from "../../contract/backups/schedule.ts";
import { theService } from "../activity/actor.ts";
import { recordActivity } from "../activity/store.ts";
import type { InventoryStore } from "../inventory/store.ts";
import type { JobData } from "../jobs/job-data.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { rehearseStorage } from "../storage/rehearse.ts";
import type { Connection } from "../store/database.ts";
import { configurationEntry } from "./event-data.ts";
import type { BackupStore } from "./backup-store.ts";
import type {
  ConfigurationChange,
  ConfigurationRow,
  ConfigurationStore,
} from "./configuration-store.ts";
import type { Resolver } from "./resolver.ts";
import { operatorMessage, failureMessage } from "./failure-message.ts";
import type { RecoveryWriter } from "./recovery/recovery-writer.ts";
import { removeStored } from "./stored-file.ts";

type ConfigurationTransitionsOptions = {
  store: BackupStore;
  configurations: ConfigurationStore;
  inventory: InventoryStore;
  resolver: Resolver;
  jobs: Pick<Jobs, "send">;
  recovery: Pick<RecoveryWriter, "request">;
  log: Logger;
};

type JobReference = Pick<ConfigurationRow, "id" | "transition">;

/** Limit of a rehearsal, which is a few queries and one small object. */
const rehearsalMs = 100_000;
const deadlineSeconds = { installing: 150, removing: 3600 } as const;

export function createConfigurationTransitions(options: ConfigurationTransitionsOptions) {
  const { store, configurations, inventory, resolver, jobs, recovery, log } = options;

  /** Changes the status of a row; for a state in transit, sends its job and its deadline in the same transaction. */
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

  /** Sends the job that ends a state in transit, and its deadline. */
  async function sendJobs(tx: Connection, row: ConfigurationRow): Promise<void> {
    if (row.status !== "installing" && row.status !== "removing") return;
    await jobs.send(tx, `backup-configuration.${row.status}`, {
      ...jobReference(row),
      server_id: row.server_id,
    });
    await jobs.send(
      tx,
      "backup-configuration.deadline",
      jobReference(row),
      deadlineSeconds[row.status],
    );
  }

  /**
   * Stores the outcome of a rehearsal. A failed configuration keeps its schedule: each run tries again and reports its failure, and one
   * that succeeds makes the configuration `installed`. @param reason null = it succeeded
   */
  async function endInstall(
    row: ConfigurationRow,
    reason: string | null,
    warnings: string[] = [],
  ): Promise<void> {
    const server = await inventory.findServer(row.server_id);
    // A run that became due meanwhile stays due.
    const since = row.schedule_since ?? row.created_at;
    const next = row.next_run_at ?? nextRun(row.frequency, server?.timeZone ?? "UTC", since);
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

  /** Removes the files of a configuration. Stops where its status is changed meanwhile; the remaining files stay. */
  async function removeFiles({ id, transition }: ConfigurationRow): Promise<void> {
    // Newest first, so that after an interrupted removal the remaining backups still have their fulls.
    for (const backup of (await store.withFiles(id)).toReversed()) {
      if ((await configurations.byId(id))?.transition !== transition) return;
      const storage = await resolver.storage(backup.storage_provider_id);
      await removeStored(storage, backup.path);
      // Removes each row at once; otherwise it would still count as a backup if the file of another one could not be removed.
      await store.transaction((tx) => store.remove(tx, backup));
      recovery.request(backup.storage_provider_id);
    }
  }

  return {
    move,
    sendJobs,

    /** Runs the rehearsal, to find problems before a scheduled run has them. */
    async install({ id, transition }: JobReference): Promise<void> {
      const row = await configurations.byId(id);
      if (row === null || row.transition !== transition) return;
      const signal = AbortSignal.timeout(rehearsalMs);
      let reason: string | null = null;
      let warnings: string[] = [];
      try {
        const second = row.copy_storage_provider_id;
        const used = [row.storage_provider_id, ...(second === null ? [] : [second])];
        for (const provider of used) {
          const storage = await resolver.storage(provider);
          await rehearseStorage(
            storage,
            { folder: `${row.directory}/${id}`, attempt: transition },
            signal,
          );
          await resolver.encryption(provider);
        }
        const source = await resolver.source(row);
        await source.rehearse(signal);
        await source.hooks?.rehearse?.();
        warnings = (await source.warnings?.(signal)) ?? [];
        for (const provider of used) await resolver.markStorage(provider);
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

    /** Fails a state in transit that has reached its deadline. */
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

export type ConfigurationTransitions = ReturnType<typeof createConfigurationTransitions>;

const jobReference = ({ id, transition }: ConfigurationRow) => ({ id, transition });
