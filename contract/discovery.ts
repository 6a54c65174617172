// What a scan of a server finds: sites, databases and queue workers.
import * as z from "zod/mini";
import { line, storableText } from "./inputs.ts";
import { id, stateOf } from "./values.ts";
import { createWorkerBody } from "./workers/bodies.ts";
import { takeOverStates } from "./workers/take-over.ts";

const databaseServerEngines = ["postgres", "mysql"] as const;

const databaseServer = {
  engine: z.enum(databaseServerEngines),
  /** TCP port on the server's own address; null = it listens on a socket only. */
  port: z.nullable(z.int().check(z.gte(1), z.lte(65_535))),
  /** PostgreSQL: the folder of the socket; MySQL and MariaDB: the socket; null = it listens on a port only. */
  socket: z.nullable(z.string()),
};

export const discovery = z
  .object({
    /** Laravel sites: folders with an `artisan` file. */
    sites: z.array(
      z.object({
        root: z.string(),
        /** A suggested name, derived from the folder's. */
        name: z.string(),
        /** The account that owns its `artisan` file. */
        user: z.string(),
        /** The inventory's entry for this folder; null = none. */
        site_id: z.nullable(id),
      }),
    ),
    /** SQLite files below these sites, recognized by name; their content was not read. */
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
        /** The configuration file that contains it. */
        file: z.string(),
        /** The inventory's site whose `artisan` it runs; null = none. */
        site_id: z.nullable(id),
        /** Fields of a body that creates a worker with the same options, as far as they are known. */
        settings: z.record(z.string(), z.unknown()),
        /** Version of the program's options, which a take-over must name. */
        version: z.string(),
        /** Number of its running processes; null = supervisord does not respond or does not have the program. */
        running: z.nullable(z.int()),
        /** Why no worker can take over the program, and what to do; null = one can. */
        refusal: z.nullable(z.string()),
        /** What the worker would do differently, as sentences. */
        differences: z.array(z.string()),
        /** The worker that takes or took it over, and the progress; null = none. */
        worker: z.nullable(z.object({ id, take_over: stateOf(takeOverStates) })),
      }),
    ),
    /** What the scan could not read, or not completely, in words. */
    notes: z.array(z.string()),
  })
  .register(z.globalRegistry, { id: "Discovery" });
export type Discovery = z.infer<typeof discovery>;

/** Login to a discovered database server. It is not stored. */
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
    /** Databases that the user may connect to, without system databases. */
    databases: z.array(z.string()),
    /** Databases that the inventory lists, with the ids of their entries; absent in earlier versions. */
    known: z.optional(z.array(z.object({ name: z.string(), database_id: id }))),
    /** Why the databases could not be listed, and what to do; null = they were. */
    problem: z.nullable(z.string()),
  })
  .register(z.globalRegistry, { id: "FoundDatabases" });
export type FoundDatabases = z.infer<typeof foundDatabases>;

/** A program of supervisord that a worker takes over, as the scan found it. */
export const takeOverBody = z
  .object({
    program: line(1024),
    file: line(4096),
    version: line(64),
    /** Accepts the differences that the scan reported; without it, a program with differences is refused. */
    accept_differences: z.optional(z.boolean()),
    /** Connection where the program's command names none. */
    connection: z.optional(createWorkerBody.shape.connection),
    queue: z.optional(createWorkerBody.shape.queue),
  })
  .register(z.globalRegistry, { id: "TakeOverProgram" });
export type TakeOverBody = z.infer<typeof takeOverBody>;
