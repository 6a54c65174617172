// Small facts about backups, as people read them.
import type { Backup } from "../../contract/backups/backup.ts";

const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte", "petabyte"] as const;

/** "812 byte", "4.1 MB": decimal units, as disks are sold and as the service says them. */
export function formatBytes(bytes: number): string {
  const step = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  return new Intl.NumberFormat("en", {
    style: "unit",
    unit: units[step] ?? "byte",
    unitDisplay: step === 0 ? "long" : "short",
    maximumFractionDigits: 1,
    maximumSignificantDigits: 3,
  }).format(bytes / 1000 ** step);
}

/** A word for polls: something about this backup is still moving. */
export function movingStatus({ status, restore_status: restore, drill_status: drill }: Backup) {
  if (restore === "running" || drill === "running") return "running";
  return status;
}
