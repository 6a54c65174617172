// Names of tables in the backup of a whole database server.

/**
 * Returns the prefix of the names of a database's tables. Dots in its name are escaped, so that no two databases share
 * a prefix.
 */
export const tablePrefixOf = (database: string): string =>
  `${database.replaceAll("%", "%25").replaceAll(".", "%2E")}.`;
