// Describes the source of a backup for its manifest and the recovery page, without secrets.
import { type backupEngines, serverEngines } from "../../contract/backups/engines.ts";
import type { DatabaseRow, ServerRow, SiteRow } from "../inventory/store.ts";
import { expandHome } from "../inventory/paths.ts";
import type { Source } from "./sources/source.ts";

export type Engine = (typeof backupEngines)[number];

/** Extension of stored files before `.zst`, by engine. */
export const extensions = {
  postgres: "dump",
  "postgres-server": "server.tar",
  mysql: "sql",
  "mysql-server": "mysql-server.tar",
  sqlite: "sqlite",
  folder: "tar",
} as const satisfies Record<Engine, string>;

/** Returns the engine of a stored backup by its path; null = the path has no known extension. */
export function engineOfPath(path: string): Engine | null {
  const extension = /\.((?:(?:mysql-)?server\.)?[a-z]+)(?:\.patch)?\.zst(?:\.age)?$/.exec(
    path,
  )?.[1];
  // The keys of a total record are all there are.
  const engines = Object.keys(extensions) as Engine[];
  return engines.find((engine) => extensions[engine] === extension) ?? null;
}

export const engineOfEntry = ({
  engine,
  scope,
}: Pick<DatabaseRow["entry"], "engine" | "scope">): Exclude<Engine, "folder"> =>
  (scope === "server" ? serverEngines[engine] : null) ?? engine;

/** Returns the engine of an inventory entry. */
export const engineOf = (found: DatabaseRow | SiteRow): Engine =>
  "entry" in found ? engineOfEntry(found.entry) : "folder";

export const nameOf = (found: DatabaseRow | SiteRow): string =>
  "entry" in found ? found.entry.name : found.name;

/** Returns the columns by which configurations refer to a source. */
export const columnsOf = (found: DatabaseRow | SiteRow) =>
  "entry" in found
    ? { database_id: found.id, site_id: null }
    : { database_id: null, site_id: found.id };

export type Subject = {
  type: "database" | "site";
  engine: Engine;
  id: number;
  /** Name in the inventory. */
  name: string;
  /** Name of the database on its server. */
  database?: string;
  /** Path of a file or folder. */
  path?: string;
  server: { id: number; name: string };
  /** Versions by program, as the rehearsal found them. */
  tools: Record<string, string>;
};

export function describeSubject(
  found: DatabaseRow | SiteRow,
  server: ServerRow | null,
  { database, tools }: Pick<Source, "database" | "tools">,
): Subject {
  const common = {
    id: found.id,
    server: { id: found.serverId, name: server?.name ?? `server ${found.serverId}` },
    tools: tools?.() ?? {},
  };
  if (!("entry" in found))
    return { type: "site", engine: "folder", name: found.name, path: found.root, ...common };
  const { entry } = found;
  return {
    type: "database",
    engine: engineOfEntry(entry),
    name: entry.name,
    ...(database !== undefined && { database }),
    ...(entry.engine === "sqlite" && { path: expandHome(entry.path) }),
    ...common,
  };
}
