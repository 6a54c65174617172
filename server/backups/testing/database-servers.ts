// Describes the kinds of database servers that can be backed up as a whole, so that both run the same tests.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startMariadbServer } from "./mariadb-server.ts";
import { hasPostgresServer, startPostgresServer } from "./postgres-server.ts";

export type DatabaseServer = {
  url(database: string): string;
  createDatabase(name: string, owner: string): Promise<void>;
  /** @param database null = any; @returns the first column of the last result, one line per row */
  sql(database: string | null, statements: string): Promise<string>;
  /** Environment variables by which its command line tools connect. @param folder for a file that they read */
  connection(folder: string): Promise<Record<string, string>>;
  stop(): Promise<void>;
};

const postgres = {
  name: "PostgreSQL",
  engine: "postgres",
  words: "PostgreSQL",
  extension: "server.tar",
  /** Databases that a new server has, and that can be backed up. */
  ownDatabases: ["postgres"],
  tableIn: (table: string) => `public.${table}`,
  makesAccount: "create role app login password 'x'",
  /** Statements that remove the databases and the account, to be run one by one. */
  forgets: (databases: readonly string[]) => [
    ...databases.map((name) => `drop database "${name.replaceAll('"', '""')}" with (force)`),
    "drop role app",
  ],
  makesOrders:
    "set role app; create table orders (id int primary key); insert into orders select generate_series(1, 50)",
  ownersOf: (_database: string) =>
    "select tablename || ' ' || tableowner from pg_tables where schemaname = 'public' and tablename <> 'notes' order by 1",
  owners: "orders app",

  async start(): Promise<DatabaseServer> {
    const server = await startPostgresServer();
    return {
      url: (database) => server.url(database),
      createDatabase: (name, owner) => server.createDatabase(name, owner),
      async sql(database, statements) {
        const rows = await server.query(database ?? "postgres", statements);
        return rows.map((row) => String(Object.values(row)[0])).join("\n");
      },
      async connection() {
        const { hostname, port, username, password } = new URL(server.url("postgres"));
        return {
          PGHOST: hostname,
          PGPORT: port,
          PGUSER: username,
          PGPASSWORD: decodeURIComponent(password),
        };
      },
      stop: () => server.stop(),
    };
  },
} as const;

const mariadb = {
  name: "MariaDB",
  engine: "mysql",
  words: "MySQL or MariaDB",
  extension: "mysql-server.tar",
  ownDatabases: [],
  tableIn: (table: string) => table,
  makesAccount: "create user app@'%' identified by 'x'; grant all on *.* to app@'%'",
  forgets: (databases: readonly string[]) => [
    ...databases.map((name) => `drop database \`${name.replaceAll("`", "``")}\``),
    "drop user app@'%'",
  ],
  makesOrders:
    "create table orders (id int primary key); insert into orders select seq from seq_1_to_50; create definer=app@'%' view shown as select id from orders",
  ownersOf: (database: string) =>
    `select concat(table_name, ' ', definer) from information_schema.views where table_schema = '${database.replaceAll("'", "''")}'`,
  owners: "shown app@%",

  async start(): Promise<DatabaseServer> {
    const server = await startMariadbServer();
    return {
      url: (database) => server.url(database),
      createDatabase: (name) => server.createDatabase(name),
      sql: async (database, statements) => (await server.query(database, statements)).trimEnd(),
      async connection(folder) {
        const { hostname, port, username, password } = new URL(server.url("mysql"));
        await writeFile(
          join(folder, ".my.cnf"),
          `[client]\nhost=${hostname}\nport=${port}\nuser=${username}\npassword="${decodeURIComponent(password).replace(/[\\"]/g, "\\$&")}"\n`,
        );
        return {};
      },
      stop: () => server.stop(),
    };
  },
} as const;

export const serverKinds = [...(hasPostgresServer ? [postgres] : []), mariadb];
