// Three instances on a PostgreSQL that may be restarted, each with a connection that may be cut; one of them uses PgBouncer.
import { setTimeout as wait } from "node:timers/promises";
import type pg from "pg";
import { startPostgresServer, type PostgresServer } from "../../backups/testing/postgres-server.ts";
import { startCuttableLink, type CuttableLink } from "../../testing/cuttable-link.ts";
import { hasPgbouncer, startPgbouncer } from "../../testing/pgbouncer.ts";
import type { ServiceProcess } from "../../testing/service-process.ts";
import { auditStatements } from "./audit.ts";
import { createSeveral, type Several } from "./several.ts";

export type FaultyInstance = {
  name: string;
  /** Its connection to the database. */
  link: CuttableLink;
  service: ServiceProcess;
  /** Whether a fault of it is in progress. */
  isHit: boolean;
};

export type FaultRig = {
  several: Several;
  postgres: PostgresServer;
  instances: FaultyInstance[];
  /** Queries the database, and retries while it is unavailable, so a statement may run twice. */
  ask<Row extends object>(statement: string, values?: unknown[]): Promise<Row[]>;
  /** Restarts an instance like a service manager, until it succeeds. */
  restart(instance: FaultyInstance): Promise<void>;
  /** Returns the output of all runs of all instances. */
  output(): string;
  /** Instances that exited without being killed. */
  exits: readonly string[];
  close(): Promise<void>;
};

const database = "quarterdeck";
const password = "for tests";
const names = ["first", "second", "third"];
const pooled = "third";
/** A start may encounter several restarts of PostgreSQL in a row. */
const awayMs = 240_000;

/** @param many number of servers over SSH, in addition to the first instance's own machine */
export async function createFaultRig(many: number): Promise<FaultRig> {
  // Committed data must survive, even a crash of PostgreSQL.
  const postgres = await startPostgresServer({ settings: { synchronous_commit: "on" } });
  await postgres.createDatabase(database);
  for (const name of names)
    await postgres.query("postgres", `create role ${name} superuser login password '${password}'`);
  const cleanUps: (() => Promise<void>)[] = [];
  const urls = new Map<string, string>();
  const links = new Map<string, CuttableLink>();
  for (const name of names) {
    const url = new URL(postgres.url(database, { user: name, password }));
    const link = await startCuttableLink(postgres.port);
    cleanUps.push(link.close);
    links.set(name, link);
    url.port = String(link.port);
    if (name === pooled && hasPgbouncer) {
      const bouncer = await startPgbouncer(url.href, "transaction");
      cleanUps.push(bouncer.stop);
      urls.set(name, bouncer.url);
    } else urls.set(name, url.href);
  }
  const several = await createSeveral(many, {
    connection: connectionTo(postgres.url(database)),
    urlOf: (name) => urls.get(name) ?? "",
    async close() {
      for (const cleanUp of cleanUps.toReversed()) await cleanUp();
      await postgres.stop();
    },
  });
  const lives: ServiceProcess[] = [];
  const exits: string[] = [];
  const start = async (name: string) => {
    const service = await several.start(name);
    lives.push(service);
    service.child.once("exit", (code) => {
      if (code !== null) exits.push(`${name} ended by itself with ${code}.`);
    });
    return service;
  };

  const instances = await Promise.all(
    [...links].map(async ([name, link]): Promise<FaultyInstance> => ({
      name,
      link,
      service: await start(name),
      isHit: false,
    })),
  );
  await several.query(auditStatements);

  return {
    several,
    postgres,
    instances,
    ask: (statement, values) => persist(() => several.query(statement, values)),
    async restart(instance) {
      instance.service = await persist(() => start(instance.name));
    },
    output: () => lives.map((life) => life.output()).join("\n"),
    exits,
    close: several.close,
  };
}

function connectionTo(url: string): pg.ClientConfig {
  const { hostname, port, username, password: secret } = new URL(url);
  return {
    host: hostname,
    port: Number(port),
    user: username,
    password: decodeURIComponent(secret),
    database,
  };
}

/** Retries for as long as the database may be unavailable. */
async function persist<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (const untilMs = performance.now() + awayMs; ;)
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > untilMs) throw error;
      await wait(200);
    }
}
