// What a discovery finds on a server, whether or not the inventory has it: sites, databases and queue workers.
import * as z from "zod/mini";
import { line, storableText } from "./inputs.ts";
import { id, stateOf } from "./values.ts";
import { createWorkerBody } from "./workers/bodies.ts";
import { takeOverStates } from "./workers/take-over.ts";

const databaseServerEngines = ["postgres", "mysql"] as const;

const databaseServer = {
  engine: z.enum(databaseServerEngines),
  /** The TCP port on which it listens at an address of this server; null = it listens on its socket only. */
  port: z.nullable(z.int().check(z.gte(1), z.lte(65_535))),
  /** PostgreSQL: the folder of the socket. MySQL and MariaDB: the socket itself. Null = it listens on its port only. */
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
    /** SQLite files inside the sites that were found, recognized by name; the files were not read. */
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
        /** The configuration file that defines it. */
        file: z.string(),
        /** The inventory's site whose `artisan` it runs; null = none. */
        site_id: z.nullable(id),
        /** Fields of the body that creates a worker with the same options, as far as they could be parsed. */
        settings: z.record(z.string(), z.unknown()),
        /** Identifies the present definition, for a take-over. */
        version: z.string(),
        /** Number of processes that supervisord runs; null = supervisord cannot be asked, or lacks the program. */
        running: z.nullable(z.int()),
        /** Why no worker can replace it, and what to do; null = one can. */
        refusal: z.nullable(z.string()),
        /** How that worker would differ, in sentences. */
        differences: z.array(z.string()),
        /** The worker that is replacing it or has replaced it, and the state of the take-over; null = none. */
        worker: z.nullable(z.object({ id, take_over: stateOf(takeOverStates) })),
      }),
    ),
    /** What could not be examined, or not completely, in sentences. */
    notes: z.array(z.string()),
  })
  .register(z.globalRegistry, { id: "Discovery" });
export type Discovery = z.infer<typeof discovery>;

/** A login for a database server that was found. Nothing of it is stored. */
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
    /** Databases that the user may connect to, without the server's own. */
    databases: z.array(z.string()),
    /** The listed databases that the inventory has, with the ids of their entries; absent in earlier versions. */
    known: z.optional(z.array(z.object({ name: z.string(), database_id: id }))),
    /** Why no databases could be listed, and what to do; null = they were listed. */
    problem: z.nullable(z.string()),
  })
  .register(z.globalRegistry, { id: "FoundDatabases" });
export type FoundDatabases = z.infer<typeof foundDatabases>;

/** The supervisord program that a worker is to replace, as it was found. */
export const takeOverBody = z
  .object({
    program: line(1024),
    file: line(4096),
    version: line(64),
    /** Accepts the reported differences; otherwise a program with differences is refused. */
    accept_differences: z.optional(z.boolean()),
    /** Options that the program leaves to the configuration of its site. */
    connection: z.optional(createWorkerBody.shape.connection),
    queue: z.optional(createWorkerBody.shape.queue),
  })
  .register(z.globalRegistry, { id: "TakeOverProgram" });
export type TakeOverBody = z.infer<typeof takeOverBody>;
