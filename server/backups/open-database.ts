// Opens what an entry of a database server stands for: one database, or all of its server. And what a restore wants out of a backup.
import type { Host } from "../hosts/host.ts";
import type { DatabaseRow } from "../inventory/store.ts";
import type { RestoreDestination } from "../jobs/job-data.ts";
import { createMysqlServerSource } from "./sources/mysql-server/source.ts";
import { createMysqlSource } from "./sources/mysql/source.ts";
import { createPostgresServerSource } from "./sources/postgres-server/source.ts";
import { createPostgresSource } from "./sources/postgres/source.ts";
import type { Source } from "./sources/source.ts";
import { createDatabasePart } from "./sources/whole-server/part.ts";

type DatabaseOptions = {
  host: Host;
  entry: Extract<DatabaseRow["entry"], { engine: "postgres" | "mysql" }>;
  /** A secret. */
  url: string;
  into: Partial<RestoreDestination>;
  /** On the machine of the host, for what must lie on its disk for a while. */
  spoolFolder: string;
  /** On this machine, for the plan of a restore; closed to other accounts. */
  scratchFolder: string;
  /** A few letters of the installation's id, for the names of what is made on the database's server. */
  installation: string;
  isDrilledElsewhere: boolean;
};

/** The same database server, as the same account. */
function urlWithDatabase(url: string, database: string): string {
  // What is no URL is refused by whoever reads it, in words.
  if (!URL.canParse(url)) return url;
  const changed = new URL(url);
  changed.pathname = `/${encodeURIComponent(database)}`;
  return changed.href;
}

export function openDatabase(options: DatabaseOptions): Source {
  const { host, entry, into, spoolFolder, scratchFolder, isDrilledElsewhere, installation } =
    options;
  const { database = null, from_database: part, keeps_owners: keepsOwners = true } = into;
  const isPostgres = entry.engine === "postgres";
  const isServer = entry.scope === "server";
  // Without another name, one out of a server's backup goes back to where it was.
  const wanted = database ?? (isServer ? part : null) ?? null;
  const url = wanted === null ? options.url : urlWithDatabase(options.url, wanted);
  const place = { host, name: entry.name, url, installation };
  if (isServer && wanted === null)
    return isPostgres
      ? createPostgresServerSource({ ...place, spoolFolder, isDrilledElsewhere })
      : createMysqlServerSource({ ...place, scratchFolder });
  const one = { ...place, isNew: database !== null, tables: into.tables ?? null };
  const source = isPostgres
    ? createPostgresSource({ ...one, isDrilledElsewhere, isWithoutRoles: !keepsOwners })
    : createMysqlSource({ ...one, scratchFolder, isElsewhere: !keepsOwners });
  return part === undefined ? source : createDatabasePart(source, part);
}
