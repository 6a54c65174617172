// What backups are of, and how a whole database server goes with one of its databases.

/** What a backup is of; `…-server`: all databases of a server as one. */
export const backupEngines = [
  "postgres",
  "postgres-server",
  "mysql",
  "mysql-server",
  "sqlite",
  "folder",
] as const;
type BackupEngine = (typeof backupEngines)[number];

/** What all databases of a server are called, by what one of them is; null = it has no server. */
export const serverEngines = {
  postgres: "postgres-server",
  mysql: "mysql-server",
  sqlite: null,
} as const satisfies Record<string, BackupEngine | null>;

/** What one of the databases of a whole server is; null = it is no whole server. */
export const engineInServer = (engine: string | null): "postgres" | "mysql" | null =>
  engine === "postgres-server" ? "postgres" : engine === "mysql-server" ? "mysql" : null;
