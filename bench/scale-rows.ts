// Inserts the data of an installation that is years old by SQL: over HTTP it would take days.
import pg from "pg";
import { ownUser } from "../server/testing/own-user.ts";

/** Number of objects of each kind. */
export type Scale = {
  servers: number;
  sites: number;
  configurations: number;
  workers: number;
  backups: number;
  deliveries: number;
};

const fullScale: Scale = {
  servers: 1_000,
  sites: 5_000,
  configurations: 10_000,
  workers: 20_000,
  backups: 1_000_000,
  deliveries: 5_000_000,
};

/** Returns a share of the full scale, e.g. a tenth for a trial. */
export function partOf(share: number): Scale {
  const part = (count: number) => Math.max(1, Math.round(count * share));
  return {
    servers: part(fullScale.servers),
    sites: part(fullScale.sites),
    configurations: part(fullScale.configurations),
    workers: part(fullScale.workers),
    backups: part(fullScale.backups),
    deliveries: part(fullScale.deliveries),
  };
}

const range = (count: number) => Array.from({ length: count }, (_, place) => place + 1);

/** All servers are this machine: a thousand SSH connections would take all of its memory. */
export function scaleInventory({ servers, sites, configurations }: Scale, folder: string): string {
  return [
    "servers:",
    ...range(servers).map((id) => `  - { id: ${id}, name: web-${id}, connection: local }`),
    "sites:",
    ...range(sites).map(
      (id) =>
        `  - { id: ${id}, server: ${1 + (id % servers)}, name: shop-${id}.example.com, root: ${folder}/gone, user: ${ownUser} }`,
    ),
    "databases:",
    // Every second configuration backs up a database.
    ...range(Math.ceil(configurations / 2)).map(
      (id) =>
        `  - { id: ${id}, server: ${1 + (id % servers)}, name: orders-${id}, engine: postgres, url: "file:${folder}/none" }`,
    ),
    "storage_providers:",
    `  - { id: 1, name: copies, type: local, path: ${folder}/copies }`,
    "",
  ].join("\n");
}

/** Start of the newest run of a configuration: between 23 hours and one hour ago. */
const newestRun = (configuration: string) =>
  `(now() - interval '23 hours' + ${configuration} % 1320 * interval '1 minute')`;

const statements = ({ servers, sites, configurations, workers, backups, deliveries }: Scale) => [
  // Disables triggers and foreign keys, because the data is consistent by construction.
  "set session_replication_role = replica",
  // Workers are stopped or failed, because each running one would be a real process on this machine.
  `insert into workers (site_id, connection, queue, max_jobs, max_time, force, memory, sleep, timeout, tries, processes,
     startsecs, stopwaitsecs, startretries, stopsignal, status, created_at)
   select site, 'database', 'queue-' || n % 7, 0, 0, false, 128, 3, 60, 1, 1, 1, 65, 3, 'TERM',
     case when n % 100 = 0 then 'failed' else 'stopped' end, now() - n * interval '1 minute'
   from generate_series(1, ${workers}) n, lateral (select 1 + n % ${sites} as site) its`,
  `update sites set worker_count = (select count(*) from workers where site_id = sites.id)`,
  // Daily, at one of the minutes of 22 hours, so that none is due within the next hour.
  `insert into backup_configurations (server_id, name, frequency, hold, directory, storage_provider_id, type, database_id, site_id,
     status, next_run_at, last_proven_at, drill, created_at)
   select 1 + target % ${servers}, 'nightly ' || n, extract(minute from began) || ' ' || extract(hour from began) || ' * * *', 100,
     'copies/' || n, 1,
     case when n % 2 = 0 then 'database' else 'site' end,
     case when n % 2 = 0 then target end, case when n % 2 = 1 then target end,
     'installed', began + interval '1 day', now(), case when n % 3 = 0 then 30 end, now() - interval '1 year'
   from generate_series(1, ${configurations}) n,
     lateral (select case when n % 2 = 0 then 1 + (n / 2) % ${Math.ceil(configurations / 2)} else 1 + (n / 2) % ${sites} end as target,
       date_trunc('minute', ${newestRun("n")}) as began) its`,
  `insert into backups (configuration_id, storage_provider_id, trigger, status, status_reason, path, size, plain_size, checksum, output,
     started_at, ended_at, checked_at)
   select configuration, 1, 'schedule', status, case status when 'failed' then 'The disk is full.' end,
     case status when 'finished' then 'copies/' || n else '' end, 1000000 + n,
     5000000 + n, repeat('a', 64), repeat('Stored 1 MB (5 MB before compression) in 60 s; read back and compared. ', 4),
     at, at + interval '1 minute', now()
   from generate_series(1, ${backups}) n,
     lateral (select 1 + n % ${configurations} as configuration) its,
     lateral (select ${newestRun("configuration")} - (${backups} - n) / ${configurations} * interval '1 day' as at,
       case when (n / 7) % 53 = 0 then 'failed' else 'finished' end as status) moment`,
  `insert into webhooks (site_id, url, secret, events)
   select 1 + n % ${sites}, 'https://hooks.example.com/' || n, 'whsec_' || encode(sha256(n::text::bytea), 'base64'), '{worker.failed}' from generate_series(1, ${sites}) n`,
  // An event for every other delivery, over the ninety days that are kept and ten more.
  `insert into events (type, server_id, site_id, message_id, data, notification, dispatched_at, created_at)
   select 'worker.failed', 1 + n % ${servers}, 1 + n % ${sites}, 'msg_' || n,
     jsonb_build_object('worker_id', n, 'reason', 'Process 1 ended with code 1.'), '{}', at, at
   from generate_series(1, ${deliveries / 2}) n,
     lateral (select now() - (${deliveries / 2} - n)::float8 / ${deliveries / 2} * interval '100 days' as at) moment`,
  `insert into webhook_deliveries (webhook_id, event_id, order_key, status, code, duration_ms, attempts, ended_at, created_at)
   select 1 + n % ${sites}, 1 + (n - 1) / 2, 'worker:' || n % ${workers}, case when (n / 7) % 100 = 0 then 'failed' else 'delivered' end,
     200, 42, 1, at, at
   from generate_series(1, ${deliveries}) n,
     lateral (select now() - (${deliveries} - n)::float8 / ${deliveries} * interval '100 days' as at) moment`,
  `insert into activity (at, kind, action, outcome, actor_type, actor_name, object_type, object_id, object_name, server_id, site_id, detail)
   select now() - (${backups} - n)::float8 / ${backups} * interval '100 days', 'backup', 'finished', 'good', 'service', 'schedule', 'backup', n,
     'nightly ' || n % ${configurations}, 1 + n % ${servers}, 1 + n % ${sites}, 'Stored.'
   from generate_series(1, ${backups}) n`,
  "set session_replication_role = origin",
  "insert into newest_backups (configuration_id) select id from backup_configurations",
  `insert into search_names (kind, id, folded) select 'worker', id, queue || ' on ' || connection from workers
   union all select 'configuration', id, name from backup_configurations union all select 'webhook', id, url from webhooks`,
  "vacuum analyze",
];

/** @param onDone called with how long each statement took */
export async function storeScale(
  url: string,
  scale: Scale,
  onDone: (statement: string, ms: number) => void,
): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    for (const statement of statements(scale)) {
      const startedMs = performance.now();
      await client.query(statement);
      onDone(statement, performance.now() - startedMs);
    }
  } finally {
    await client.end();
  }
}
