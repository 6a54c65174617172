// The service is killed at random times while events are created and dispatched. Every event of an accepted request arrives, and
// one that arrives twice has the same message id.
import { mkdir, realpath, rm, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import type { Page } from "../../contract/paging.ts";
import type { DeliverySummary } from "../../contract/webhooks/delivery.ts";
import type { WebhookWithSecret } from "../../contract/webhooks/webhook.ts";
import { makeMemoryFolder } from "../testing/memory-folder.ts";
import { makeRandom, makeSeed } from "../testing/random.ts";
import { administer, createDatabase, databaseUrl } from "../testing/service.ts";
import { startService, type ServiceProcess } from "../testing/service-process.ts";
import { isSignedBy, startReceiver, status, type TestReceiver } from "./testing/receiver.ts";
import { ownUser } from "../testing/own-user.ts";
import { soon } from "../testing/soon.ts";

/** `npm run soak -- kills` sets more. */
const kills = Number(process.env["WEBHOOK_KILLS"] ?? 1);
const eventCount = kills * 33;
const seed = makeSeed();
const random = makeRandom(seed);

let folder: string;
let database: string;
let service: ServiceProcess;
let receiver: TestReceiver;

const start = async () => {
  service = await startService(folder, {
    DATABASE_URL: databaseUrl(database),
    QUARTERDECK_ALLOW: "127.0.0.0/8",
  });
};

beforeAll(async () => {
  database = await createDatabase();
  folder = await realpath(await makeMemoryFolder("quarterdeck-crash-"));
  await mkdir(join(folder, "shop"));
  await writeFile(
    join(folder, "inventory.yaml"),
    `
servers:
  - { id: 1, name: here, connection: local }
sites:
  - { id: 1, server: 1, name: shop, root: ${folder}/shop, user: ${ownUser} }
`,
  );
  receiver = await startReceiver();
  await start();
});
afterAll(async () => {
  await service.end("SIGINT");
  await receiver.close();
  await administer(`drop database ${database} with (force)`);
  await rm(folder, { recursive: true, force: true });
});

test(
  `delivers every one of ${eventCount} events although the service is killed ${kills} times (seed ${seed})`,
  async () => {
    const made = await service.call("POST", "/api/site/1/webhook", { url: receiver.url });
    const { secret = "" }: WebhookWithSecret = await made.json();
    const answered = new Set<string>();
    let next = 0;
    /** Reports deployments until all are accepted. A request that a kill interrupts is not repeated. */
    const report = async () => {
      while (next < eventCount) {
        const commit = `c${next++}`;
        const answer = await service
          .call("POST", "/api/site/1/deployment", { status: "finished", commit })
          .catch(() => null);
        if (answer?.status === 202) answered.add(commit);
        else if (answer === null) return;
      }
    };
    for (let round = 0; round < kills; round++) {
      const reporting = Promise.all([report(), report(), report()]);
      await wait(20 + random() * 150);
      await service.end("SIGKILL");
      await reporting;
      await start();
    }
    await Promise.all([report(), report()]);

    const arrivedCommits = () =>
      receiver.arrivals.map(({ body }): string => JSON.parse(body).data.commit);
    // Deliveries that were being sent during a kill are sent again once their jobs' claims have expired.
    await soon(() => {
      const arrived = new Set(arrivedCommits());
      expect([...answered].filter((commit) => !arrived.has(commit))).toEqual([]);
    }, 100_000);
    const idsOf = Map.groupBy(receiver.arrivals, ({ body }) => body);
    for (const [, arrivals] of idsOf)
      expect(new Set(arrivals.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    const commitsById = Map.groupBy(receiver.arrivals, ({ headers }) =>
      String(headers["webhook-id"]),
    );
    for (const [, arrivals] of commitsById)
      expect(new Set(arrivals.map(({ body }) => body)).size).toBe(1);
    expect(receiver.arrivals.every((arrival) => isSignedBy(secret, arrival))).toBe(true);
    expect(answered.size).toBeGreaterThan(eventCount - kills * 4);
  },
  180_000 + kills * 10_000,
);

test("a delivery that a killed service sent without recording it is sent once more, under its id, and counted once", async () => {
  const held: ServerResponse[] = [];
  const other = await startReceiver((index, response) =>
    index === 0 ? void held.push(response) : status(200)(index, response),
  );
  onTestFinished(() => other.close());
  const made = await service.call("POST", "/api/site/1/webhook", { url: other.url });
  const { id }: WebhookWithSecret = await made.json();
  await service.call("POST", "/api/site/1/deployment", { status: "finished" });
  await soon(() => expect(held).toHaveLength(1));
  const client = new pg.Client({ ...inject("postgres"), database });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query("begin");
  await client.query("select from webhooks where id = $1 for update", [id]);
  held[0]?.writeHead(200).end();
  // Waits until the transaction that records the attempt waits for the locked row.
  await soon(async () => {
    const { rows } = await client.query(
      "select from pg_stat_activity where datname = $1 and wait_event_type = 'Lock'",
      [database],
    );
    expect(rows).toHaveLength(1);
  });
  await service.end("SIGKILL");
  await client.query("rollback");
  // As pg-boss does when heartbeats are missing.
  await client.query(
    "update pgboss.job set state = 'retry', start_after = now() where singleton_key = $1 and state = 'active'",
    [String(id)],
  );
  await start();
  await soon(async () => {
    const answer = await service.call("GET", `/api/site-webhook/${id}/deliveries`);
    const { data }: Page<DeliverySummary> = await answer.json();
    expect(data).toMatchObject([{ status: "delivered", attempts: 1 }]);
  });
  const ids = other.arrivals.map(({ headers }) => headers["webhook-id"]);
  expect(ids).toEqual([ids[0], ids[0]]);
});
