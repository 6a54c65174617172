// Every table, as Drizzle and its migrations know it. `npm run migrations` writes the next migration from this.
import { sql } from "./drizzle.ts";
import { boolean, check, index, integer, jsonb, pgTable, text, timestamp } from "./drizzle.ts";
import type { Ability } from "../../contract/tokens.ts";
import type { StopSignal, WorkerState } from "../../contract/workers/worker.ts";

const moment = (name: string) => timestamp(name, { withTimezone: true, precision: 3 });
const createdAt = moment("created_at").notNull().defaultNow();

/** What the installation knows of itself, e.g. the name its workers are marked with. */
export const settings = pgTable("settings", {
  key: text().primaryKey(),
  value: text().notNull(),
});

export const tokens = pgTable("tokens", {
  id: integer().primaryKey().generatedAlwaysAsIdentity(),
  name: text().notNull(),
  /** Hex SHA-256 of the secret part. The secret itself is nowhere. */
  hash: text().notNull().unique(),
  abilities: text().array().$type<Ability[]>().notNull(),
  /** The servers it may reach; null = all. */
  server_ids: integer().array(),
  /** It came from the environment, so a change there replaces it. */
  from_environment: boolean().notNull().default(false),
  expires_at: moment("expires_at"),
  last_used_at: moment("last_used_at"),
  created_at: createdAt,
});

// The inventory's rows. Their ids are the file's, and `entry` is what the file says of them.
const inventoryColumns = {
  id: integer().primaryKey(),
  name: text().notNull(),
  entry: jsonb().$type<Record<string, unknown>>().notNull(),
  created_at: createdAt,
};

export const servers = pgTable("servers", inventoryColumns);

const ofServer = () =>
  integer()
    .notNull()
    .references(() => servers.id);

export const sites = pgTable(
  "sites",
  {
    ...inventoryColumns,
    server_id: ofServer(),
    /** Kept by a trigger of the workers' table: counting 100,000 rows for each page costs more than the page. */
    worker_count: integer().notNull().default(0),
  },
  (table) => [index("sites_of_server").on(table.server_id, table.id)],
);

export const databases = pgTable("databases", { ...inventoryColumns, server_id: ofServer() });

export const storageProviders = pgTable("storage_providers", inventoryColumns);

export const notificationChannels = pgTable("notification_channels", inventoryColumns);

export const workers = pgTable(
  "workers",
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    site_id: integer()
      .notNull()
      .references(() => sites.id),
    connection: text().notNull(),
    queue: text().notNull(),
    max_jobs: integer().notNull(),
    max_time: integer().notNull(),
    force: boolean().notNull(),
    memory: integer().notNull(),
    sleep: integer().notNull(),
    timeout: integer().notNull(),
    tries: integer().notNull(),
    processes: integer().notNull(),
    directory: text().notNull(),
    startsecs: integer().notNull(),
    stopwaitsecs: integer().notNull(),
    startretries: integer().notNull(),
    stopsignal: text().$type<StopSignal>().notNull(),
    status: text().$type<WorkerState>().notNull(),
    status_reason: text(),
    /** Counts the changes of status, so that what was decided on an older one changes nothing. */
    transition: integer().notNull().default(1),
    created_at: createdAt,
  },
  (table) => [
    // Lists are read newest first, page by page.
    index("workers_of_site").on(table.site_id, table.id),
    check(
      "workers_status",
      sql`${table.status} in ('installing', 'installed', 'stopping', 'stopped', 'starting', 'restarting', 'failed', 'removing')`,
    ),
  ],
);
