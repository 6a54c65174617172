// What the account owns, as the dashboard sees it: servers, sites, databases, places for copies. They belong to the account and come from the inventory.
import * as z from "zod/mini";
import { id, stateOf } from "./values.ts";

export const server = z
  .object({
    id,
    name: z.string(),
    /** IANA name; schedules of this server are read in it. */
    time_zone: z.string(),
    /** Memory of the machine in MB, null where it is not known. */
    memory: z.nullable(z.int()),
  })
  .register(z.globalRegistry, { id: "Server" });
export type Server = z.infer<typeof server>;

/** Whose rights everything has that touches an entry's files. */
const account = {
  /** The account's name on the server, null where none is known. */
  account: z.optional(z.nullable(z.string())),
  /** Why none is known, and what to do. */
  account_problem: z.optional(z.nullable(z.string())),
};

export const site = z
  .object({
    id,
    server_id: id,
    name: z.string(),
    /** Absolute path of the site's folder on its server. */
    root: z.string(),
    /** The command before `queue:work`, as an argument list. */
    artisan: z.array(z.string()),
    ...account,
  })
  .register(z.globalRegistry, { id: "Site" });
export type Site = z.infer<typeof site>;

const databaseEngines = ["postgres", "mysql", "sqlite"] as const;

export const database = z
  .object({ id, server_id: id, name: z.string(), engine: stateOf(databaseEngines), ...account })
  .register(z.globalRegistry, { id: "Database" });
export type Database = z.infer<typeof database>;

export const storageProvider = z
  .object({
    id,
    name: z.string(),
    type: stateOf(["local", "s3"]),
    /** Where it is, in words: a folder, or a bucket. */
    place: z.string(),
  })
  .register(z.globalRegistry, { id: "StorageProvider" });
export type StorageProvider = z.infer<typeof storageProvider>;
