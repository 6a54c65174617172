import { afterAll, beforeAll, expect, test } from "vitest";
import { operations, type OperationName } from "../../contract/operations.ts";
import type { BackupConfiguration } from "../../contract/backups/backup.ts";
import type { Overview } from "../../contract/overview.ts";
import type { Page } from "../../contract/paging.ts";
import type { SearchResults } from "../../contract/search.ts";
import { createApp } from "../app.ts";
import { systemClock } from "../clock.ts";
import { backupTaskQueue } from "../jobs/job-data.ts";
import { serialQueueOptions } from "../jobs/serial-queue.ts";
import { ownUser } from "../testing/own-user.ts";
import { filtersOf } from "./list-filters.ts";
import {
  countEach,
  noteStatements,
  withStatements,
  type Statement,
} from "../testing/note-statements.ts";
import { createTestService, type TestService } from "../testing/service.ts";

// Lists are polled, so the number of queries of one must not grow with its rows.

const list = (length: number, entry: (n: number) => string) =>
  Array.from(
    { length },
    (_, index) => `  - { id: ${index + 1}, name: n${index + 1}, ${entry(index + 1)} }`,
  ).join("\n");

const inventoryOf = (rows: number) => (folder: string) =>
  `
servers:
${list(rows, () => "connection: local")}
sites:
${list(rows, (n) => `server: 1, root: ${folder}/shop, user: ${ownUser}, databases: [${n}]`)}
databases:
${list(rows, (n) => `server: 1, engine: sqlite, path: ${folder}/${n}.sqlite, user: ${ownUser}`)}
storage_providers:
${list(rows, (n) => `type: local, path: ${folder}/copies-${n}`)}
notification_channels:
${list(rows, (n) => `type: email, email: ops-${n}@example.com`)}
`;

/** Inserts `rows` rows of each kind, each with everything that a list shows of it. All rows of a kind are alike. */
async function fill({ query }: TestService, rows: number): Promise<void> {
  await query(
    `insert into workers (site_id, connection, queue, max_jobs, max_time, force, memory, sleep, timeout, tries,
       processes, startsecs, stopwaitsecs, startretries, stopsignal, status, status_reason)
     select 1, 'database', 'default', 0, 0, false, 128, 3, 60, 1, 1, 0, 10, 3, 'TERM', 'failed', 'It ended.'
     from generate_series(1, $1)`,
    [rows],
  );
  await query(
    `insert into backup_configurations
       (server_id, name, frequency, hold, directory, storage_provider_id, type, database_id, site_id, status)
     select 1, 'Nightly', '0 3 * * *', 7, 'nightly', 1, type,
       case type when 'database' then n end, case type when 'site' then n end, 'installed'
     from generate_series(1, $1) n, unnest(array['database', 'site']) as kinds(type) order by n, type`,
    [rows],
  );
  // The newest finished backup is older than all that a list shows of a configuration.
  await query(
    `insert into backups (configuration_id, storage_provider_id, trigger, status, ended_at)
     select c.id, 1, 'manual', runs.status, case runs.status when 'pending' then null else now() end
     from backup_configurations c,
       unnest(array['finished'] || array_fill('failed'::text, array[20]) || array['pending'])
         with ordinality as runs(status, place)
     order by c.id, place`,
  );
  await query(
    `insert into backups (configuration_id, storage_provider_id, trigger, status, ended_at)
     select 1, 1, 'manual', 'finished', now() from generate_series(1, $1)`,
    [rows],
  );
  await query(
    // One task never ends, so that the others wait.
    `insert into pgboss.job (name, policy, singleton_key, state, started_on, data)
     select '${backupTaskQueue}', '${serialQueueOptions.policy}', '1',
       (case row_number() over (order by id) when 1 then 'active' else 'created' end)::pgboss.job_state, now(),
       jsonb_build_object('backup_id', id, 'kind', 'run', 'skip_safety_backup', false, 'begun_at', null)
     from backups where status = 'pending'`,
  );
  await query(
    `insert into webhooks (site_id, url, secret, failing_since)
     select 1, 'http://127.0.0.1:9/hook', 'whsec_' || n, now() from generate_series(1, $1) n`,
    [rows],
  );
  await query(
    `insert into events (type, server_id, site_id, message_id, data, notification, dispatched_at)
     select 'worker.failed', 1, 1, 'msg_' || n, '{}', '{}', now() from generate_series(1, $1) n`,
    [rows],
  );
  await query(
    `insert into webhook_deliveries (webhook_id, event_id, status, is_missed, order_key, next_attempt_at)
     select w.id, e.id, 'pending', true, 'worker:1', now() + interval '1 year'
     from webhooks w join events e on w.id = 1 or e.id = w.id`,
  );
  await query("insert into site_channels select 1, id from notification_channels");
  await query("insert into server_channels select 1, id from notification_channels");
  await query(
    `insert into channel_messages (channel_id, event, title, status, answer)
     select id, 'channel.test', 'Test', 'failed', 'no' from notification_channels`,
  );
  await query(
    `insert into tokens (name, hash, abilities)
     select 'token ' || n, 'hash ' || n, '{read}' from generate_series(1, $1) n`,
    [rows],
  );
  await query(
    `insert into activity (kind, action, actor_type, actor_name, object_type, object_id, object_name)
     select 'token', 'created', 'token', 'somebody', 'token', n, 'token' from generate_series(1, $1) n`,
    [rows],
  );
}

type ListName = Extract<OperationName, `list${string}`>;
/** The predicate holds because every key of `operations` is the name of an operation. */
const listNames = Object.keys(operations).filter((name): name is ListName =>
  name.startsWith("list"),
);

const manyRows = 40;
let withOne: TestService;
let withMany: TestService;
let stopNoting: () => void;

async function createFilled(rows: number): Promise<TestService> {
  const service = await createTestService({
    inventory: inventoryOf(rows),
    // The clock stands still, so that a token is looked up only once.
    clock: { ...systemClock, now: () => 1_700_000_000_000 },
  });
  await fill(service, rows);
  return service;
}

beforeAll(async () => {
  stopNoting = noteStatements();
  withOne = await createFilled(1);
  withMany = await createFilled(manyRows);
});
afterAll(async () => {
  for (const service of [withOne, withMany]) {
    // `close` checks the events of the service, but these were inserted by the test.
    await service.query("truncate events cascade");
    await service.close();
  }
  stopNoting();
});

/** Returns the response of a service, and how often it sent which statement for it. */
async function ask<Body>(service: TestService, path: string) {
  // Makes the service cache the token.
  await service.call("GET", "/api/token");
  const statements: Statement[] = [];
  const { status, body } = await withStatements(statements, () => service.json<Body>("GET", path));
  expect(status).toBe(200);
  expect(statements).not.toEqual([]);
  return { asked: countEach(statements), body };
}

const pathOfAll = (name: ListName) =>
  `${operations[name].path.replace(/\{\w+\}/, "1")}?per_page=100`;

test.each(listNames)("%s sends as many queries for 40 rows as for one", async (name) => {
  const few = await ask<Page<unknown>>(withOne, pathOfAll(name));
  const many = await ask<Page<unknown>>(withMany, pathOfAll(name));
  expect(many.body.data.length).toBeGreaterThanOrEqual(manyRows);
  expect(few.body.data.length).toBeLessThan(manyRows);
  expect(many.asked).toEqual(few.asked);
});

test.each(listNames.filter((name) => filtersOf.has(name)))(
  "%s, searched and sorted, sends as many queries for 40 rows as for one",
  async (name) => {
    const wanted = `&search=1&sort=${filtersOf.get(name)?.sorts[0] ?? ""}`;
    const few = await ask<Page<unknown>>(withOne, pathOfAll(name) + wanted);
    const many = await ask<Page<unknown>>(withMany, pathOfAll(name) + wanted);
    expect(many.body.meta.counts?.["all"]).toBe(many.body.meta.total);
    expect(many.asked).toEqual(few.asked);
  },
);

test("the overview sends as many queries for 40 rows as for one", async () => {
  const { path } = operations.showOverview;
  const many = await ask<Overview>(withMany, path);
  expect(many.body.workers.problems.length).toBe(manyRows);
  expect(many.asked).toEqual((await ask<Overview>(withOne, path)).asked);
});

test("the search sends one query, for 40 rows of each kind as for one", async () => {
  const path = `${operations.search.path}?q=n`;
  const many = await ask<SearchResults>(withMany, path);
  expect(many.body.counts["site"]).toBe(manyRows);
  expect(Object.values(many.asked)).toEqual([1]);
  expect(many.asked).toEqual((await ask<SearchResults>(withOne, path)).asked);
});

test("a start looks up no worker's site or server individually", async () => {
  await withMany.query("update workers set status = 'stopped'");
  const statements: Statement[] = [];
  const next = await withStatements(statements, () => createApp(withMany.options));
  await next.close("keep");
  expect(statements.filter(({ text }) => / from "workers"/.test(text))).not.toEqual([]);
  expect(
    statements.filter(({ text }) => /"(?:sites|servers|workers)"\."id" = \$/.test(text)),
  ).toEqual([]);
});

test("each configuration is listed with its own data", async () => {
  const { body } = await ask<Page<BackupConfiguration>>(
    withMany,
    pathOfAll("listBackupConfigurations"),
  );
  for (const { id, type, backupable, backups, last_finished_at } of body.data) {
    // They were created in pairs: of a database and a site with the same number.
    const number = Math.ceil(id / 2);
    expect(type).toBe(id % 2 === 1 ? "database" : "site");
    expect(backupable).toMatchObject({ id: number, name: `n${number}` });
    expect(backups.map(({ configuration_id: of }) => of)).toEqual(backups.map(() => id));
    // Its newest finished backup is older than the listed ones; the first configuration has newer ones.
    if (id > 1) expect(backups.filter(({ status }) => status === "finished")).toEqual([]);
    expect(last_finished_at).not.toBeNull();
  }
});
