// The whole service for a test: a database of its own, a folder of its own, real processes, no port.
import { randomBytes } from "node:crypto";
import { mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import pg from "pg";
import { inject } from "vitest";
import type { AppOptions } from "../app-options.ts";
import { createApp, type App } from "../app.ts";
import { eventPayloads } from "../../contract/event-payloads.ts";
import { bodyOf, type EventRow } from "../events/event.ts";
import { createAllowedHosts } from "../http/allowed-hosts.ts";
import { createLog } from "../log.ts";
import { workerEnvironment } from "../workers/environment.ts";
import { patientArtisan } from "./artisan.ts";
import { makeMemoryFolder } from "./memory-folder.ts";
import { ownUser } from "./own-user.ts";
import { createShiftedClock } from "./shifted-clock.ts";

export type TestService = {
  /** Another one may be put in its place once it is closed. */
  app: App;
  /** What it was made of, for another one on the same database. */
  options: AppOptions;
  /** Holds the sites' folders. */
  folder: string;
  inventoryFile: string;
  /** Its database, for what no operation shows. */
  connection: pg.ClientConfig;
  /** A token that may do everything. */
  token: string;
  /** Sends a request with `token`, as the interface wants it. */
  call(method: string, path: string, body?: unknown, token?: string): Promise<Response>;
  /** The same, with the answer's JSON. */
  json<Body>(method: string, path: string, body?: unknown): Promise<{ status: number; body: Body }>;
  /** Asks its database, for what no operation shows. */
  query<Row extends object>(statement: string, values?: unknown[]): Promise<Row[]>;
  /** Has time pass: for the service, unless the test brought its clock, and for the jobs in its database. */
  ahead(ms: number): Promise<void>;
  close(): Promise<void>;
};

/**
 * Holds what was made of events against the contract, whatever the test was about.
 * @throws Error when a body does not fit its schema, or says something that its schema does not name
 */
function checkEvents(rows: readonly EventRow[]): void {
  for (const row of rows) {
    // No webhook gets what is about the installation.
    if (row.server_id === null) continue;
    const body: unknown = JSON.parse(bodyOf({ ...row, created_at: new Date(row.created_at) }));
    const { success, data, error } = eventPayloads[row.type].safeParse(body);
    if (!success) throw new Error(`A ${row.type} event does not fit its schema: ${error.message}`);
    // What a schema does not know it leaves out.
    if (!isDeepStrictEqual(data, body))
      throw new Error(`A ${row.type} event says what no schema names: ${JSON.stringify(body)}`);
  }
}

/** What requests without a socket are sent to. */
const testHost = "quarterdeck.test";

const chosenToken = "a token for tests, 32 characters at least";

/** One site, whose `artisan` is a shell script that the test may replace. */
export const oneSite = (folder: string) => `
servers:
  - { id: 1, name: here, connection: local }
sites:
  - { id: 1, server: 1, name: shop, root: ${folder}/shop, user: ${ownUser}, artisan: [sh, artisan] }
`;

/** @param options with `patienceMs`, how long a query waits for a connection instead of production's 5 s */
export async function createTestService(
  options: Partial<AppOptions> & {
    inventory?: (folder: string) => string;
    patienceMs?: number;
  } = {},
): Promise<TestService> {
  const folder = await realpath(await makeMemoryFolder("quarterdeck-service-"));
  const inventoryFile = join(folder, "inventory.yaml");
  await mkdir(join(folder, "shop"));
  await writeFile(join(folder, "shop/artisan"), patientArtisan);
  await writeFile(inventoryFile, (options.inventory ?? oneSite)(folder));
  const database = await createDatabase();
  const connection = {
    ...inject("postgres"),
    database,
    ...(options.patienceMs !== undefined && { connectionTimeoutMillis: options.patienceMs }),
  };
  const pool = openPool(connection);
  const clock = createShiftedClock();
  let aheadMs = 0;
  const made: AppOptions = {
    connection,
    instance: null,
    dataFolder: folder,
    inventoryFile,
    isInventoryReadOnly: false,
    token: chosenToken,
    rateLimit: 0,
    publicUrl: null,
    isAllowedHost: createAllowedHosts({
      listensOn: testHost,
      publicUrl: null,
      machineName: "",
    }),
    // Receivers of the tests are on this machine.
    allow: "127.0.0.0/8",
    smtp: null,
    keepDays: 90,
    dashboardFolder: null,
    secrets: {},
    reservedAccounts: [],
    workerEnvironment: workerEnvironment(process.env, "/nowhere"),
    invalidResponse: "fail",
    secondConnection: "fail",
    version: "0.0.0",
    nodeVersion: process.version,
    account: { name: "tests", isRoot: false },
    clock,
    log: createLog(process.env["LOG_LEVEL"] ?? "silent"),
    ...options,
  };
  const app = await createApp(made);

  const call: TestService["call"] = async (method, path, body, token = chosenToken) =>
    service.app.fetch(
      new Request(`http://${testHost}${path}`, {
        method,
        headers: {
          Authorization: `Bearer ${token}`,
          Accept: "application/json",
          "Content-Type": "application/json",
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );

  const service: TestService = {
    app,
    options: made,
    folder,
    inventoryFile,
    connection,
    token: chosenToken,
    call,
    async json(method, path, body) {
      const response = await call(method, path, body);
      return { status: response.status, body: await response.json() };
    },
    async query<Row extends object>(statement: string, values?: unknown[]) {
      return (await pool.query<Row>(statement, values)).rows;
    },
    async ahead(ms) {
      // The clock first: what becomes due by it alone waits for its job; a job that came first would find nothing to do.
      clock.ahead(ms);
      aheadMs += ms;
      const shifted = `pg_catalog.now() + interval '${aheadMs} milliseconds'`;
      // What runs has run for as long as before.
      await pool.query(
        `create or replace function pgboss.job_now() returns timestamptz language sql stable as 'select ${shifted.replaceAll("'", "''")}';
         update pgboss.job set started_on = started_on + interval '${ms} milliseconds',
           heartbeat_on = heartbeat_on + interval '${ms} milliseconds' where state = 'active'`,
      );
    },
    async close() {
      await service.app.close("stop");
      try {
        checkEvents(await service.query("select * from events"));
      } finally {
        await pool.end();
        await administer(`drop database ${database} with (force)`);
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
  return service;
}

/** Connections that are kept for a while, since making one takes longer than most of what it is asked. */
function openPool(connection: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(connection);
  // What is lost fails the next query.
  pool.on("error", () => undefined);
  return pool;
}

/** Creates a migrated, empty database. @returns its name */
export async function createDatabase(): Promise<string> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  // As files: through its log, which is the default, costs twice as much.
  await administer(
    `create database ${name} template ${inject("templateDatabase")} strategy file_copy`,
  );
  return name;
}

let administrators: pg.Pool | undefined;

/** Runs a statement that belongs to no database of a test, e.g. one that makes it. */
export async function administer(statement: string): Promise<void> {
  administrators ??= openPool({
    ...inject("postgres"),
    database: "postgres",
    // It lives as long as the tests' process.
    allowExitOnIdle: true,
  });
  await administrators.query(statement);
}

/** A database of the tests' PostgreSQL as an operator names it, for a service in a process of its own. */
export function databaseUrl(database: string): string {
  const { host, user, password = "", port } = inject("postgres");
  const url = new URL("postgres://localhost");
  url.username = user;
  url.password = password;
  url.pathname = database;
  url.searchParams.set("host", host);
  if (port !== undefined) url.searchParams.set("port", String(port));
  return url.href;
}
