// Tells a SQLite database by its first bytes, see https://www.sqlite.org/fileformat.html#the_database_header.

const magic = Buffer.from("SQLite format 3\0", "latin1");

export const sqliteHeaderBytes = magic.length;

/** The smallest page, and so the smallest database that is not empty. */
export const smallestDatabaseBytes = 512;

/** @param beginning at least as many bytes as the header has, if the file has them */
export const hasSqliteHeader = (beginning: Uint8Array): boolean =>
  beginning.length >= magic.length && magic.equals(beginning.subarray(0, magic.length));

/** Endings of SQLite's logs beside a database. */
export const logEnds = ["-journal", "-wal"] as const;
/** Endings of all files that SQLite has beside a database. */
export const companionEnds = [...logEnds, "-shm"] as const;

/** @returns the database's path, if the path is that of a file that SQLite has beside a database */
export function databaseBeside(path: string): string | null {
  const end = companionEnds.find((known) => path.endsWith(known));
  return end === undefined ? null : path.slice(0, -end.length);
}
