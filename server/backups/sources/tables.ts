// Compares restored tables with the counts and checksums of the dump.
import { countOf } from "../../../contract/count-text.ts";
import { SourceError, type Checksums, type Manifest } from "./source.ts";

/**
 * @param found rows by table, as restored
 * @param checksums of the rows, where the engine has them
 * @returns a sentence for the drill's output
 * @throws SourceError that names the differences
 */
export function compareTables(
  manifest: Manifest | null,
  found: Record<string, number>,
  checksums?: Checksums,
): string {
  const names = Object.keys(found);
  const rows = Object.values(found).reduce((sum, count) => sum + count, 0);
  const tables = countOf(names.length, "table");
  const total = `${tables} with ${countOf(rows, "row")}`;
  if (manifest?.kind !== "database")
    return `${total} restored; the backup has no counts to hold them against.`;
  const expected = manifest.tables;
  const differences = [...new Set([...Object.keys(expected), ...names])]
    .filter((name) => expected[name] !== found[name])
    .map((name) => `${name} has ${tell(found[name])} and should have ${tell(expected[name])}`);
  throwDifferences(differences);
  return `${total} restored ${compareChecksums(manifest.checksums, checksums)}`;
}

/**
 * @returns the end of a sentence: how exactly the content was compared; "exactly." where rows were compared otherwise
 * @throws SourceError that names the tables that differ
 */
export function compareChecksums(
  expected: Checksums | undefined,
  found: Checksums | undefined,
): string {
  if (found === undefined) return "exactly.";
  if (expected === undefined)
    return "with the same row counts; the backup has no checksums of its rows.";
  const differing = Object.keys(expected.tables).filter(
    (name) => expected.tables[name] !== found.tables[name],
  );
  if (differing.length === 0) return "exactly, by the count and the checksum of each table.";
  if (expected.by !== found.by)
    return `with the same row counts; their checksums cannot be compared, because ${expected.by} made the backup's and ${found.by} these.`;
  throwDifferences(differing.map((name) => `the rows of ${name} are not the same`));
  return "";
}

function throwDifferences(differences: readonly string[]): void {
  if (differences.length > 0)
    throw new SourceError(
      `The restored data differs from the backup: ${differences.slice(0, 10).join("; ")}${differences.length > 10 ? `; and ${differences.length - 10} more` : ""}.`,
    );
}

const tell = (rows: number | undefined) =>
  rows === undefined ? "no such table" : countOf(rows, "row");
