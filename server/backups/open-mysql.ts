// Opens what an entry of MySQL or MariaDB stands for: one database, or all of its server. And what a restore wants out of a backup.
import type { Host } from "../hosts/host.ts";
import type { DatabaseRow } from "../inventory/store.ts";
import type { RestoreDestination } from "../jobs/jobs.ts";
import { createMysqlServerSource } from "./sources/mysql-server/source.ts";
import { createMysqlSource } from "./sources/mysql/source.ts";
import type { Source } from "./sources/source.ts";
import { createDatabasePart } from "./sources/whole-server/part.ts";
import { urlWithDatabase } from "./url-with-database.ts";

type MysqlOptions = {
  host: Host;
  entry: Extract<DatabaseRow["entry"], { engine: "mysql" }>;
  /** A secret. */
  url: string;
  into: Partial<RestoreDestination>;
  /** Where the plan of a restore is kept; closed to other accounts. */
  scratchFolder: string;
};

export function openMysql({ host, entry, into, scratchFolder, ...options }: MysqlOptions): Source {
  const { database = null, from_database: part, keeps_owners: keepsOwners = true } = into;
  const { name } = entry;
  const isServer = entry.scope === "server";
  // Without another name, one out of a server's backup goes back to where it was.
  const wanted = database ?? (isServer ? part : null) ?? null;
  const url = wanted === null ? options.url : urlWithDatabase(options.url, wanted);
  if (isServer && wanted === null)
    return createMysqlServerSource({ host, name, url, scratchFolder });
  const source = createMysqlSource({
    host,
    name,
    url,
    scratchFolder,
    isNew: database !== null,
    isElsewhere: !keepsOwners,
    tables: into.tables ?? null,
  });
  return part === undefined ? source : createDatabasePart(source, part);
}
