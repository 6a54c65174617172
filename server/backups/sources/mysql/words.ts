// Lists of names in messages about a MySQL or MariaDB database.

const toldNames = 5;

/** The first few names, and how many more there are. */
export const listed = (names: readonly string[]): string =>
  names.length > toldNames
    ? `${names.slice(0, toldNames).join(", ")} and ${names.length - toldNames} more`
    : names.join(", ");
