// A database with rows in every table, and a comparison of the content of two databases.
import type pg from "pg";
import { withClient } from "../../testing/with-client.ts";

/** Characters that a text format must escape, and text that looks like an escape. */
const awful = String.raw`E'tab\t line\r\n back\\slash \\N "quotes" ''single'' {a,b} \u00e9 😀'`;

/** Each backup changes the summary of its configuration again, so the time for a statement grows with the square of its rows. */
const backupsAtOnce = 500;

const backups = (rows: number) =>
  Array.from(
    { length: Math.ceil(rows / backupsAtOnce) },
    (_, part) => `
   insert into backups (configuration_id, storage_provider_id, trigger, status, ended_at, size, manifest, warnings, output)
   select 1 + n % 2, 1, 'manual', 'finished', now(), 9007199254740991, jsonb_build_object('n', n, 'text', ${awful}), array[${awful}], ${awful}
   from generate_series(${part * backupsAtOnce + 1}, ${Math.min(rows, (part + 1) * backupsAtOnce)}) n`,
  );

/**
 * For server 1, site 1, database 1, storage provider 1 and channel 1 of the inventory.
 * @param rows number of rows in the large tables
 */
const statements = (rows: number) => [
  `insert into workers (site_id, connection, queue, max_jobs, max_time, force, memory, sleep, timeout, tries,
     processes, startsecs, stopwaitsecs, startretries, stopsignal, status, status_reason, changed_from)
   select 1, 'database', 'queue-' || n, 0, 0, false, 128, 3, 60, 1, 1, 0, 10, 3, 'TERM', 'stopped', ${awful},
     '{"version": 1.50, "settings": null}' from generate_series(1, 5) n`,
  `insert into backup_configurations (server_id, name, frequency, hold, directory, storage_provider_id, copy_storage_provider_id, incremental, type, database_id,
     site_id, status, install_warnings)
   select 1, ${awful}, '0 3 * * *', 7, 'nightly', 1, 1, true, type, case type when 'database' then 1 end, case type when 'site' then 1 end,
     'failed', array[${awful}, null, ''] from unnest(array['database', 'site']) as kinds(type)`,
  ...backups(rows),
  // A copy of a run with a higher id, which also needs a full backup.
  `update backups set trigger = 'copy', copy_of_id = (select max(id) from backups), base_id = 1, taken_at = '2000-02-29 12:00:00.001Z'
   where id = 3`,
  `insert into backup_tasks (server_id, backup_id, kind) values (1, 1, 'verify')`,
  `insert into webhooks (site_id, url, secret, events, disabled_at, paused_at) values
     (1, 'http://127.0.0.1:9/hook', 'whsec_1', null, now(), now()), (1, 'http://127.0.0.1:9/two', 'whsec_2', '{worker.failed}', now(), now())`,
  `insert into events (type, server_id, site_id, message_id, data, notification, dispatched_at)
   select 'worker.failed', 1, 1, 'msg_' || n, jsonb_build_object('reason', ${awful}), '{}', now() from generate_series(1, ${rows}) n`,
  `insert into webhook_deliveries (webhook_id, event_id, status, is_missed, order_key, ended_at)
   select 1 + id % 2, id, 'failed', true, 'worker:1', now() from events`,
  `insert into webhook_attempts (delivery_id, url, started_at, duration_ms, error, request_headers, response_body)
   select id, 'http://127.0.0.1:9/hook', '1999-12-31 23:59:59.999+05:30', 7, ${awful}, '{}', ${awful} from webhook_deliveries`,
  `insert into site_channels select 1, id from notification_channels`,
  `insert into server_channels select 1, id, '["backup.failed"]' from notification_channels`,
  `insert into channel_messages (channel_id, event, title, status, answer, ended_at) values (1, 'channel.test', ${awful}, 'failed', '', now())`,
  `insert into channel_message_events values (1, 1)`,
  `insert into one_time_links (hash, path, token_id, expires_at) select 'hash', '/x', min(id), 'infinity' from tokens`,
  `insert into server_contacts (server_id, reachable, since, reason) values (1, true, now(), ${awful})`,
  `insert into rate_limits (key, points) values ('test', 3)`,
  `insert into instances (id, name, home, role, address, version, secret_hash, until)
   values (gen_random_uuid(), ${awful}, gen_random_uuid(), 'all', 'http://127.0.0.1:9', '0.0.0', 'hash', now() + interval '1 day')`,
  `insert into server_leases (server_id, instance_id, instance_name) select 1, id, name from instances limit 1 on conflict (server_id) do update set instance_name = excluded.instance_name`,
  `insert into worker_records select id, ${awful} from workers limit 3`,
  `insert into worker_logs select id, ${awful} from workers limit 3`,
  // A sequence that is ahead of its rows.
  `select nextval('backups_id_seq') from generate_series(1, 10)`,
];

/** Rows of pg-boss, which it cleans up while the service runs. Worker 5 waits for its job. */
const jobStatements = [
  `update workers set status = 'installing' where id = 5`,
  `insert into pgboss.job (name, data, keep_until, start_after)
   values ('worker.apply', '{"id": 5, "transition": 1}', now() + interval '30 days', now() - interval '1 minute')`,
  `insert into pgboss.warning (type, message, data) values ('test', ${awful}, '{}')`,
  `insert into pgboss.subscription (event, name) values ('something', 'upkeep')`,
  `insert into pgboss.job_dependency values ('upkeep', gen_random_uuid(), 'upkeep', gen_random_uuid())`,
  `insert into pgboss.queue_stats (name) values ('upkeep')`,
];

/** Fills all tables except those of jobs. */
export const fillTables = (connection: pg.ClientConfig, rows: number): Promise<void> =>
  runAll(connection, statements(rows));

/** Fills the tables of jobs; no service may run. */
export const fillJobTables = (connection: pg.ClientConfig): Promise<void> =>
  runAll(connection, jobStatements);

const runAll = (connection: pg.ClientConfig, all: readonly string[]) =>
  withClient(connection, async (client) => {
    for (const statement of all) await client.query(statement);
  });

type Content = {
  /** By table: the number of rows, and a hash of them. */
  tables: Record<string, string>;
  sequences: Record<string, string>;
  /** Definitions of keys, checks, indexes and triggers. */
  structure: string[];
};

/** Returns everything in a database, except the marks of a move. */
export function readContent(connection: pg.ClientConfig): Promise<Content> {
  return withClient(connection, async (client) => {
    const names = async (kinds: string) => {
      const { rows } = await client.query<{ name: string }>(
        `select oid::regclass::text as name from pg_class where relkind in (${kinds}) and not relispartition
         and relnamespace::regnamespace::text in ('public', 'drizzle', 'pgboss') order by name`,
      );
      return rows.map(({ name }) => name);
    };
    const tables: Content["tables"] = {};
    for (const name of await names("'r', 'p'")) {
      const { rows } = await client.query<{ content: string }>(
        `select count(*) || ' ' || md5(coalesce(string_agg(t::text, chr(10) order by t::text collate "C"), '')) as content
         from ${name} t ${name === "settings" ? "where key <> 'move'" : ""}`,
      );
      tables[name] = rows[0]?.content ?? "";
    }
    const sequences: Content["sequences"] = {};
    for (const name of await names("'S'")) {
      const { rows } = await client.query<{ content: string }>(
        `select last_value || ' ' || is_called as content from ${name}`,
      );
      sequences[name] = rows[0]?.content ?? "";
    }
    const { rows } = await client.query<{ what: string }>(
      `select concat_ws(' ', conrelid::regclass, conname, convalidated, pg_get_constraintdef(oid)) as what from pg_constraint
         where contype <> 'n' and connamespace::regnamespace::text in ('public', 'pgboss')
       union all select indexdef from pg_indexes where schemaname in ('public', 'drizzle', 'pgboss')
       union all select concat_ws(' ', tgenabled, pg_get_triggerdef(oid)) from pg_trigger where not tgisinternal`,
    );
    return { tables, sequences, structure: rows.map(({ what }) => what).sort() };
  });
}
