// What came back, held against what the dump counted.
import { SourceError, type Manifest } from "./source.ts";

/**
 * @param found rows by table, as restored
 * @returns a sentence for the drill's output
 * @throws SourceError that names the differences
 */
export function compareTables(manifest: Manifest | null, found: Record<string, number>): string {
  const names = Object.keys(found);
  const rows = Object.values(found).reduce((sum, count) => sum + count, 0);
  const tables = `${names.length} table${names.length === 1 ? "" : "s"}`;
  const total = `${tables} with ${rows.toLocaleString("en")} row${rows === 1 ? "" : "s"}`;
  if (manifest?.kind !== "database")
    return `${total} came back; the backup has no counts to hold them against.`;
  const expected = manifest.tables;
  const differences = [...new Set([...Object.keys(expected), ...names])]
    .filter((name) => expected[name] !== found[name])
    .map((name) => `${name} has ${tell(found[name])} and should have ${tell(expected[name])}`);
  if (differences.length > 0)
    throw new SourceError(
      `What came back differs from what was dumped: ${differences.slice(0, 10).join("; ")}${differences.length > 10 ? `; and ${differences.length - 10} more` : ""}.`,
    );
  return `${total} came back exactly.`;
}

const tell = (rows: number | undefined) =>
  rows === undefined ? "no such table" : `${rows.toLocaleString("en")} rows`;
