// The order of messages: no older event about a subject follows a newer one, and the first is sent at once.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { makeRandom, makeSeed } from "../testing/random.ts";
import { createApp } from "../app.ts";
import { createTestService, type TestService } from "../testing/service.ts";
import { ownUser } from "../testing/own-user.ts";
import { startFakeSlack, type SlackMessage } from "./channels/testing/fake-slack.ts";
import { soon } from "../testing/soon.ts";

const siteCount = 20;
const siteNames = Array.from({ length: siteCount }, (_, index) => `site-${index + 1}`);
let service: TestService;
let slack: Awaited<ReturnType<typeof startFakeSlack>>;

beforeAll(async () => {
  slack = await startFakeSlack();
  service = await createTestService({
    secrets: { SLACK: slack.webhook },
    inventory: (folder) => `
servers: [{ id: 1, name: web-1, connection: local }]
sites:
${siteNames.map((name, index) => `  - { id: ${index + 1}, server: 1, name: ${name}, root: ${folder}/shop, user: ${ownUser} }`).join("\n")}
notification_channels:
  - { id: 1, name: ops, type: slack, webhook: env:SLACK }
`,
  });
  for (const index of siteNames.keys())
    await service.call("PUT", `/api/site/${index + 1}/notifications`, { channels: [1] });
});
afterAll(async () => {
  await service.close();
  await slack.close();
});
/** Sends all messages of earlier tests, and keeps them from being coalesced with those of the next one. */
beforeEach(async () => {
  await service.ahead(3600_000);
  await allSent();
  await service.ahead(3600_000);
  slack.accepted.splice(0);
});

const report = async (status: "failed" | "finished", site = 1) =>
  expect((await service.call("POST", `/api/site/${site}/deployment`, { status })).status).toBe(202);
/** Returns the headings of the messages that Slack accepted, in order. */
const headings = () =>
  // The fake has parsed the messages that it accepted.
  (slack.accepted as SlackMessage[]).map(({ text = "" }) => text.slice(2).trim());
const received = (...wanted: string[]) => soon(() => expect(headings()).toEqual(wanted));

type Message = { status: string; attempts: number; count: number; event: string };
const messages = () =>
  service.query<Message>(
    "select status, attempts, count, event from channel_messages where next_attempt_at is not null order by id",
  );

const allSent = () => soon(async () => expect(await messages()).toEqual([]));
const newestMessage = async () =>
  (
    await service.query<{ id: number }>("select coalesce(max(id), 0) as id from channel_messages")
  )[0]?.id;

test("a recovery waits for its failure when the provider answers 503", async () => {
  slack.answerNext({ status: 503 });
  await report("failed");
  await soon(async () => expect(await messages()).toMatchObject([{ status: "retrying" }]));
  await report("finished");
  // Once the event of another site was sent, the recovery would have been sent too if it did not wait.
  await report("finished", 2);
  await received("Deployed: site-2");
  // The outcome is stored shortly after Slack accepts the message.
  await soon(async () =>
    expect(await messages()).toMatchObject([
      { event: "site.deployment_failed", status: "retrying" },
      { event: "site.deployed", attempts: 0 },
    ]),
  );
  await service.ahead(15_000);
  await received("Deployed: site-2", "Deployment failed: site-1", "Deployed: site-1");
});

test("an event that waits for the end of its minute is combined with later ones, and shows the current state", async () => {
  await report("failed");
  await received("Deployment failed: site-1");
  for (const status of ["failed", "finished", "failed", "finished"] as const) await report(status);
  await soon(async () =>
    expect(await messages()).toMatchObject([{ count: 4, event: "site.deployed", attempts: 0 }]),
  );
  expect(headings()).toEqual(["Deployment failed: site-1"]);
  await service.ahead(61_000);
  await received("Deployment failed: site-1", "Deployed: site-1");
  const last = JSON.stringify(slack.accepted.at(-1));
  expect(last.lastIndexOf("Deployed: ")).toBeGreaterThan(last.lastIndexOf("Deployment failed: "));
  expect(last).toContain("✅");
});

test("sends the first failure of each site at once, whatever waits for others", async () => {
  await report("failed", 1);
  await received("Deployment failed: site-1");
  // The second message of site 1 waits for the end of its minute.
  await report("failed", 1);
  await soon(async () => expect(await messages()).toMatchObject([{ count: 1 }]));
  await report("failed", 2);
  await received("Deployment failed: site-1", "Deployment failed: site-2");
  slack.answerNext({ status: 503 });
  await report("failed", 3);
  // Until its first attempt begins, further events are coalesced with it.
  await soon(async () =>
    expect((await messages()).map(({ status }) => status)).toContain("retrying"),
  );
  await report("failed", 4);
  await soon(() => expect(headings()).toContain("Deployment failed: site-4"));
});

test(`sends all failures of ${siteCount} sites at once`, async () => {
  const before = await newestMessage();
  await Promise.all(siteNames.map((_, index) => report("failed", index + 1)));
  // The clock does not advance.
  await soon(async () => {
    const [sent] = await service.query<{ events: number }>(
      "select sum(count)::int as events from channel_messages where id > $1 and status = 'delivered'",
      [before],
    );
    expect(sent?.events).toBe(siteCount);
  });
});

test("combines failures and recoveries of sites during an outage of the provider", async () => {
  slack.answerNext({ status: 429, headers: { "retry-after": "60" } });
  await report("failed", 1);
  await soon(async () => expect(await messages()).toMatchObject([{ status: "retrying" }]));
  const others = siteNames.map((_, index) => index + 1).slice(1);
  for (const site of others) await report("failed", site);
  for (const site of [1, ...others]) await report("finished", site);
  for (const site of others) await report("failed", site);
  const count = others.length;
  await soon(async () =>
    expect(await messages()).toEqual([
      { event: "site.deployment_failed", status: "retrying", attempts: 1, count: 1 },
      { event: "site.deployment_failed", status: "pending", attempts: 0, count },
      { event: "site.deployed", status: "pending", attempts: 0, count: 1 },
      { event: "site.deployed", status: "pending", attempts: 0, count },
      { event: "site.deployment_failed", status: "pending", attempts: 0, count },
    ]),
  );
  expect(headings()).toEqual([]);
  await service.ahead(125_000);
  await allSent();
  const told = headings();
  const together = [`${count} × Deployment failed`, `${count} × Deployed`];
  expect(new Set(told)).toEqual(
    new Set(["Deployment failed: site-1", "Deployed: site-1", ...together]),
  );
  expect(told.indexOf("Deployment failed: site-1")).toBeLessThan(told.indexOf("Deployed: site-1"));
  // A job that runs while the clock is set ahead counts as dead, so its last message may be sent twice.
  const once = told
    .filter((heading) => heading.startsWith(`${count} `))
    .filter((heading, index, all) => heading !== all[index - 1]);
  expect(once).toEqual([...together, together[0]]);
});

const seed = makeSeed();
test(`keeps the order of failures and recoveries during random outages of the provider (seed ${seed})`, async () => {
  const random = makeRandom(seed);
  const [before] = await service.query<{ id: number }>(
    "select coalesce(max(id), 0) as id from events",
  );
  for (let step = 0; step < 40; step++) {
    if (random() < 0.2) slack.answerNext({ status: 503 });
    await report(random() < 0.5 ? "failed" : "finished", 1 + Math.floor(random() * 4));
    if (random() < 0.3) await service.ahead(random() * 40_000);
  }
  await soon(async () => {
    await service.ahead(30_000);
    expect(await messages()).toEqual([]);
  });
  const rows = await service.query<{ key: string; event: number; message: number; at: string }>(
    `select e.order_key as key, e.id as event, m.id as message, m.ended_at as at
     from events e join channel_message_events t on t.event_id = e.id join channel_messages m on m.id = t.message_id
     where e.id > $1 and m.ended_at is not null order by m.ended_at, m.id, e.id`,
    [before?.id ?? 0],
  );
  expect(rows).toHaveLength(40);
  for (const [, those] of Map.groupBy(rows, ({ key }) => key)) {
    const sent = those.map(({ event }) => event);
    expect(sent).toEqual(sent.toSorted((one, other) => one - other));
  }
}, 120_000);

test("stops of the service while a provider is silent use up none of a message's attempts", async () => {
  const stops = 8;
  for (let stop = 0; stop < stops; stop++) slack.answerNext("hang");
  slack.answerNext({ status: 500, body: "oops" });
  const before = slack.requests.length;
  await report("failed");
  for (let stop = 1; stop <= stops; stop++) {
    await soon(() => expect(slack.requests).toHaveLength(before + stop));
    await service.app.close("keep");
    service.app = await createApp(service.options);
  }
  await soon(async () => expect(await messages()).toMatchObject([{ status: "retrying" }]));
  await service.ahead(3600_000);
  await received("Deployment failed: site-1");
});
