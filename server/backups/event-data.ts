// What an event of a backup tells its receivers.
import { toTimestamp } from "../../contract/values.ts";
import type { EventType, NewEvent } from "../events/store.ts";
import type { BackupRow } from "./backup-store.ts";
import type { ConfigurationRow } from "./configuration-store.ts";

const toMoment = (date: Date | null) => date && toTimestamp(date);

/** The configuration's part, which every event has. */
export const configurationEvent = (
  type: EventType,
  configuration: ConfigurationRow,
  more: Record<string, unknown>,
): NewEvent => ({
  type,
  server_id: configuration.server_id,
  data: {
    server_id: configuration.server_id,
    configuration_id: configuration.id,
    configuration: configuration.name,
    backupable_type: configuration.type,
    backupable_id: configuration.database_id ?? configuration.site_id,
    next_run_at: toMoment(configuration.next_run_at),
    ...more,
  },
});

export const backupEvent = (
  type: EventType,
  configuration: ConfigurationRow,
  backup: BackupRow,
  more: Record<string, unknown>,
): NewEvent =>
  configurationEvent(type, configuration, {
    backup_id: backup.id,
    trigger: backup.trigger,
    size: backup.size,
    started_at: toMoment(backup.started_at),
    ended_at: toMoment(backup.ended_at),
    warnings: backup.warnings,
    ...more,
  });
