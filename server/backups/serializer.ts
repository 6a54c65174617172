// Converts rows to the interface's backups and configurations.
import {
  isFinishedRun,
  type Backup,
  type BackupConfiguration,
} from "../../contract/backups/backup.ts";
import { expectedGapMs } from "../../contract/backups/schedule.ts";
import { scheduleText } from "../../contract/backups/schedule-text.ts";
import { toTimestamp, toTimestampOrNull } from "../../contract/values.ts";
import { excludedIn } from "./sources/folder/excludes.ts";
import { isEncrypted } from "../encryption/encrypt.ts";
import type { Clock } from "../clock.ts";
import type { InventoryStore } from "../inventory/store.ts";
import type { BackupRow, BackupStore } from "./backup-store.ts";
import type { ConfigurationRow } from "./configuration-store.ts";
import type { MissingCopy } from "./copies/copy-missing.ts";
import type { CopyOfRun, CopyStore } from "./copies/copy-store.ts";
import { toMissing } from "./protection-store.ts";
import { warningsOf } from "./configuration-warnings.ts";
import type { TaskStore } from "./tasks/task-store.ts";
import { durationInWords } from "./formatting.ts";

type SerializerOptions = {
  store: BackupStore;
  copies: Pick<CopyStore, "ofRuns" | "missing">;
  tasks: TaskStore;
  inventory: InventoryStore;
  clock: Clock;
};

/** Data that the response of a configuration contains in addition to its row. */
type Beside = {
  /** Its newest backups, newest first. */
  shown: readonly Backup[];
  lastFinished: string | null;
  missingCopy: MissingCopy | null;
  backupable: BackupConfiguration["backupable"];
  timeZone: string;
};

/** Number of backups in the response of a configuration, in a list and alone. */
const shownInList = 10;
const shownAlone = 100;
/** Limit of the output of a backup inside a configuration, so that a list stays small. */
const nestedOutputCharacters = 1024;

export function createSerializer({ store, copies, tasks, inventory, clock }: SerializerOptions) {
  function toBackup(
    row: BackupRow,
    { ahead, copied }: { ahead: number | null; copied: readonly CopyOfRun[] },
  ): Backup {
    const isRunning = row.status === "running";
    // The waiting time of a pending backup is not part of its duration.
    // A run that waits for its copy already has an end, but is still running.
    const endedAt = isRunning ? null : row.ended_at;
    const endMs = endedAt?.getTime() ?? (isRunning ? clock.now() : row.started_at.getTime());
    return {
      id: row.id,
      path: row.path,
      size: isRunning ? 0 : row.size,
      output: row.output,
      status: row.status,
      restore_output: row.restore_output,
      restore_status: row.restore_status,
      started_at: toTimestamp(row.started_at),
      ended_at: toTimestampOrNull(endedAt),
      restored_at: toTimestampOrNull(row.restored_at),
      duration: durationInWords(endMs - row.started_at.getTime()),
      configuration_id: row.configuration_id,
      storage_provider_id: row.storage_provider_id,
      trigger: row.trigger,
      status_reason: row.status_reason,
      jobs_ahead: row.status === "pending" ? ahead : null,
      progress: isRunning ? { plain_bytes: row.plain_size, stored_bytes: row.stored_bytes } : null,
      checksum: row.checksum,
      encrypted: isEncrypted(row.path),
      base_id: row.base_id,
      plain_size: row.status === "finished" ? row.plain_size : null,
      warnings: row.warnings,
      verified_at: toTimestampOrNull(row.verified_at),
      damage: row.damage,
      restore_target: row.restore_target,
      drill_status: row.drill_status,
      drill_output: row.drill_output,
      drilled_at: toTimestampOrNull(row.drilled_at),
      pinned_at: toTimestampOrNull(row.pinned_at),
      locked_until: toTimestampOrNull(row.locked_until),
      copy_of_id: row.copy_of_id,
      taken_at: toTimestampOrNull(row.taken_at),
      copies: copied.map(({ id, storage_provider_id, status, is_damaged }) => ({
        id,
        storage_provider_id,
        status: status === "finished" && is_damaged ? "damaged" : status,
      })),
      excluded: excludedIn(row.manifest),
    };
  }

  async function toBackups(rows: readonly BackupRow[]): Promise<Backup[]> {
    const waiting = rows.filter(({ status }) => status === "pending").map(({ id }) => id);
    const [ahead, copied] = await Promise.all([
      tasks.jobsAhead(waiting),
      copies.ofRuns(rows.map(({ id }) => id)),
    ]);
    const copiesOf = Map.groupBy(copied, (one) => one.copy_of_id);
    return rows.map((row) =>
      toBackup(row, { ahead: ahead.get(row.id) ?? null, copied: copiesOf.get(row.id) ?? [] }),
    );
  }

  /** Reads the sources of configurations. */
  async function backupablesOf(rows: readonly ConfigurationRow[]) {
    const [databases, sites] = await Promise.all([
      inventory.findDatabases(rows.flatMap(({ database_id: id }) => id ?? [])),
      inventory.findSites(rows.flatMap(({ site_id: id }) => id ?? [])),
    ]);
    return (row: ConfigurationRow): BackupConfiguration["backupable"] => {
      const database = databases.get(row.database_id ?? 0);
      const site = sites.get(row.site_id ?? 0);
      return {
        id: row.database_id ?? row.site_id ?? 0,
        name: database?.entry.name ?? site?.name ?? "",
        // A database or site of the inventory counts as installed; whether it can be reached is the configuration's status.
        status: "installed",
        created_at: toTimestamp(database?.createdAt ?? site?.createdAt ?? row.created_at),
      };
    };
  }

  function toConfiguration(row: ConfigurationRow, beside: Beside): BackupConfiguration {
    const { shown, lastFinished, missingCopy, backupable, timeZone } = beside;
    const [last = null] = shown;
    return {
      id: row.id,
      name: row.name,
      frequency: row.frequency,
      hold: row.hold,
      directory: row.directory,
      status: row.status,
      storage_provider_id: row.storage_provider_id,
      type: row.type,
      backupable,
      last_backup: last,
      last_backup_at: last?.started_at ?? null,
      backups: [...shown],
      server_id: row.server_id,
      status_reason: row.status_reason,
      status_since: toTimestampOrNull(row.status_since),
      schedule_words: row.adopted_at === null ? scheduleText(row.frequency) : "No schedule",
      next_run_at: toTimestampOrNull(row.next_run_at),
      missed_since: toTimestampOrNull(row.missed_since),
      gap_ms:
        row.next_run_at === null ? null : expectedGapMs(row.frequency, timeZone, row.next_run_at),
      last_finished_at: lastFinished,
      copy_storage_provider_id: row.copy_storage_provider_id,
      copy_missing: toMissing(missingCopy),
      drill: row.drill,
      keep: row.keep,
      exclude: row.exclude,
      exclude_caches: row.exclude_caches,
      compression_level: row.compression_level,
      bytes_per_second: row.bytes_per_second,
      incremental: row.incremental,
      last_proven_at: toTimestampOrNull(row.last_proven_at),
      failed_drill:
        row.failed_drill_id === null || row.failed_drill_at === null
          ? null
          : { backup_id: row.failed_drill_id, at: toTimestamp(row.failed_drill_at) },
      adopted_at: toTimestampOrNull(row.adopted_at),
      warnings: warningsOf(row, shown),
    };
  }

  /** @param rows of one server */
  async function toConfigurations(
    rows: readonly ConfigurationRow[],
    limit: number,
  ): Promise<BackupConfiguration[]> {
    const [first] = rows;
    if (first === undefined) return [];
    const server = await inventory.findServer(first.server_id);
    const backups = await toBackups(
      await store.newest(
        rows.map(({ id }) => id),
        limit,
      ),
    );
    const nested = backups.map((backup) => ({
      ...backup,
      output: backup.output.slice(-nestedOutputCharacters),
    }));
    const of = Map.groupBy(nested, ({ configuration_id }) => configuration_id);
    const finishedShown = (id: number) => of.get(id)?.find(isFinishedRun)?.ended_at ?? null;
    const ids = rows.map(({ id }) => id);
    const copied = rows.filter((row) => row.copy_storage_provider_id !== null);
    const [backupableOf, missing, finishedBefore] = await Promise.all([
      backupablesOf(rows),
      copies.missing(copied.map(({ id }) => id)),
      store.lastFinished(ids.filter((id) => finishedShown(id) === null)),
    ]);
    return rows.map((row) =>
      toConfiguration(row, {
        shown: of.get(row.id) ?? [],
        lastFinished:
          finishedShown(row.id) ?? toTimestampOrNull(finishedBefore.get(row.id) ?? null),
        missingCopy: missing.get(row.id) ?? null,
        backupable: backupableOf(row),
        timeZone: server?.timeZone ?? "UTC",
      }),
    );
  }

  return {
    toBackups,
    async toBackup(row: BackupRow): Promise<Backup> {
      const [backup] = await toBackups([row]);
      if (backup === undefined) throw new Error("One row makes one backup.");
      return backup;
    },
    toList: (rows: readonly ConfigurationRow[]) => toConfigurations(rows, shownInList),
    async toConfiguration(row: ConfigurationRow): Promise<BackupConfiguration> {
      const [configuration] = await toConfigurations([row], shownAlone);
      if (configuration === undefined) throw new Error("One row makes one configuration.");
      return configuration;
    },
  };
}

export type Serializer = ReturnType<typeof createSerializer>;
