// The values of the configuration's form: what it starts with, and what it sends.
import type * as z from "zod/mini";
import {
  backupableTypes,
  defaultHold,
  type BackupConfiguration,
  type createBackupConfigurationBody,
} from "../../contract/backups/backup.ts";

export type ConfigurationFormValues = z.input<typeof createBackupConfigurationBody>;

export const presets = [
  { frequency: "0 * * * *", label: "Every hour" },
  { frequency: "30 2 * * *", label: "Every night at 02:30" },
  { frequency: "30 2 * * 0", label: "Every week, on Sunday at 02:30" },
  { frequency: "30 2 1 * *", label: "Every month, on the 1st at 02:30" },
] as const;

/** A form of its own values, with what the address asks for: `?type=site&id=4`. */
export function newValues(search: URLSearchParams): Partial<ConfigurationFormValues> {
  const asked = search.get("type");
  const id = Number(search.get("id") ?? "");
  return {
    name: "",
    frequency: "30 2 * * *",
    hold: defaultHold,
    backupable_type: backupableTypes.find((type) => type === asked) ?? "database",
    ...(Number.isInteger(id) && id > 0 && { backupable_id: id }),
  };
}

export const toValues = (configuration: BackupConfiguration): ConfigurationFormValues => ({
  name: configuration.name,
  frequency: configuration.frequency,
  ...(configuration.hold !== null && { hold: configuration.hold }),
  directory: configuration.directory,
  storage_provider_id: configuration.storage_provider_id,
  // It cannot be changed, and goes along so that one schema checks both forms.
  backupable_type: configuration.type,
  backupable_id: configuration.backupable.id,
  // A service without drills is not to be told of one.
  ...(configuration.drill !== undefined && { drill: configuration.drill }),
});
