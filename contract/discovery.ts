// What is found on a server that the inventory may not know yet: sites, databases and queue workers.
import * as z from "zod/mini";
import { line, storableText } from "./inputs.ts";
import { id, stateOf } from "./values.ts";
import { createWorkerBody } from "./workers/bodies.ts";
import { takeOverStates } from "./workers/take-over.ts";

const databaseServerEngines = ["postgres", "mysql"] as const;

const databaseServer = {
  engine: z.enum(databaseServerEngines),
  /** The TCP port that it listens on at this server's own address; null = on its socket only. */
  port: z.nullable(z.int().check(z.gte(1), z.lte(65_535))),
  /** PostgreSQL: the socket's folder. MySQL and MariaDB: the socket. Null = on its port only. */
  socket: z.nullable(z.string()),
};

export const discovery = z
  .object({
    /** Laravel sites: folders with an `artisan` file. */
    sites: z.array(
      z.object({
        root: z.string(),
        /** A name for it, made of its folder's. */
        name: z.string(),
        /** The account that owns its `artisan` file. */
        user: z.string(),
        /** The inventory's entry for this folder; null = none. */
        site_id: z.nullable(id),
      }),
    ),
    /** SQLite files below the sites that were found, by their names; nothing of them was read. */
    sqlite_files: z.array(
      z.object({
        path: z.string(),
        name: z.string(),
        user: z.string(),
        database_id: z.nullable(id),
      }),
    ),
    database_servers: z.array(z.object(databaseServer)),
    /** Programs of supervisord that run `queue:work`. */
    queue_workers: z.array(
      z.object({
        program: z.string(),
        command: z.string(),
        /** The configuration file that it stands in. */
        file: z.string(),
        /** The inventory's site whose `artisan` it runs; null = none. */
        site_id: z.nullable(id),
        /** Of the body that creates a worker with the same options, as far as they can be read. */
        settings: z.record(z.string(), z.unknown()),
        /** Names what it is now, for whoever takes it over. */
        version: z.string(),
        /** How many of its processes supervisord keeps up; null = it cannot be asked, or does not have it. */
        running: z.nullable(z.int()),
        /** Why no worker can take its place, and what to do; null = one can. */
        refusal: z.nullable(z.string()),
        /** What that worker would do otherwise, in sentences. */
        differences: z.array(z.string()),
        /** The worker that takes its place, or has taken it, and how far that is; null = none. */
        worker: z.nullable(z.object({ id, take_over: stateOf(takeOverStates) })),
      }),
    ),
    /** What could not be looked at, or not to the end, in words. */
    notes: z.array(z.string()),
  })
  .register(z.globalRegistry, { id: "Discovery" });
export type Discovery = z.infer<typeof discovery>;

/** Who logs in to a database server that was found. Nothing of it is stored. */
export const findDatabasesBody = z
  .object({
    engine: databaseServer.engine,
    port: z.optional(databaseServer.port),
    socket: z.optional(z.nullable(line(1024))),
    user: line(255),
    password: storableText().check(z.maxLength(1024)),
  })
  .register(z.globalRegistry, { id: "FindDatabases" });
export type FindDatabasesBody = z.infer<typeof findDatabasesBody>;

export const foundDatabases = z
  .object({
    /** Those that the user may connect to, without the server's own. */
    databases: z.array(z.string()),
    /** Those of them that the inventory has, with the ids of their entries; left out by earlier versions. */
    known: z.optional(z.array(z.object({ name: z.string(), database_id: id }))),
    /** Why none could be listed, and what to do; null = they were. */
    problem: z.nullable(z.string()),
  })
  .register(z.globalRegistry, { id: "FoundDatabases" });
export type FoundDatabases = z.infer<typeof foundDatabases>;

/** A program of supervisord whose place a worker is to take, as it was found. */
export const takeOverBody = z
  .object({
    program: line(1024),
    file: line(4096),
    version: line(64),
    /** That the worker may differ as was told; without it what differs is refused. */
    accept_differences: z.optional(z.boolean()),
    /** What the program leaves to its site's configuration. */
    connection: z.optional(createWorkerBody.shape.connection),
    queue: z.optional(createWorkerBody.shape.queue),
  })
  .register(z.globalRegistry, { id: "TakeOverProgram" });
export type TakeOverBody = z.infer<typeof takeOverBody>;
