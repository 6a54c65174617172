// Creates a whole service for a test: with its own database and folder, and real processes, but without a port.
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
  /** A test may close it and assign another one. */
  app: App;
  /** The options of `app`, for another one on the same database. */
  options: AppOptions;
  /** Contains the folders of the sites. */
  folder: string;
  inventoryFile: string;
  /** Connects to the service's database, for data that no operation shows. */
  connection: pg.ClientConfig;
  /** A token with all permissions. */
  token: string;
  /** Sends a request with `token` and the headers that the interface requires. */
  call(method: string, path: string, body?: unknown, token?: string): Promise<Response>;
  /** Like `call`, but with the parsed body of the response. */
  json<Body>(method: string, path: string, body?: unknown): Promise<{ status: number; body: Body }>;
  /** Queries the service's database, for data that no operation shows. */
  query<Row extends object>(statement: string, values?: unknown[]): Promise<Row[]>;
  /** Advances time for the service, unless the test passed its own clock, and for the jobs in its database. */
  ahead(ms: number): Promise<void>;
  close(): Promise<void>;
};

/**
 * Checks the payloads of all events against the contract, in every test.
 * @throws Error when a payload does not match its schema, or has a field that its schema lacks
 */
function checkEvents(rows: readonly EventRow[]): void {
  for (const row of rows) {
    // Webhooks get no events of the installation.
    if (row.server_id === null) continue;
    const body: unknown = JSON.parse(bodyOf({ ...row, created_at: new Date(row.created_at) }));
    const { success, data, error } = eventPayloads[row.type].safeParse(body);
    if (!success) throw new Error(`A ${row.type} event does not fit its schema: ${error.message}`);
    // Parsing drops fields that the schema lacks.
    if (!isDeepStrictEqual(data, body))
      throw new Error(`A ${row.type} event says what no schema names: ${JSON.stringify(body)}`);
  }
}

/** Host of requests that are passed to the app without a socket. */
const testHost = "quarterdeck.test";

const chosenToken = "a token for tests, 32 characters at least";

/** Returns an inventory with one site, whose `artisan` is a shell script that the test may replace. */
export const oneSite = (folder: string) => `
servers:
  - { id: 1, name: here, connection: local }
sites:
  - { id: 1, server: 1, name: shop, root: ${folder}/shop, user: ${ownUser}, artisan: [sh, artisan] }
`;

/** @param options `patienceMs` = how long a query waits for a connection, in place of production's 5 s */
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
    // Webhook receivers of tests are on this machine.
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
      // Advances the clock before the database: a job that ran first would find nothing due.
      clock.ahead(ms);
      aheadMs += ms;
      const shifted = `pg_catalog.now() + interval '${aheadMs} milliseconds'`;
      // Shifts the start of active jobs, too, so that their duration stays the same.
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

/** Opens a pool, because connecting takes longer than most queries. */
function openPool(connection: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(connection);
  // A lost connection makes the next query fail.
  pool.on("error", () => undefined);
  return pool;
}

/** Creates a migrated, empty database. @returns its name */
export async function createDatabase(): Promise<string> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  // `file_copy`, because the default, which copies through the write-ahead log, takes twice as long.
  await administer(
    `create database ${name} template ${inject("templateDatabase")} strategy file_copy`,
  );
  return name;
}

let administrators: pg.Pool | undefined;

/** Runs a statement outside of a test's database, e.g. one that creates it. */
export async function administer(statement: string): Promise<void> {
  administrators ??= openPool({
    ...inject("postgres"),
    database: "postgres",
    // The pool lives as long as the process of the tests.
    allowExitOnIdle: true,
  });
  await administrators.query(statement);
}

/** Returns the URL of a database on the tests' PostgreSQL, for a service in a separate process. */
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
