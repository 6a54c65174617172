// Warns of tables that lost many rows since the previous backup: only of tables that never shrink, and of losses that are too large for
// a normal day.
import { countText } from "../../../contract/count-text.ts";
import type { Manifest } from "../sources/source.ts";
import type { Counts } from "../counts-store.ts";

/** With fewer earlier backups it is unknown what is usual for a table. */
const minBefore = 3;
/** Share of the rows in the previous backup. */
const lostShare = 0.4;
/** Share of the fewest rows in the last backups, so that one backup with unusually many rows does not count. */
const lostOfFewest = 0.25;
/** Fewest lost rows to warn of, because shares of small tables mean nothing. */
const minLost = 10;
/** A table that has shrunk by this share before regularly shrinks, e.g. jobs, sessions, logs. */
const usualShare = 0.1;
/** Share by which a renamed table may have grown or shrunk meanwhile. */
const sameShare = 0.1;
const shownNames = 3;

/** Number of earlier backups that a backup is compared with. */
export const countedBefore = 30;

/** Groups partitions by month or number as one table, because old ones may be dropped. */
const groupOf = (name: string): string => name.replace(/\d+/g, "*");

function byGroup(counts: Counts): Map<string, number> {
  const groups = new Map<string, number>();
  for (const [name, rows] of counts)
    groups.set(groupOf(name), (groups.get(groupOf(name)) ?? 0) + rows);
  return groups;
}

type Loss = { name: string; now: number; before: number };

/** Returns the rows of a group, newest first, since it first existed. */
function historyOf(group: string, earlier: readonly Counts[]): number[] {
  const found = earlier.map((counts) => counts.get(group));
  const first = found.findLastIndex((rows) => rows !== undefined);
  return found.slice(0, first + 1).map((rows) => rows ?? 0);
}

const isSteady = (history: readonly number[]): boolean =>
  history.every((rows, index) => {
    const older = history[index + 1] ?? 0;
    return older - rows <= Math.max(2, older * usualShare);
  });

/** @param before counts of earlier backups, newest first @returns the losses, largest first */
function findLosses(counts: Counts, before: readonly Counts[]): Loss[] {
  const [last] = before;
  if (last === undefined) return [];
  const there = byGroup(counts);
  const earlier = before.map(byGroup);
  const added = [...there].filter(([group]) => earlier[0]?.has(group) !== true);
  const members = Map.groupBy(new Set([...last.keys(), ...counts.keys()]), groupOf);
  return [...byGroup(last)]
    .flatMap(([group, rows]): Loss[] => {
      const now = there.get(group) ?? 0;
      const history = historyOf(group, earlier);
      const fewest = Math.min(...history.slice(0, minBefore));
      const isLoss =
        rows - now >= rows * lostShare && fewest - now >= Math.max(minLost, fewest * lostOfFewest);
      if (!isLoss || history.length < minBefore || !isSteady(history)) return [];
      const isNewName = added.some(([, others]) => Math.abs(others - rows) <= rows * sameShare);
      if (!there.has(group) && isNewName) return [];
      const [name = group, another] = members.get(group) ?? [];
      return [{ name: another === undefined ? name : group, now, before: rows }];
    })
    .sort((one, other) => other.before - other.now - (one.before - one.now));
}

const inWords = ({ name, now, before }: Loss): string =>
  `${name} −${Math.floor((100 * (before - now)) / before)}% (${countText(now)}, before ${countText(before)})`;

const tablesInWords = (many: number): string => `${many} more ${many === 1 ? "table" : "tables"}`;

/**
 * @param before counts of earlier backups, newest first
 * @returns a sentence; empty = no warning
 */
export function lostRowsWarning(manifest: Manifest, before: readonly Counts[]): string[] {
  // The number of a site's files changes with each cleared cache; their size is checked with the other anomalies.
  if (manifest.kind !== "database") return [];
  const losses = findLosses(new Map(Object.entries(manifest.tables)), before);
  if (losses.length === 0) return [];
  const shown = losses.slice(0, shownNames).map(inWords).join(", ");
  const more =
    losses.length > shownNames ? `, and ${tablesInWords(losses.length - shownNames)}` : "";
  return [`Far fewer rows than in the last backup: ${shown}${more}.`];
}
