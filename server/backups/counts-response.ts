// Converts the counts of backups to one series for each table.
import type { BackupCounts } from "../../contract/backups/counts.ts";
import { toTimestamp } from "../../contract/values.ts";
import type { Counted } from "./counts-store.ts";

/** Limit of series, because a database may have thousands of tables, most of them with few rows. */
const shownSeries = 100;

/** @param newest newest first */
export function toCounts(newest: readonly Counted[]): BackupCounts {
  const backups = newest.toReversed();
  const largest = new Map<string, number>();
  for (const { counts } of backups)
    for (const [name, count] of counts) largest.set(name, Math.max(count, largest.get(name) ?? 0));
  const names = [...largest]
    .sort(([one, its], [other, others]) => others - its || (one < other ? -1 : 1))
    .map(([name]) => name);
  return {
    unit: backups.at(-1)?.isFolder === true ? "entries" : "rows",
    backups: backups.map(({ id, startedAt }) => ({ id, started_at: toTimestamp(startedAt) })),
    series: names.slice(0, shownSeries).map((name) => ({
      name,
      counts: backups.map(({ counts }) => counts.get(name) ?? null),
    })),
    left_out: Math.max(0, names.length - shownSeries),
  };
}
