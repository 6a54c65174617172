// Opens the source for a database entry, which is one database or a whole server, and the part of a backup that a restore needs.
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
  /** Folder on the machine of the host for temporary files. */
  spoolFolder: string;
  /** Folder on this machine for the plan of a restore; not accessible to other accounts. */
  scratchFolder: string;
  /** Short form of the installation's id, for names of scratch objects on the database's server. */
  installation: string;
  isDrilledElsewhere: boolean;
};

/** Returns the url of another database on the same server, as the same account. */
function urlWithDatabase(url: string, database: string): string {
  // An invalid url is refused by the source that reads it.
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
  // Without another name, a database from a server's backup is restored under its own name.
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
