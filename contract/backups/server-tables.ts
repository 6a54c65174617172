// What the tables of a whole database server are called in its backup.

/** What the names of a database's tables begin with, so that two databases never share one: a dot in its own name is escaped. */
export const tablePrefixOf = (database: string): string =>
  `${database.replaceAll("%", "%25").replaceAll(".", "%2E")}.`;
