// Tests that frequent queries of tables that grow for years use an index.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPrune } from "../events/prune.ts";
import { soleLeases } from "../instances/leases.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { noteStatements, withStatements, type Statement } from "../testing/note-statements.ts";
import { createTestService, type TestService } from "../testing/service.ts";
import { withClient } from "../testing/with-client.ts";
import { createWorkerMoves } from "../workers/status/moves.ts";
import { openDatabase } from "./database.ts";
import { soon } from "../testing/soon.ts";

const nowMs = Date.parse("2026-06-01T12:00:00Z");
const now = "timestamptz '2026-06-01T12:00:00Z'";

/** Tables that grow with activity, not with the number of objects. */
const growing = ["backups", "events", "webhook_deliveries", "webhook_attempts", "activity"];
/** Tables of objects: a list reads a few rows, the overview and the search read all. */
const kept = ["workers", "backup_configurations", "webhooks"];

const servers = 200;
const sites = 1000;
const range = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const inventory = (folder: string) =>
  [
    "servers:",
    ...range(servers).map((id) => `  - { id: ${id}, name: web-${id}, connection: local }`),
    "sites:",
    ...range(sites).map(
      (id) => `  - { id: ${id}, server: ${1 + (id % servers)}, name: shop-${id}, root: ${folder} }`,
    ),
    `storage_providers: [{ id: 1, name: copies, type: local, path: ${folder}/copies }]`,
  ].join("\n");

const rows = [
  // Disables triggers, which would take most of the time. The tables that they maintain are filled below.
  "set session_replication_role = replica",
  `insert into workers (site_id, connection, queue, max_jobs, max_time, force, memory, sleep, timeout, tries, processes,
     startsecs, stopwaitsecs, startretries, stopsignal, status)
   select 1 + n % ${sites}, 'database', 'queue-' || n % 7, 0, 0, false, 128, 3, 60, 1, 1, 1, 65, 3, 'TERM', 'stopped'
   from generate_series(1, 4000) n`,
  `insert into webhooks (site_id, url, secret) select 1 + n % ${sites}, 'https://hooks.example.com/' || n, 'whsec_' || n
   from generate_series(1, 2000) n`,
  `insert into backup_configurations
     (server_id, name, frequency, hold, directory, storage_provider_id, type, site_id, status, next_run_at, last_proven_at, drill)
   select 1 + n % ${servers}, 'nightly ' || n, '0 3 * * *', 7, 'nightly-' || n, 1, 'site', 1 + n % ${sites}, 'installed',
     ${now} + (n % 1380 + 20) * interval '1 minute', ${now}, 30
   from generate_series(1, 2000) n`,
  `insert into backups (configuration_id, storage_provider_id, trigger, status, path, started_at, ended_at, checked_at)
   select 1 + n % 2000, 1, 'schedule', 'finished', 'copies/' || n, at, at, ${now}
   from generate_series(1, 30000) n, lateral (select ${now} - (30000 - n) / 2000 * interval '1 day' - interval '1 hour' as at) moment`,
  `insert into events (type, server_id, site_id, message_id, data, notification, dispatched_at, created_at)
   select 'worker.failed', 1, 1 + n % ${sites}, 'msg_' || n, '{}', '{}', at, at
   from generate_series(1, 20000) n, lateral (select ${now} - (20000 - n) * interval '7 minutes' as at) moment`,
  `insert into webhook_deliveries (webhook_id, event_id, order_key, status, ended_at, created_at)
   select 1 + n % 2000, n / 2 + 1, 'worker:1', 'delivered', at, at
   from generate_series(1, 39000) n, lateral (select ${now} - (39000 - n) * interval '3 minutes' as at) moment`,
  `insert into activity (at, kind, action, actor_type, actor_name, object_type, object_id, object_name, server_id, site_id)
   select ${now} - (20000 - n) * interval '7 minutes', 'backup', 'finished', 'service', 'schedule', 'backup', n, 'nightly ' || n % 2000,
     1 + n % ${servers}, 1 + n % ${sites}
   from generate_series(1, 20000) n`,
  "set session_replication_role = origin",
  "insert into newest_backups (configuration_id) select id from backup_configurations",
  `insert into search_names (kind, id, folded) select 'worker', id, queue || ' on ' || connection from workers
   union all select 'configuration', id, name from backup_configurations union all select 'webhook', id, url from webhooks`,
  "vacuum analyze",
];

type Plan = { "Node Type": string; "Relation Name"?: string; Plans?: Plan[] };

const scannedIn = (plan: Plan): string[] => [
  ...(plan["Node Type"] === "Seq Scan" ? [plan["Relation Name"] ?? ""] : []),
  ...(plan.Plans ?? []).flatMap(scannedIn),
];

let service: TestService;
let stopNoting: () => void;
const clock = createFakeClock(nowMs);
beforeAll(async () => {
  stopNoting = noteStatements();
  service = await createTestService({ inventory, clock });
  await withClient(service.connection, async (client) => {
    for (const statement of rows) await client.query(statement);
  });
});
afterAll(async () => {
  await service.query("truncate events cascade");
  await service.close();
  stopNoting();
});

/** Returns the tables that statements read by a sequential scan, each with the statement. */
async function scansOf(statements: readonly Statement[], tables: readonly string[]) {
  const found: string[] = [];
  await withClient(service.connection, async (client) => {
    for (const { text, values } of statements) {
      if (!/^\s*(?:select|with|update|delete|insert)\b/i.test(text)) continue;
      const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: Plan }] }>(
        `explain (format json) ${text}`,
        [...values],
      );
      const plan = rows[0]?.["QUERY PLAN"][0].Plan;
      if (plan === undefined) throw new Error("A statement has no plan.");
      for (const table of scannedIn(plan))
        if (tables.includes(table)) found.push(`${table}: ${text}`);
    }
  });
  return found;
}

async function asked(path: string): Promise<Statement[]> {
  const statements: Statement[] = [];
  const response = await withStatements(statements, () => service.call("GET", path));
  expect(response.status).toBe(200);
  expect(statements).not.toEqual([]);
  return statements;
}

test.each([
  "/api/servers",
  "/api/server/7/sites",
  "/api/server/7/backups",
  "/api/backup-configuration/7/backups",
  "/api/backup-configuration/7/backups?filter[status]=failed",
  "/api/backup-configuration/7",
  "/api/site/7/workers",
  "/api/site/7/workers?search=queue",
  "/api/site/7/webhooks",
  "/api/site-webhook/7/deliveries",
  "/api/activity",
  "/api/activity?server_id=7",
  "/api/activity?site_id=7",
  "/api/activity?search=nightly",
])("%s scans no table sequentially", async (path) => {
  expect(await scansOf(await asked(path), [...growing, ...kept])).toEqual([]);
});

test.each(["/api/overview", "/api/search?q=shop", "/metrics"])(
  "%s scans no table sequentially that grows with time",
  async (path) => {
    expect(await scansOf(await asked(path), growing)).toEqual([]);
  },
);

test("the scheduler scans no table sequentially that grows with time, and finds due schedules by their index", async () => {
  const statements: Statement[] = [];
  withStatements(statements, () => clock.advance(60_000));
  await soon(
    () =>
      expect(statements.filter(({ text }) => text.includes("stored_checked_at"))).not.toEqual([]),
    90_000,
  );
  expect(await scansOf(statements, growing)).toEqual([]);
  const due = statements.filter(({ text }) => text.includes('"next_run_at" <='));
  expect(due).not.toEqual([]);
  expect(await scansOf(due, kept)).toEqual([]);
});

test("finds the workers of a server without an instance by an index", async () => {
  const statements: Statement[] = [];
  const { db, close } = await openDatabase(service.connection, () => undefined);
  try {
    const { setAbandoned } = createWorkerMoves(db, {
      ...soleLeases,
      holdFree: async () => undefined,
    });
    const away = { since: new Date(nowMs), reason: "It is away." };
    await withStatements(statements, () => setAbandoned(7, away));
  } finally {
    await close();
  }
  expect(statements).not.toEqual([]);
  expect(await scansOf(statements, kept)).toEqual([]);
});

test("retention finds old rows by an index", async () => {
  const statements: Statement[] = [];
  const { db, close } = await openDatabase(service.connection, () => undefined);
  try {
    // A small share of the few rows here, like a thousand of millions.
    await withStatements(statements, createPrune({ db, keepDays: 93, clock, rowsAtOnce: 100 }));
  } finally {
    await close();
  }
  expect(statements.filter(({ text }) => text.startsWith("delete"))).not.toEqual([]);
  expect(await scansOf(statements, growing)).toEqual([]);
});
