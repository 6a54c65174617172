// The resources of the account that come from the inventory: servers, sites, databases and storage providers.
import * as z from "zod/mini";
import { id, stateOf, timestamp } from "./values.ts";

export const server = z
  .object({
    id,
    name: z.string(),
    /** IANA name of the time zone of the server's schedules. */
    time_zone: z.string(),
    /** Memory of the machine in MB; null where it is unknown. */
    memory: z.nullable(z.int()),
    /** Whether it responds; null while that is unknown. These three fields are extras. */
    reachable: z.optional(z.nullable(z.boolean())),
    unreachable_since: z.optional(z.nullable(timestamp)),
    /** Why it is unreachable, and what to do. */
    status_reason: z.optional(z.nullable(z.string())),
  })
  .register(z.globalRegistry, { id: "Server" });
export type Server = z.infer<typeof server>;

const mb = z.nullable(z.int());

/** The state of a server: how it is reached, and what was found on it. */
export const serverStatus = z
  .object({
    connection: stateOf(["local", "ssh"]),
    /** Host and port; `user` logs in there. Both are null for the machine of the service. */
    place: z.nullable(z.string()),
    user: z.nullable(z.string()),
    reachable: z.nullable(z.boolean()),
    /** Since when it is reachable, or is not. */
    since: z.nullable(timestamp),
    status_reason: z.nullable(z.string()),
    /** Duration of the last check, in milliseconds. */
    latency: z.nullable(z.number()),
    /** Null for the machine of the service. */
    host_key: z.nullable(
      z.object({
        /** `unconfirmed`: none is pinned. `changed`: the host offers another key, and nothing runs there. */
        state: stateOf(["confirmed", "unconfirmed", "changed"]),
        /** Which host the key belongs to: the server, or its jump host. */
        hop: stateOf(["server", "jump"]),
        pinned: z.nullable(z.string()),
        offered: z.array(z.object({ type: z.string(), fingerprint: z.string() })),
      }),
    ),
    /** Null until the first check. */
    facts: z.nullable(
      z.object({
        at: timestamp,
        system: z.nullable(z.string()),
        processors: mb,
        load: z.nullable(z.number()),
        memory: mb,
        memory_available: mb,
        /** Disk space of the file system of `/`, in MB. */
        disk: mb,
        disk_available: mb,
        tools: z.array(
          z.object({
            name: z.string(),
            /** As reported by the tool; null = it is not installed. */
            version: z.nullable(z.string()),
            /** Name of the Debian package. */
            package: z.string(),
          }),
        ),
      }),
    ),
  })
  .register(z.globalRegistry, { id: "ServerStatus" });
export type ServerStatus = z.infer<typeof serverStatus>;

/** The account that accesses the files of an entry. */
const account = {
  /** Name of the account on the server; null where it is unknown. */
  account: z.optional(z.nullable(z.string())),
  /** Why it is unknown, and what to do. */
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
     * Human-readable location: a folder (with its server, if that is another machine), a bucket, a remote of rclone, or
     * a folder of a login.
     */
    place: z.string(),
  })
  .register(z.globalRegistry, { id: "StorageProvider" });
export type StorageProvider = z.infer<typeof storageProvider>;
