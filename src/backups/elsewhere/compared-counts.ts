// Compares the row counts of a backup with those of what it would replace.
type Counted = { name: string; rows: number };

export type ComparedCount = {
  name: string;
  /** Null = the table does not exist there. */
  backup: number | null;
  now: number | null;
};

/**
 * Differences come first, sorted by size.
 * @param now null = unknown
 */
export function compareCounts(
  backup: readonly Counted[],
  now: readonly Counted[] | null,
): ComparedCount[] {
  const inBackup = new Map(backup.map(({ name, rows }) => [name, rows]));
  const inTarget = new Map(now?.map(({ name, rows }) => [name, rows]));
  const names = [...new Set([...inBackup.keys(), ...inTarget.keys()])].sort();
  const compared = names.map((name) => ({
    name,
    backup: inBackup.get(name) ?? null,
    now: inTarget.get(name) ?? null,
  }));
  if (now === null) return compared;
  const differenceOf = ({ backup: one, now: other }: ComparedCount) =>
    Math.abs((one ?? 0) - (other ?? 0));
  return compared.sort((one, other) => differenceOf(other) - differenceOf(one));
}
