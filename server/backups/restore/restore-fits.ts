// Checks whether a backup can be restored into an entry of the inventory.
import { engineInServer } from "../../../contract/backups/engines.ts";
import type { FieldErrors } from "../../../contract/errors.ts";
import type { DatabaseRow, SiteRow } from "../../inventory/store.ts";
import type { BackupRow } from "../backup-store.ts";
import { contentsOfBackup } from "./contents.ts";
import { engineOf, engineOfPath, nameOf, type Engine } from "../subject.ts";

const engineNames: Record<Engine, string> = {
  postgres: "a PostgreSQL database",
  "postgres-server": "a whole PostgreSQL server",
  mysql: "a MySQL or MariaDB database",
  "mysql-server": "a whole MySQL or MariaDB server",
  sqlite: "a SQLite database",
  folder: "a site's folder",
};

type Wanted = {
  /** Name of a new database that the restore creates. */
  database: string | null | undefined;
  /** The only database to restore from the backup of a whole server. */
  part: string | null | undefined;
  keeps: boolean | undefined;
};

/** Returns errors by field; empty = the backup can be restored into the target. */
export function whyNotInto(
  backup: Pick<BackupRow, "path" | "manifest">,
  target: DatabaseRow | SiteRow,
  { database, part, keeps }: Wanted,
): FieldErrors {
  const engine = engineOfPath(backup.path);
  // The backup has no file yet, which another check reports.
  if (engine === null) return {};
  const its = engineOf(target);
  /** Engine of each database in the backup of a whole server. */
  const one = engineInServer(engine);
  const misfit = {
    backup_id: [
      `The backup is of ${engineNames[engine]}, and ${nameOf(target)} is ${engineNames[its]}.`,
    ],
  };
  if (part != null) {
    if (one === null)
      return {
        from_database: ["The backup contains one database or folder, not those of a server."],
      };
    const { databases } = contentsOfBackup(backup);
    if (!databases?.some(({ name }) => name === part))
      return { from_database: ["The backup contains no database of this name."] };
    return its === one || its === engine ? {} : misfit;
  }
  if (one !== null && (its === one || database != null))
    return {
      from_database: ["The backup contains all databases of a server. Choose one of them."],
    };
  if (one !== null && keeps === false)
    return {
      keep_owners: [
        `A whole server is restored with its ${one === "mysql" ? "accounts, so definers" : "roles, so owners"} stay.`,
      ],
    };
  // One database can also be restored as a new one into the entry of a whole server.
  const isBeside = engineInServer(its) === engine && database != null;
  return engine === its || isBeside ? {} : misfit;
}

/**
 * Checks that the backup contains the requested tables, if its manifest lists tables.
 * @returns errors by field
 */
export function whyNotTables(
  backup: Pick<BackupRow, "path" | "manifest">,
  { tables: wanted, part }: { tables: readonly string[] | null | undefined } & Pick<Wanted, "part">,
): FieldErrors {
  const { tables, databases } = contentsOfBackup(backup);
  const held = part == null ? tables : databases?.find(({ name }) => name === part)?.tables;
  // The manifest of the backup lists no tables.
  if (wanted == null || held == null || held.length === 0) return {};
  const names = new Set(held.map(({ name }) => name));
  const missing = wanted.filter((name) => !names.has(name));
  if (missing.length === 0) return {};
  const shown = missing.join(", ");
  return {
    tables: [
      // Virtual tables are missing from the list, because they have no rows of their own.
      engineOfPath(backup.path) === "sqlite"
        ? `The backup lists no rows of ${shown}. Virtual tables, and the tables behind them, come back with the whole database alone.`
        : `The backup contains no table ${shown}.`,
    ],
  };
}
