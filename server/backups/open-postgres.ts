// Opens what an entry of PostgreSQL stands for: one database, or all of its server. And what a restore wants out of a backup.
import type { Host } from "../hosts/host.ts";
import type { DatabaseRow } from "../inventory/store.ts";
import type { RestoreDestination } from "../jobs/jobs.ts";
import { createPostgresSource } from "./sources/postgres/source.ts";
import { createDatabasePart } from "./sources/whole-server/part.ts";
import { createPostgresServerSource } from "./sources/postgres-server/source.ts";
import type { Source } from "./sources/source.ts";
import { urlWithDatabase } from "./url-with-database.ts";

type PostgresOptions = {
  host: Host;
  entry: Extract<DatabaseRow["entry"], { engine: "postgres" }>;
  /** A secret. */
  url: string;
  into: Partial<RestoreDestination>;
  /** On the machine of the host, for what must lie on its disk for a while. */
  spoolFolder: string;
  isDrilledElsewhere: boolean;
};

export function openPostgres(options: PostgresOptions): Source {
  const { host, entry, into, spoolFolder, isDrilledElsewhere } = options;
  const { database = null, from_database: part, keeps_owners: keepsOwners = true } = into;
  const { name } = entry;
  const isServer = entry.scope === "server";
  // Without another name, one out of a server's backup goes back to where it was.
  const wanted = database ?? (isServer ? part : null) ?? null;
  const url = wanted === null ? options.url : urlWithDatabase(options.url, wanted);
  if (isServer && wanted === null)
    return createPostgresServerSource({ host, name, url, spoolFolder, isDrilledElsewhere });
  const source = createPostgresSource({
    host,
    name,
    url,
    isDrilledElsewhere,
    isNew: database !== null,
    isWithoutRoles: !keepsOwners,
    tables: into.tables ?? null,
  });
  return part === undefined ? source : createDatabasePart(source, part);
}
