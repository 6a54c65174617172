// Migration of stored events and deliveries: they get an order key, and deliveries that would never be sent are ended.
import { randomBytes } from "node:crypto";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { expect, inject, onTestFinished, test } from "vitest";
import { administer } from "../testing/service.ts";
import { drizzle, migrate } from "./drizzle.ts";

const migrations = fileURLToPath(new URL("migrations", import.meta.url));
type Journal = { entries: { tag: string }[] };

/** Returns a folder with the migrations before one. */
async function before(tag: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "quarterdeck-migrations-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await cp(migrations, folder, { recursive: true });
  const file = join(folder, "meta/_journal.json");
  const journal: Journal = JSON.parse(await readFile(file, "utf8"));
  const count = journal.entries.findIndex((entry) => entry.tag === tag);
  await writeFile(file, JSON.stringify({ ...journal, entries: journal.entries.slice(0, count) }));
  return folder;
}

/** Creates a database with all migrations. `stored` is executed before the migration `tag`. */
async function migrateFrom(tag: string, stored: string): Promise<pg.Client> {
  const database = `test_${randomBytes(6).toString("hex")}`;
  await administer(`create database ${database}`);
  const client = new pg.Client({ ...inject("postgres"), database });
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await administer(`drop database ${database} with (force)`);
  });
  await migrate(drizzle(client), { migrationsFolder: await before(tag) });
  await client.query(stored);
  await migrate(drizzle(client), { migrationsFolder: migrations });
  return client;
}

test("existing deliveries and events get their order", async () => {
  const client = await migrateFrom(
    "0006_honest_states",
    `
    insert into servers (id, name, entry) values (1, 'web-1', '{}');
    insert into sites (id, name, entry, server_id) values (1, 'shop', '{}', 1);
    insert into webhooks (site_id, url, secret, disabled_at) values
      (1, 'http://a.example', 's', null), (1, 'http://b.example', 's', now());
    insert into events (type, server_id, message_id, data, news) values
      ('worker.failed', 1, 'a', '{"worker_id": 7}', '{}'),
      ('restore.failed', 1, 'b', '{"configuration_id": 3}', '{}'),
      ('webhook.ping', 1, 'c', '{"webhook_id": 2}', '{}');
    insert into webhook_deliveries (webhook_id, event_id, status, next_attempt_at) values
      (1, 1, 'retrying', now()), (1, 2, 'pending', now()), (2, 3, 'retrying', now());
  `,
  );
  const { rows } = await client.query(
    "select order_key, status, next_attempt_at is null as is_over from webhook_deliveries order by id",
  );
  expect(rows).toEqual([
    { order_key: "worker:7", status: "retrying", is_over: false },
    { order_key: "backup-configuration:3", status: "pending", is_over: false },
    { order_key: null, status: "failed", is_over: true },
  ]);
});

test("existing messages and redeliveries on the timeline keep their sentences", async () => {
  const client = await migrateFrom(
    "0014_notification_columns",
    `
    insert into activity (kind, action, actor_type, actor_name, object_type, object_id, object_name) values
      ('notification', 'told', 'service', '', 'notification-channel', 1, 'ops'),
      ('notification', 'not told', 'service', '', 'notification-channel', 1, 'ops'),
      ('webhook', 'asked to be told again', 'token', 'ops', 'webhook', 2, 'a.example'),
      ('webhook', 'asked to be told what it missed', 'token', 'ops', 'webhook', 2, 'a.example'),
      ('webhook', 'created', 'token', 'ops', 'webhook', 2, 'a.example');
  `,
  );
  const { rows } = await client.query("select action from activity order by id");
  expect(rows.map(({ action }) => action)).toEqual([
    "notified",
    "undelivered",
    "asked to redeliver",
    "asked to redeliver what it missed",
    "created",
  ]);
});

test("an order that already waits for a worker's server is marked as waiting", async () => {
  const worker = (id: number, status: string, last: string | null) =>
    `(${id}, 1, 'database', '${status}', ${last && `'${last}'`}, 5, 'default', 0, 0, false, 128, 3, 60, 1, 1, 0, 10, 3, 'TERM')`;
  const client = await migrateFrom(
    "0021_waiting_orders",
    `
    insert into servers (id, name, entry) values (1, 'web-1', '{}');
    insert into sites (id, name, entry, server_id) values (1, 'shop', '{}', 1);
    insert into workers (id, site_id, connection, status, last_status, transition, queue, max_jobs, max_time, force,
      memory, sleep, timeout, tries, processes, startsecs, stopwaitsecs, startretries, stopsignal) overriding system value
    values ${worker(1, "stopping", "installed")}, ${worker(2, "restarting", "restarting")}, ${worker(3, "installed", null)};
  `,
  );
  const { rows } = await client.query("select waiting_order from workers order by id");
  expect(rows.map(({ waiting_order }) => waiting_order)).toEqual([5, null, null]);
});
