import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../clock.ts";
import { createTestDatabase, type TestDatabase } from "../testing/database.ts";
import { sql } from "../store/drizzle.ts";
import { createPrune } from "./prune.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const ids = async (table: string): Promise<number[]> => {
  const { rows } = await database.db.execute<{ id: number }>(
    sql`select id from ${sql.raw(table)} order by id`,
  );
  return rows.map(({ id }) => id);
};
const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, place) => first + place);

test("deletes old rows in many statements, and keeps pending ones and what they refer to", async () => {
  // Of 2,600 events the first 2,500 are old; the deliveries of every hundredth one are pending.
  const at = sql.raw(
    `now() - case when n <= 2500 then interval '91 days' else interval '1 day' end`,
  );
  for (const statement of [
    sql`insert into servers (id, name, entry) values (1, 'web', '{}')`,
    sql`insert into sites (id, name, entry, server_id) values (1, 'shop', '{}', 1)`,
    sql`insert into webhooks (site_id, url, secret) values (1, 'https://hooks.example.com', 'whsec_')`,
    sql`insert into notification_channels (id, name, entry) values (1, 'team', '{}')`,
    sql`insert into events (type, server_id, message_id, data, notification, dispatched_at, created_at)
      select 'worker.failed', 1, 'msg_' || n, '{}', '{}', now(), ${at} from generate_series(1, 2600) n`,
    sql`insert into webhook_deliveries (webhook_id, event_id, created_at, next_attempt_at)
      select 1, n, ${at}, case when n % 100 = 0 then now() end from generate_series(1, 2600) n`,
    // A delivery that was sent again yesterday.
    sql`insert into webhook_deliveries (webhook_id, event_id, created_at) values (1, 7, now() - interval '1 day')`,
    sql`insert into channel_messages (channel_id, event, title, created_at, next_attempt_at)
      select 1, 'worker.failed', 'failed', ${at}, case when n = 8 then now() end from generate_series(1, 2600) n`,
    sql`insert into channel_message_events (message_id, event_id) select n, n from generate_series(1, 2600) n`,
    sql`insert into activity (at, kind, action, actor_type, actor_name, object_type, object_id, object_name)
      select ${at}, 'worker', 'failed', 'service', 'service', 'worker', n, 'queue' from generate_series(1, 2600) n`,
  ])
    await database.db.execute(statement);

  await createPrune({ db: database.db, keepDays: 90, clock: systemClock })();

  const unsent = range(1, 25).map((n) => n * 100);
  const recent = range(2501, 2600);
  expect(await ids("activity")).toEqual(recent);
  expect(await ids("channel_messages")).toEqual([8, ...recent]);
  expect(await ids("webhook_deliveries")).toEqual([...unsent, ...recent, 2601]);
  expect(await ids("events")).toEqual([7, 8, ...unsent, ...recent]);
});
