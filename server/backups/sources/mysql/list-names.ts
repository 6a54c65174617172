// Lists of names in messages about a MySQL or MariaDB database.

const maxNames = 5;

/** Returns the first few names as text, and how many more there are. */
export const listNames = (names: readonly string[]): string =>
  names.length > maxNames
    ? `${names.slice(0, maxNames).join(", ")} and ${names.length - maxNames} more`
    : names.join(", ");
