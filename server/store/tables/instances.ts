import { boolean, integer, pgTable, text, uuid } from "../drizzle.ts";
import type { InstanceRole } from "../../instances/role.ts";
import { moment } from "./columns.ts";
import { servers } from "./inventory.ts";

/** Live instances of the service on this database. Any instance deletes the rows of expired ones. */
export const instances = pgTable("instances", {
  /** Id of one run of a process. */
  id: uuid().primaryKey(),
  /** Name for operators. */
  name: text().notNull(),
  /** Id of the data folder, the same in all runs. */
  home: uuid().notNull(),
  role: text().$type<InstanceRole>().notNull(),
  /** Base URL for other instances, without a trailing slash. */
  address: text().notNull(),
  version: text().notNull(),
  /** Of the secret by which the others recognize its requests; null for a version that had another one. */
  secret_hash: text(),
  started_at: moment("started_at").notNull().defaultNow(),
  /** When the instance expires unless it renews its row. */
  until: moment("until").notNull(),
});

/** Which instance looks after each server. */
export const serverLeases = pgTable("server_leases", {
  server_id: integer()
    .primaryKey()
    .references(() => servers.id, { onDelete: "cascade" }),
  /** The lease is held while that instance's row exists; null = it was released. */
  instance_id: uuid(),
  /** Name of the instance, which is still shown once its row is gone. */
  instance_name: text().notNull(),
  /** Incremented with each new holder. */
  epoch: integer().notNull().default(1),
  /**
   * Home (data folder) of the instance whose machine the server is; null for a server over SSH, which any instance may look
   * after.
   */
  home: uuid(),
  since: moment("since").notNull().defaultNow(),
});

/** Whether a server responded to the last check. */
export const serverContacts = pgTable("server_contacts", {
  server_id: integer()
    .primaryKey()
    .references(() => servers.id, { onDelete: "cascade" }),
  reachable: boolean().notNull(),
  since: moment("since").notNull(),
  reason: text(),
  /** Whether an event reported that it is unreachable, so that its recovery is reported too. */
  is_reported: boolean().notNull().default(false),
});
