// Small facts about backups, as people read them.
import {
  type Backup,
  type BackupConfiguration,
  backupStates,
  isFinishedRun,
} from "../../contract/backups/backup.ts";
import { isInTransit } from "../../contract/states.ts";
import { durationText } from "../ui/time-text.ts";

/** Whether its service says of it what Quarterdeck's does. Told by drills: of an id like `server_id` many services speak. */
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

/** What started a run; another service's word stays as it is. */
export const triggerText = (trigger: string): string => triggerTexts.get(trigger) ?? trigger;

const units = ["bytes", "kB", "MB", "GB", "TB", "PB"] as const;

/** "812 bytes", "4.12 MB": decimal units, as disks are sold and as the service says them. */
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

/** How long a run took, rounded; "–" while it has not ended. */
export function runDuration({ started_at: startedAt, ended_at: endedAt }: Backup): string {
  if (endedAt === null) return "–";
  return spanText(Math.max(0, Date.parse(endedAt) - Date.parse(startedAt)));
}

const isKnown = (status: string) => backupStates.some((known) => known === status);

/** What a poll looks at. */
export const toMoving = (backup: Backup) => ({ id: backup.id, status: movingStatus(backup) });

/** A word for polls: something about this backup is still moving. */
export function movingStatus(backup: Backup): string {
  const { status, restore_status: restore, drill_status: drill, ended_at: endedAt } = backup;
  if (isInTransit(restore) || isInTransit(drill)) return "running";
  // "queued": a word of another service need not end in -ing, but what has no end goes on.
  return !isKnown(status) && endedAt === null ? "running" : status;
}

/** How many backups before one make what is usual. */
const comparedRuns = 7;
/** What a size may differ from the usual one without being worth a word. */
const sameShare = 0.05;

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}

/** How large the last finished backups are, newest first; null = there is none. */
export function usualSize(backups: readonly Backup[]): number | null {
  const sizes = backups.filter(isFinishedRun).map(({ size }) => size);
  return sizes.length === 0 ? null : median(sizes.slice(0, comparedRuns));
}

/**
 * How large a finished backup is beside those before it, in words: "12% larger than usual"; null where nothing is to be
 * compared. What has changed says nothing of how large the content is, so beside an incremental backup the contents count.
 */
export function sizeTrend(backup: Backup, backups: readonly Backup[]): string | null {
  const before = backups
    .filter((other) => other.id < backup.id && isFinishedRun(other))
    .slice(0, comparedRuns);
  // Files from elsewhere have nothing to do with each other.
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
