// Finds anomalies of finished backups. They are only warnings, because they are guesses.

import type { Manifest, SiteDatabase } from "../sources/source.ts";
import { sizeInWords, shortDuration } from "../formatting.ts";
import { median } from "./median.ts";

export type Measured = {
  sizeBytes: number;
  /** Null = the source was not read, see `store-again.ts`. */
  durationMs: number | null;
  checksum: string | null;
  isEncrypted: boolean;
};

/** Number of earlier backups that a backup is compared with. */
export const comparedBackups = 7;

/** Fewer backups have no usual size. */
const minForMedian = 3;
const nearlyEmptyBytes = 512;
/** Shorter durations depend on the machine more than on the backup. */
const shortMs = 60_000;

/**
 * @param before earlier finished backups, newest first
 * @returns sentences; empty = no anomaly
 */
export function findAnomalies(now: Measured, before: readonly Measured[]): string[] {
  const compared = before.slice(0, comparedBackups);
  const warnings: string[] = [];
  if (now.sizeBytes < nearlyEmptyBytes)
    warnings.push(`Nearly empty: ${sizeInWords(now.sizeBytes)}.`);
  if (!now.isEncrypted && before[0]?.isEncrypted === true)
    warnings.push(
      "Stored unencrypted, although the previous backup was encrypted: its storage provider no longer has recipients.",
    );
  if (compared.length >= minForMedian) {
    const usualBytes = median(compared.map(({ sizeBytes }) => sizeBytes));
    const share = now.sizeBytes / Math.max(1, usualBytes);
    if (share < 0.5 || share > 1.5)
      warnings.push(
        `Unusual size: ${sizeInWords(now.sizeBytes)}, usually about ${sizeInWords(usualBytes)}.`,
      );
  }
  const durationsMs = compared.flatMap(({ durationMs }) => durationMs ?? []);
  if (now.durationMs !== null && durationsMs.length >= minForMedian) {
    const usualMs = Math.max(shortMs, median(durationsMs));
    if (now.durationMs > 3 * usualMs)
      warnings.push(
        `Unusually slow: ${shortDuration(now.durationMs)}, usually about ${shortDuration(usualMs)}.`,
      );
  }
  const same = [now, ...before.slice(0, comparedBackups - 1)];
  if (
    now.checksum !== null &&
    same.length === comparedBackups &&
    same.every(({ checksum }) => checksum === now.checksum)
  )
    warnings.push(
      `The last ${comparedBackups} backups are identical. Check that the source still receives data.`,
    );
  return warnings;
}

const shownNames = 3;

/** Returns warnings about the content of a manifest; empty = none. */
export function manifestWarnings(manifest: Manifest): string[] {
  const databases = manifest.kind === "folder" ? (manifest.databases ?? []) : [];
  const unsound = databases.filter(({ problem }) => problem !== null);
  const isOpened = (one: SiteDatabase) => one.isOpened !== false;
  return [
    ...tellDatabases(unsound.filter(isOpened), "is damaged", "are damaged"),
    ...tellDatabases(
      unsound.filter((one) => !isOpened(one)),
      "could not be opened, and is stored as it lies",
      "could not be opened, and are stored as they lie",
    ),
  ];
}

/** @param ofOne text for a single database @param ofMany text for several */
function tellDatabases(databases: readonly SiteDatabase[], ofOne: string, ofMany: string) {
  if (databases.length === 0) return [];
  const names = databases.slice(0, shownNames).map(({ name }) => name);
  const more = databases.length > shownNames ? ` and ${databases.length - shownNames} more` : "";
  const said =
    databases.length === 1
      ? `A SQLite database in the site ${ofOne}`
      : `SQLite databases in the site ${ofMany}`;
  return [`${said}: ${names.join(", ")}${more}. See the output for the reason.`];
}
