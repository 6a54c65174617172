// What of backups stands on the timeline beside their events: who asked for what, and what was changed or removed.
import type { Actor } from "../activity/actor.ts";
import type { NewActivity } from "../activity/store.ts";
import type { BackupTaskKind } from "../store/tables.ts";
import type { BackupRow } from "./backup-store.ts";
import type { ConfigurationRow } from "./configuration-store.ts";

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

/** What the timeline says of what somebody canceled; in place of the event of a failure. */
export const canceledAction = {
  run: "cancelled",
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
