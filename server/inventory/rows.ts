// The rows of inventory entries, as the other parts of the service use them.
import { defaultArtisan } from "../../contract/workers/command.ts";
import type { databases, servers, sites } from "../store/tables/inventory.ts";
import type { EntryAccount } from "./one-account.ts";
import { expandHome } from "./paths.ts";
import { processManagerOf, type Inventory } from "./schema.ts";

type ServerConnection = Inventory["servers"][number]["connection"];
export type ServerRow = {
  id: number;
  name: string;
  timeZone: string;
  /** The supervisord that runs its workers, with the configuration file that the entry names; null = this service runs them. */
  supervisord: { config: string | null } | null;
  /** Configuration file of the server's supervisord, whatever runs its workers; null = the usual one. */
  supervisordConfig: string | null;
  connection: ServerConnection;
  /** Where its drills run; null = on the server itself. */
  drills: NonNullable<Inventory["servers"][number]["drills"]> | null;
};
/** Commands before and after a backup, as argument lists; null = none. */
type BackupHooks = {
  before: readonly string[] | null;
  after: readonly string[] | null;
  timeoutMs: number;
};
export type SiteRow = {
  id: number;
  serverId: number;
  name: string;
  /** Absolute. */
  root: string;
  /** The command before `queue:work`. */
  artisan: readonly string[];
  backupHooks: BackupHooks | null;
  workerCount: number;
  createdAt: Date;
  /** Ids of its databases. */
  databases: readonly number[];
  account: EntryAccount;
};

/** An entry of the file, with its server. */
export type DatabaseRow = {
  id: number;
  serverId: number;
  createdAt: Date;
  entry: DatabaseEntry;
  /** Account of a database that is a file, and of backup hooks. */
  account: EntryAccount;
};
type DatabaseEntry = Inventory["databases"][number];
export type StorageProviderEntry = Inventory["storage_providers"][number];
export type NotificationChannelEntry = Inventory["notification_channels"][number];

const undecided: EntryAccount = {
  account: null,
  problem: "No account yet: Quarterdeck couldn't read the inventory since the last upgrade.",
  ownerOf: null,
};

export function toServer(row: typeof servers.$inferSelect): ServerRow {
  const {
    time_zone: timeZone = "UTC",
    supervisord_config: written,
    connection,
    drills,
  } = row.entry;
  const config = written ? expandHome(written) : null;
  return {
    id: row.id,
    name: row.name,
    timeZone,
    supervisord: processManagerOf(row.entry) === "supervisord" ? { config } : null,
    supervisordConfig: config,
    connection,
    drills: drills ?? null,
  };
}

export function toSite(row: typeof sites.$inferSelect): SiteRow {
  const { root, artisan, backup_hooks: hooks, databases: ids = [] } = row.entry;
  return {
    id: row.id,
    serverId: row.server_id,
    name: row.name,
    root: expandHome(root),
    workerCount: row.worker_count,
    createdAt: row.created_at,
    databases: ids,
    account: row.account ?? undecided,
    artisan: toArguments(artisan) ?? defaultArtisan,
    backupHooks: toHooks(hooks),
  };
}

/** @param hooks of an entry */
export const toHooks = (
  hooks: Inventory["sites" | "databases"][number]["backup_hooks"],
): BackupHooks | null =>
  hooks === undefined
    ? null
    : {
        before: toArguments(hooks.before),
        after: toArguments(hooks.after),
        timeoutMs: (hooks.timeout ?? usualHookSeconds) * 1000,
      };

const usualHookSeconds = 60;

const toArguments = (command: string | readonly string[] | undefined): readonly string[] | null =>
  typeof command === "string" ? command.split(/\s+/) : (command ?? null);

export const toDatabase = (row: typeof databases.$inferSelect): DatabaseRow => ({
  id: row.id,
  serverId: row.server_id,
  createdAt: row.created_at,
  entry: row.entry,
  account: row.account ?? undecided,
});
