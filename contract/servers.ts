// Servers, sites, databases and storage providers, which come from the inventory.
import * as z from "zod/mini";
import { id, stateOf, timestamp } from "./values.ts";

export const server = z
  .object({
    id,
    name: z.string(),
    /** IANA name of the time zone of the server's schedules. */
    time_zone: z.string(),
    /** Memory of the machine in MB; null = unknown. */
    memory: z.nullable(z.int()),
    /** Whether the server responds; null = not known yet. An extra, like the next two. */
    reachable: z.optional(z.nullable(z.boolean())),
    unreachable_since: z.optional(z.nullable(timestamp)),
    /** Why it is unreachable, and what to do. */
    status_reason: z.optional(z.nullable(z.string())),
  })
  .register(z.globalRegistry, { id: "Server" });
export type Server = z.infer<typeof server>;

const mb = z.nullable(z.int());

/** Status of a server: how it is reached, and what was found on it. */
export const serverStatus = z
  .object({
    connection: stateOf(["local", "ssh"]),
    /** Host, port and login; null for the machine of the service. */
    place: z.nullable(z.string()),
    user: z.nullable(z.string()),
    reachable: z.nullable(z.boolean()),
    /** Since when it is reachable, or is not. */
    since: z.nullable(timestamp),
    status_reason: z.nullable(z.string()),
    /** Response time in milliseconds. */
    latency: z.nullable(z.number()),
    /** Null for the machine of the service. */
    host_key: z.nullable(
      z.object({
        /** `unconfirmed`: none is pinned. `changed`: another one was offered, and nothing runs there. */
        state: stateOf(["confirmed", "unconfirmed", "changed"]),
        /** Whether the key is the server's or its jump host's. */
        hop: stateOf(["server", "jump"]),
        pinned: z.nullable(z.string()),
        offered: z.array(z.object({ type: z.string(), fingerprint: z.string() })),
      }),
    ),
    /** Null until the server was asked. */
    facts: z.nullable(
      z.object({
        at: timestamp,
        system: z.nullable(z.string()),
        processors: mb,
        load: z.nullable(z.number()),
        memory: mb,
        memory_available: mb,
        /** File system of `/`, in MB. */
        disk: mb,
        disk_available: mb,
        tools: z.array(
          z.object({
            name: z.string(),
            /** As the tool prints it; null = not installed. */
            version: z.nullable(z.string()),
            /** Its package in Debian. */
            package: z.string(),
          }),
        ),
      }),
    ),
  })
  .register(z.globalRegistry, { id: "ServerStatus" });
export type ServerStatus = z.infer<typeof serverStatus>;

/** The account that accesses an entry's files. */
const account = {
  /** Name of the account on the server; null = unknown. */
  account: z.optional(z.nullable(z.string())),
  /** Why the account is unknown, and what to do. */
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
  .object({
    id,
    server_id: id,
    name: z.string(),
    engine: stateOf(databaseEngines),
    /** `server`: the entry stands for all databases of its database server. */
    scope: z.optional(stateOf(["database", "server"])),
    ...account,
  })
  .register(z.globalRegistry, { id: "Database" });
export type Database = z.infer<typeof database>;

export const storageProvider = z
  .object({
    id,
    name: z.string(),
    type: stateOf(["local", "s3", "rclone", "sftp"]),
    /**
     * Where the storage is, in words: a folder, with its server if that is another machine; a bucket; a remote of rclone; or a
     * folder of a login.
     */
    place: z.string(),
  })
  .register(z.globalRegistry, { id: "StorageProvider" });
export type StorageProvider = z.infer<typeof storageProvider>;
