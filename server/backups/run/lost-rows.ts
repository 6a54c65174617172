// Tables that lost many of their rows since the backup before. It warns of few: of tables that never shrink, and of losses that
// nobody takes for a day's work.
import { countText } from "../../../contract/count-text.ts";
import type { Manifest } from "../sources/source.ts";
import type { Counts } from "../counts-store.ts";

/** With fewer backups before it nobody knows what is usual for a table. */
const minBefore = 3;
/** Of the rows in the backup before. */
const lostShare = 0.4;
/** Of the fewest rows in the backups just before: one night with many jobs is not what a table is measured by. */
const lostOfFewest = 0.25;
/** Below it a table is so small that its share says nothing. */
const minLost = 10;
/** What has shrunk by so much within the backups that are looked at comes and goes, e.g. jobs, sessions, logs. */
const usualShare = 0.1;
/** What a renamed table may have gained or lost meanwhile. */
const sameShare = 0.1;
const shownNames = 3;

/** How many backups before it one is held against. */
export const countedBefore = 30;

/** Partitions by month or number are one table: those of last year may go. */
const groupOf = (name: string): string => name.replace(/\d+/g, "*");

function byGroup(counts: Counts): Map<string, number> {
  const groups = new Map<string, number>();
  for (const [name, rows] of counts)
    groups.set(groupOf(name), (groups.get(groupOf(name)) ?? 0) + rows);
  return groups;
}

type Loss = { name: string; now: number; before: number };

/** Newest first; from when on it was there. */
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

/** @param before the counts of the backups before it, newest first @returns those that lost the most rows first */
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
 * @param before the counts of the backups before it, newest first
 * @returns a sentence; none = nothing odd
 */
export function lostRowsWarning(manifest: Manifest, before: readonly Counts[]): string[] {
  // The files of a site come and go with each cache that is emptied; their size is looked at as any other.
  if (manifest.kind !== "database") return [];
  const losses = findLosses(new Map(Object.entries(manifest.tables)), before);
  if (losses.length === 0) return [];
  const shown = losses.slice(0, shownNames).map(inWords).join(", ");
  const more =
    losses.length > shownNames ? `, and ${tablesInWords(losses.length - shownNames)}` : "";
  return [`Far fewer rows than in the last backup: ${shown}${more}.`];
}
