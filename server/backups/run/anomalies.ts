// What is odd about a backup although it finished. Warnings only: nobody's night is ended by a guess.

import type { Manifest, SiteDatabase } from "../sources/source.ts";
import { sizeInWords, shortDuration } from "../formatting.ts";
import { median } from "./median.ts";

export type Measured = {
  sizeBytes: number;
  /** Null: the source was not read, see `store-again.ts`. */
  durationMs: number | null;
  checksum: string | null;
  isEncrypted: boolean;
};

/** How many backups before it one is held against. */
export const comparedBackups = 7;

/** With fewer there is no "usual". */
const minForMedian = 3;
const nearlyEmptyBytes = 512;
/** Below it a duration says more about the machine than about the backup. */
const shortMs = 60_000;

/**
 * @param before the finished backups before it, newest first
 * @returns sentences; none = nothing odd
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

/** What a manifest has to say that an operator should see. @returns sentences; none = nothing odd */
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

/** @param ofOne what is said of a single one @param ofMany what is said of several */
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
