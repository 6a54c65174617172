// Human-readable facts about backups.
import {
  type Backup,
  type BackupConfiguration,
  backupStates,
  isFinishedRun,
} from "../../contract/backups/backup.ts";
import { isInTransit } from "../../contract/states.ts";
import { durationText } from "../ui/time/time-text.ts";

/**
 * Whether the service has Quarterdeck's extras. Recognized by drills, because other services may use names like
 * `server_id`, too.
 */
export const hasExtras = (of: Backup | BackupConfiguration): boolean =>
  ("backupable" in of ? of.drill : of.drill_status) !== undefined;

const triggerTexts = new Map([
  ["schedule", "Schedule"],
  ["manual", "Manual"],
  ["safety", "Before restore"],
  ["adopted", "Adopted"],
  ["import", "Import"],
  ["copy", "Copy"],
]);

/** Returns the text of a trigger; a word of another service is returned unchanged. */
export const triggerText = (trigger: string): string => triggerTexts.get(trigger) ?? trigger;

const units = ["bytes", "kB", "MB", "GB", "TB", "PB"] as const;

/** "812 bytes", "4.12 MB": decimal units, as used for disks and by the service. */
export function formatBytes(bytes: number, digits = 3): string {
  if (bytes === 1) return "1 byte";
  const step = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${Number((bytes / 1000 ** step).toPrecision(digits))} ${units[step]}`;
}

/** "40 ms", "0.6 s", "12 s", "3 min". */
export function spanText(ms: number): string {
  if (ms < 100) return `${Math.round(ms)} ms`;
  return ms < 10_000 ? `${Math.round(ms / 100) / 10} s` : durationText(ms);
}

/** Duration of a run, rounded; "–" while it has not ended. */
export function runDuration({ started_at: startedAt, ended_at: endedAt }: Backup): string {
  if (endedAt === null) return "–";
  return spanText(Math.max(0, Date.parse(endedAt) - Date.parse(startedAt)));
}

const isKnown = (status: string) => backupStates.some((known) => known === status);

/** Returns the fields that a poll needs. */
export const toMoving = (backup: Backup) => ({ id: backup.id, status: movingStatus(backup) });

/** Returns the state of a backup for polls: in transit while any of its operations is. */
export function movingStatus(backup: Backup): string {
  const { status, restore_status: restore, drill_status: drill, ended_at: endedAt } = backup;
  if (isInTransit(restore) || isInTransit(drill)) return "running";
  // A word of another service, such as "queued", need not end in -ing, but without an end it continues.
  return !isKnown(status) && endedAt === null ? "running" : status;
}

/** Number of earlier backups that define the usual size. */
const comparedRuns = 7;
/** Relative difference below which a size counts as usual. */
const sameShare = 0.05;

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}

/** Returns the median size of the last finished runs; null = there are none. */
export function usualSize(backups: readonly Backup[]): number | null {
  const sizes = backups.filter(isFinishedRun).map(({ size }) => size);
  return sizes.length === 0 ? null : median(sizes.slice(0, comparedRuns));
}

/**
 * Compares the size of a finished backup with the usual one: "12% larger than usual"; null where it cannot be compared.
 * The size of changes says nothing about the content, so for incremental backups the contents are compared.
 */
export function sizeTrend(backup: Backup, backups: readonly Backup[]): string | null {
  const before = backups
    .filter((other) => other.id < backup.id && isFinishedRun(other))
    .slice(0, comparedRuns);
  // Imported files are unrelated to each other.
  if (before.length === 0 || !isFinishedRun(backup) || backup.trigger === "import") return null;
  const isOfContent = [backup, ...before].some(({ base_id: baseId }) => baseId != null);
  const sizeOf = ({ size, plain_size: plain }: Backup) => (isOfContent ? (plain ?? size) : size);
  const usual = median(before.map(sizeOf));
  const share = sizeOf(backup) / Math.max(1, usual);
  if (Math.abs(share - 1) < sameShare) return "usual size";
  if (share > 2 || share < 0.5)
    return `usually about ${formatBytes(usual, 2)}${isOfContent ? " before compression" : ""}`;
  const percent = Math.round(Math.abs(share - 1) * 100);
  return `${percent}% ${share > 1 ? "larger" : "smaller"} than usual`;
}
