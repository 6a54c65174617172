// What kinds of sources backups have, and which of them stand for all databases of a server.

/** Kind of the source of a backup; `…-server`: all databases of a server together. */
export const backupEngines = [
  "postgres",
  "postgres-server",
  "mysql",
  "mysql-server",
  "sqlite",
  "folder",
] as const;
type BackupEngine = (typeof backupEngines)[number];

/** The engine that stands for all databases of a server, by the engine of one database; null = it has no server. */
export const serverEngines = {
  postgres: "postgres-server",
  mysql: "mysql-server",
  sqlite: null,
} as const satisfies Record<string, BackupEngine | null>;

/** Returns the engine of the databases of a whole server; null = `engine` is not one of a whole server. */
export const engineInServer = (engine: string | null): "postgres" | "mysql" | null =>
  engine === "postgres-server" ? "postgres" : engine === "mysql-server" ? "mysql" : null;
