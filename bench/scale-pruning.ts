// Measures the removal of old rows while others are read and written: nothing must wait for its locks.
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { systemClock } from "../server/clock.ts";
import { createPrune } from "../server/events/prune.ts";
import { openDatabase } from "../server/store/database.ts";
import { note, report } from "./report.ts";
import type { ScaleService } from "./scale-instances.ts";

/** Writes the rows of one event after another. */
const writing = `with event as (
    insert into events (type, server_id, site_id, message_id, data, notification, dispatched_at)
    values ('worker.failed', 1, 1, 'msg_bench', '{}', '{}', now()) returning id
  ), entry as (
    insert into activity (kind, action, actor_type, actor_name, object_type, object_id, object_name)
    values ('worker', 'failed', 'service', 'service', 'worker', 1, 'worker 1')
  )
  update webhook_deliveries set attempts = attempts + 1
  where id = (select id from webhook_deliveries where webhook_id = 1 order by id desc limit 1)`;

export async function measurePruning({ databaseUrl, query }: ScaleService): Promise<void> {
  const count = async () => {
    const [row] = await query<{ many: number }>(
      `select (select count(*) from activity)::int + (select count(*) from events)::int
         + (select count(*) from webhook_deliveries)::int as many`,
    );
    return row?.many ?? Number.NaN;
  };
  const before = await count();
  const { db, close } = await openDatabase({ connectionString: databaseUrl }, () => undefined);
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const over = new AbortController();
  const watch = async () => {
    const found = { lockMs: 0, exclusive: 0, writeMs: 0, writes: 0 };
    while (!over.signal.aborted) {
      const startedMs = performance.now();
      await client.query(writing);
      found.writeMs = Math.max(found.writeMs, performance.now() - startedMs);
      found.writes += 1;
      const { rows } = await client.query<{ ms: number; exclusive: number }>(
        `select coalesce(max(extract(epoch from clock_timestamp() - waitstart)) filter (where not granted), 0)::float8 * 1000 as ms,
           count(*) filter (where locktype = 'relation' and mode in
             ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'))::int as exclusive
         from pg_locks join pg_class on pg_class.oid = relation
         where relname in ('activity', 'events', 'webhook_deliveries', 'backups')`,
      );
      found.lockMs = Math.max(found.lockMs, rows[0]?.ms ?? 0);
      found.exclusive += rows[0]?.exclusive ?? 0;
      await wait(20);
    }
    return found;
  };
  try {
    const watching = watch();
    const startedMs = performance.now();
    await createPrune({ db, keepDays: 90, clock: systemClock })();
    const seconds = (performance.now() - startedMs) / 1000;
    over.abort();
    const { lockMs, exclusive, writeMs, writes } = await watching;
    const removed = before - (await count());
    report("retention: longest wait for a lock of its tables", lockMs, "ms", { atMost: 100 });
    report("… locks of a whole table that were seen", exclusive, "", { atMost: 0 });
    report("… slowest write meanwhile", writeMs, "ms", { atMost: 1000 });
    note(
      `${removed.toLocaleString("en")} rows removed in ${seconds.toFixed(0)} s, ${writes} writes meanwhile`,
    );
  } finally {
    over.abort();
    await client.end();
    await close();
  }
}
