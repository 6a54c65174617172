// Lists the databases of a database server that was found, for the account that logs in.
import type { FindDatabasesBody, FoundDatabases } from "../../contract/discovery.ts";
import { createMysqlClient } from "../backups/sources/mysql/client.ts";
import { withServer } from "../backups/sources/postgres/databases.ts";
import { SourceError } from "../backups/sources/source.ts";
import type { Host } from "../hosts/host.ts";
import type { DatabaseRow } from "../inventory/store.ts";
import type { SecretReader } from "../inventory/secrets.ts";
import { listKnown } from "./known-databases.ts";

type Login = FindDatabasesBody;

/** Name of the setting with the account, for messages: no url exists yet. */
const setting = "the login";

/** System databases of MySQL and MariaDB. */
const mysqlOwn = new Set(["information_schema", "mysql", "performance_schema", "sys"]);

async function listPostgres(host: Host, login: Login, signal: AbortSignal): Promise<string[]> {
  const { port, socket = null, user, password } = login;
  const target = {
    name: "This server",
    setting,
    machine: host,
    host: port == null && socket !== null ? socket : "localhost",
    port: port ?? 5432,
    user,
    password,
    database: "postgres",
    sslMode: "prefer" as const,
    sslRootCertificate: null,
    sslCertificate: null,
    sslKey: null,
  };
  return withServer(target, { applicationName: "quarterdeck", signal }, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select datname as name from pg_catalog.pg_database
       where datallowconn and not datistemplate and pg_catalog.has_database_privilege(oid, 'connect') order by 1`,
    );
    return rows.map(({ name }) => name);
  });
}

async function listMysql(host: Host, login: Login, signal: AbortSignal): Promise<string[]> {
  const { port, socket = null, user, password } = login;
  const client = createMysqlClient(host, {
    database: "",
    shown: socket ?? `127.0.0.1:${port ?? 3306}`,
    setting,
    connection:
      // The server treats a connection over its socket as one from `localhost`.
      socket !== null
        ? ["--host=localhost", `--socket=${socket}`]
        : ["--host=127.0.0.1", `--port=${port ?? 3306}`, "--protocol=tcp"],
    login: { user, password },
  });
  const rows = await client.query("SHOW DATABASES", { signal });
  return rows.flatMap(([name]) => (name === undefined || mysqlOwn.has(name) ? [] : [name]));
}

type Known = { entries: readonly DatabaseRow[]; secrets: SecretReader };

/** Returns the databases; `problem` says why they cannot be listed. */
export async function listDatabases(
  host: Host,
  login: Login,
  { entries, secrets }: Known,
  signal: AbortSignal,
): Promise<FoundDatabases> {
  const list = login.engine === "postgres" ? listPostgres : listMysql;
  try {
    const databases = await list(host, login, signal);
    const ids = await listKnown(entries, login, secrets);
    const known = databases.flatMap((name) => {
      const id = ids.get(name);
      return id === undefined ? [] : [{ name, database_id: id }];
    });
    return { databases, known, problem: null };
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return { databases: [], known: [], problem: error.message };
  }
}
