// Attempts of several webhooks that are recorded in one transaction: one that cannot be recorded does not affect the others.
import type { ServerResponse } from "node:http";
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { status } from "./testing/receiver.ts";
import {
  createWebhookTestService,
  soon,
  type WebhookTestService,
} from "./testing/webhook-service.ts";

let service: WebhookTestService;
beforeAll(async () => {
  service = await createWebhookTestService();
});
afterAll(() => service.close());

/** Creates a webhook whose receiver holds the first two requests until the test releases them, and responds to others at once. */
async function receiveHeld() {
  const held: ServerResponse[] = [];
  const { receiver, webhook } = await service.receive((index, response) =>
    index < 2 ? void held.push(response) : status(200)(index, response),
  );
  return {
    receiver,
    webhook,
    isHeld: (count: number) => soon(() => expect(held).toHaveLength(count)),
    release: (index: number) => held[index]?.writeHead(200).end(),
    ids: () => receiver.arrivals.map(({ headers }) => headers["webhook-id"]),
  };
}
type Held = Awaited<ReturnType<typeof receiveHeld>>;

/**
 * Creates three deliveries for each of three webhooks, and has the second ones of two webhooks recorded together.
 * @param before called before the responses to the second ones
 * @param meanwhile called when the third ones were sent, and none of the second ones is recorded
 */
async function recordTogether({
  before,
  meanwhile,
}: Partial<Record<"before" | "meanwhile", (first: Held) => Promise<unknown>>>) {
  const [blocking, first, second] = [
    await receiveHeld(),
    await receiveHeld(),
    await receiveHeld(),
  ] as const;
  const all = [blocking, first, second];
  await service.deploy();
  for (const one of all) await one.isHeld(1);
  await service.deploy();
  await service.deploy();
  await service.dispatched();
  for (const one of all) one.release(0);
  for (const one of all) await one.isHeld(2);
  await before?.(first);
  // The recording of an attempt waits for this row lock, while other attempts are made.
  const client = new pg.Client(service.connection);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query("begin");
  await client.query("select from webhooks where id = $1 for update", [blocking.webhook.id]);
  blocking.release(1);
  await soon(async () =>
    expect(
      await service.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      ),
    ).toHaveLength(1),
  );
  for (const one of [first, second]) {
    one.release(1);
    // The next delivery is sent while the outcome of the previous one waits to be recorded.
    await soon(() => expect(one.receiver.arrivals).toHaveLength(3));
  }
  await meanwhile?.(first);
  await client.query("commit");
  return { first, second };
}

/** Returns status and number of attempts of each delivery, newest first. */
const attemptsOf = async ({ webhook }: Held) =>
  (await service.deliveries(webhook.id)).map(({ status: state, attempts }) => [state, attempts]);
const allDelivered = Array.from({ length: 3 }, () => ["delivered", 1]);

test("an attempt whose claim was lost is not recorded, and the others are", async () => {
  const { first, second } = await recordTogether({
    // As pg-boss does when heartbeats are missing.
    meanwhile: (lost) =>
      service.query(
        `update pgboss.job set state = 'retry', start_after = pgboss.job_now() + interval '1 day'
         where name = 'webhook.deliveries' and singleton_key = $1 and state = 'active'`,
        [String(lost.webhook.id)],
      ),
  });
  await soon(async () => expect(await attemptsOf(second)).toEqual(allDelivered));
  expect(await attemptsOf(first)).toEqual([
    ["pending", 0],
    ["pending", 0],
    ["delivered", 1],
  ]);
  await service.query(
    "update pgboss.job set start_after = pgboss.job_now() where singleton_key = $1 and state = 'retry'",
    [String(first.webhook.id)],
  );
  await soon(async () => expect(await attemptsOf(first)).toEqual(allDelivered));
  const [, older, newer] = first.ids();
  expect(first.ids().slice(1)).toEqual([older, newer, older, newer]);
  expect(second.receiver.arrivals).toHaveLength(3);
});

test("an attempt that cannot be recorded is repeated, and the others are not", async () => {
  const { first, second } = await recordTogether({
    before: async (bad) => {
      await service.query(`create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'This attempt cannot be stored.'; end $$`);
      await service.query(`create trigger refuse before insert on webhook_attempts
      for each row when (new.url = '${bad.receiver.url}') execute function refuse()`);
    },
  });
  await soon(async () => expect(await attemptsOf(second)).toEqual(allDelivered));
  // Its job failed, and is retried.
  await soon(() => expect(first.receiver.arrivals.length).toBeGreaterThan(3));
  await service.query("drop function refuse cascade");
  await soon(async () => expect(await attemptsOf(first)).toEqual(allDelivered));
  expect(new Set(first.ids()).size).toBe(3);
  expect(second.receiver.arrivals).toHaveLength(3);
});
