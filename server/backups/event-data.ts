// Builds what backups report: events with data for programs and text for people, and entries of the timeline.
import { toTimestamp, toTimestampOrNull } from "../../contract/values.ts";
import { theSchedule, theService, type Actor } from "../activity/actor.ts";
import type { NewActivity } from "../activity/store.ts";
import type { NewEvent } from "../events/event.ts";
import type { BackupTaskKind, RestoreTarget } from "../store/tables/backups.ts";
import type { BackupRow } from "./backup-store.ts";
import type { ConfigurationRow } from "./configuration-store.ts";
import { sizeInWords, shortDuration } from "./formatting.ts";

type Details = {
  type: NewEvent["type"];
  reason: string | null;
  more?: Record<string, unknown>;
  facts?: [string, string][];
  moments?: [string, string][];
};

/** Event for a missed run. */
export const missedEvent = (configuration: ConfigurationRow, due: Date): NewEvent => ({
  ...ofConfiguration(configuration, { type: "backup.missed", reason: null }),
  data: { ...dataOf(configuration), due_at: toTimestamp(due) },
  notification: {
    subject: configuration.name,
    facts: [],
    moments: [["Due", toTimestamp(due)], ...nextRun(configuration)],
    reason: "The scheduled run didn't start. Check whether the server was busy or offline.",
    path: `/backup-configurations/${configuration.id}`,
  },
  activity: {
    kind: "backup",
    action: "missed",
    object: { type: "backup-configuration", id: configuration.id },
    actor: theSchedule,
  },
});

/** Event for the outcome of a backup, or of its restore, drill or verification. */
export const backupEvent = (
  configuration: ConfigurationRow,
  backup: BackupRow,
  { type, reason, more = {}, facts = [], moments = [] }: Details,
): NewEvent => ({
  ...ofConfiguration(configuration, { type, reason }),
  data: {
    ...dataOf(configuration),
    backup_id: backup.id,
    trigger: backup.trigger,
    size: backup.size,
    started_at: toTimestampOrNull(backup.started_at),
    ended_at: toTimestampOrNull(backup.ended_at),
    warnings: backup.warnings,
    ...(reason !== null && { reason }),
    ...more,
  },
  notification: {
    subject: configuration.name,
    facts: [
      ...(backup.status === "finished" ? [["Size", sizeInWords(backup.size)] as const] : []),
      ...(isOfRun(type) ? durationFact(backup) : []),
      ...facts,
      ...backup.warnings.map((warning) => ["Warning", warning] as const),
    ].map(([label, value]): [string, string] => [label, value]),
    moments: [...moments, ...nextRun(configuration)],
    reason,
    path: `/backups/${backup.id}`,
  },
  activity: {
    kind: "backup",
    action: actionOf[type] ?? type,
    object: { type: "backup", id: backup.id },
    actor: theService,
  },
});

/** Event for a failed copy. @param storage name of the copy's storage */
export const copyFailedEvent = (
  configuration: ConfigurationRow,
  copy: BackupRow,
  { reason, storage }: { reason: string; storage: string },
): NewEvent => {
  const { notification, ...event } = backupEvent(configuration, copy, {
    type: "backup.failed",
    reason,
    facts: copy.copy_of_id === null ? [] : [["Stored as", `Backup ${copy.copy_of_id}`]],
  });
  const subject = `${configuration.name}, copy in ${storage}`;
  return { ...event, notification: { ...notification, subject } };
};

/** Event for a damaged backup. */
export const damagedEvent = (
  configuration: ConfigurationRow,
  backup: BackupRow,
  { reason, foundAt }: { reason: string; foundAt: Date },
): NewEvent =>
  backupEvent(configuration, backup, {
    type: "backup.damaged",
    reason,
    more: { found_at: toTimestamp(foundAt) },
    facts: [["Backup", String(backup.id)]],
    moments: stored(backup),
  });

type Work = { reason: string | null; startedAt: Date | null; endedAt: Date };

/** Event for a failed drill. */
export const drillFailedEvent = (
  configuration: ConfigurationRow,
  backup: BackupRow,
  { reason, startedAt, endedAt }: Work,
): NewEvent =>
  backupEvent(configuration, backup, {
    type: "backup.drill_failed",
    reason,
    more: { drill_started_at: toTimestampOrNull(startedAt), drill_ended_at: toTimestamp(endedAt) },
    facts: [["Backup", String(backup.id)], ...tookFact(startedAt, endedAt)],
    moments: stored(backup),
  });

export const restoreEvent = (
  configuration: ConfigurationRow,
  backup: BackupRow,
  { reason, startedAt, endedAt }: Work,
): NewEvent => ({
  ...backupEvent(configuration, backup, {
    type: reason === null ? "restore.finished" : "restore.failed",
    reason,
    more: {
      restore_started_at: toTimestampOrNull(startedAt),
      restore_ended_at: toTimestamp(endedAt),
      ...(backup.restore_target !== null && { server_id: backup.restore_target.server_id }),
      restore_target: backup.restore_target === null ? null : targetInWords(backup.restore_target),
    },
    facts: [
      ["Backup", String(backup.id)],
      ...intoFact(backup.restore_target),
      ...tookFact(startedAt, endedAt),
    ],
    moments: stored(backup),
  }),
  ...ofTarget(backup.restore_target),
});

/** Addresses an event to the server and site of the target that a restore changed. */
const ofTarget = (target: RestoreTarget | null) =>
  target === null
    ? {}
    : {
        server_id: target.server_id,
        site_id: target.type === "site" ? target.id : null,
        database_id: target.type === "database" ? target.id : null,
      };

const intoFact = (target: RestoreTarget | null): [string, string][] =>
  target === null ? [] : [[target.part == null ? "Into" : "Only", targetInWords(target)]];

/** E.g. "shop-staging", "public/index.php in shop", "the new database shop_copy on the server of shop". */
export function targetInWords({
  name,
  database,
  part,
}: Pick<RestoreTarget, "name" | "database"> & { part?: string | null }): string {
  // Absent in data of versions that had no parts.
  if (part != null) return `${part} in ${name}`;
  return database === null ? name : `the new database ${database} on the server of ${name}`;
}

const isOfRun = (type: NewEvent["type"]) => type === "backup.finished" || type === "backup.failed";

const stored = ({ ended_at }: BackupRow): [string, string][] =>
  ended_at === null ? [] : [["Backed up", toTimestamp(ended_at)]];

const tookFact = (startedAt: Date | null, endedAt: Date): [string, string][] =>
  startedAt === null ? [] : [["Duration", shortDuration(endedAt.getTime() - startedAt.getTime())]];

const actionOf: Partial<Record<NewEvent["type"], string>> = {
  "backup.finished": "finished",
  "backup.failed": "failed",
  "backup.damaged": "found damaged",
  "backup.drill_failed": "drill failed",
  "restore.finished": "restored",
  "restore.failed": "restore failed",
};

const ofConfiguration = (configuration: ConfigurationRow, { type }: Details) => ({
  type,
  server_id: configuration.server_id,
  site_id: configuration.site_id,
  database_id: configuration.database_id,
});

const dataOf = (configuration: ConfigurationRow) => ({
  server_id: configuration.server_id,
  configuration_id: configuration.id,
  configuration: configuration.name,
  backupable_type: configuration.type,
  backupable_id: configuration.database_id ?? configuration.site_id,
  next_run_at: toTimestampOrNull(configuration.next_run_at),
});

const durationFact = ({ started_at, ended_at }: BackupRow): [string, string][] =>
  ended_at === null ? [] : [["Duration", shortDuration(ended_at.getTime() - started_at.getTime())]];

const nextRun = ({ next_run_at }: ConfigurationRow): [string, string][] =>
  next_run_at === null ? [] : [["Next run", toTimestamp(next_run_at)]];

type More = { detail?: string; outcome?: "good" | "bad"; actor?: Actor };

export const configurationEntry = (
  configuration: ConfigurationRow,
  action: string,
  more: More = {},
): NewActivity => ({
  kind: "backup",
  action,
  object: { type: "backup-configuration", id: configuration.id, name: configuration.name },
  server_id: configuration.server_id,
  site_id: configuration.site_id,
  ...more,
});

/** Actions in the timeline for canceled tasks, in place of a failure event. */
export const canceledAction = {
  run: "cancelled",
  import: "import cancelled",
  copy: "copy cancelled",
  restore: "restore cancelled",
  drill: "restore drill cancelled",
  verify: "verification cancelled",
} as const satisfies Record<BackupTaskKind, string>;

export const backupEntry = (
  configuration: ConfigurationRow,
  backup: Pick<BackupRow, "id">,
  action: string,
  more: More = {},
): NewActivity => ({
  ...configurationEntry(configuration, action, more),
  object: { type: "backup", id: backup.id, name: configuration.name },
});
