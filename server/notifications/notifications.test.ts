import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Activity } from "../../contract/activity.ts";
import type { ChannelMessage, Notification } from "../../contract/notifications/notification.ts";
import type { Page } from "../../contract/paging.ts";
import type { Worker } from "../../contract/workers/worker.ts";
import { workerName } from "../../contract/workers/worker-name.ts";
import { createApp } from "../app.ts";
import { endsWhenAsked } from "../testing/artisan.ts";
import { workerBody } from "../testing/worker-body.ts";
import { startHttpPeer } from "./channels/testing/http-peer.ts";
import { awfulReason } from "./channels/testing/messages.ts";
import {
  createNotificationTestService,
  soon,
  type NotificationTestService,
} from "./testing/notification-service.ts";

let service: NotificationTestService;
beforeAll(async () => {
  service = await createNotificationTestService();
});
afterAll(() => service.close());

/** Keeps messages of earlier tests from being coalesced with those of the next one. */
beforeEach(() => service.ahead(3600_000));

describe("the channels of a site", () => {
  test("are replaced as a whole, and shown abbreviated", async () => {
    const { status, body } = await service.choose([3, 1]);
    expect(status).toBe(200);
    expect(body.data).toEqual([
      {
        id: 1,
        name: "ops",
        type: "slack",
        meta: { webhook: expect.stringMatching(/^http:\/\/127.*\/….{2,4}$/) },
      },
      { id: 3, name: "on-call", type: "email", meta: { email: "o…@example.com" } },
    ]);
    expect((await service.json("GET", "/api/site/1/notifications")).body).toEqual(body);
    expect((await service.choose([2])).body.data.map(({ id }) => id)).toEqual([2]);
    expect((await service.choose([])).body.data).toEqual([]);
  });

  test.each([
    [[1, 99], { "channels.1": ["The selected channels.1 is invalid."] }],
    [[0], { "channels.0": ["The channels.0 field must be at least 1."] }],
    [["1"], { "channels.0": ["The channels.0 field must be an integer."] }],
    [undefined, { channels: ["The channels field is required."] }],
  ])("refuses %j at its place and changes nothing", async (channels, errors) => {
    await service.choose([2]);
    const { status, body } = await service.choose(channels);
    expect({ status, errors: body.errors }).toEqual({ status: 422, errors });
    const kept = await service.json<Page<Notification>>("GET", "/api/site/1/notifications");
    expect(kept.body.data.map(({ id }) => id)).toEqual([2]);
  });

  test("an id that is listed twice counts once", async () => {
    expect((await service.choose([1, 1])).body.data.map(({ id }) => id)).toEqual([1]);
  });
});

describe("a message", () => {
  test("has the outcome first, then what and where, the time in UTC and in the server's zone, and a link", async () => {
    await service.choose([1, 2, 3]);
    await service.deploy({ commit: "4f1c2d3", author: "ada" });
    for (const id of [1, 2, 3]) await service.newest(id, "delivered");
    for (const arrived of [
      service.slack.accepted.at(-1),
      service.discord.accepted.at(-1),
      service.mail.mails.at(-1),
    ]) {
      // JSON escapes the backslashes that escape Discord's markup.
      const text = JSON.stringify(arrived).replaceAll("\\\\", "");
      for (const part of ["Deployed: shop", "web-1", "4f1c2d3", "ada", "Asia/Kathmandu", "UTC"])
        expect(text).toContain(part);
      expect(text).toContain("https://ops.example.com/sites/1/workers");
    }
  });

  test("of 50 KB of markup and emoji arrives everywhere, truncated to the limits of each provider", async () => {
    await service.choose([1, 2, 3]);
    await service.deploy({ status: "failed", message: awfulReason.slice(0, 5000) });
    for (const id of [1, 2, 3]) await service.newest(id, "delivered", "site.deployment_failed");
    expect(JSON.stringify(service.slack.accepted.at(-1))).toContain("Deployment failed: shop");
  });

  test("about a database is sent once to a channel that several of its sites use", async () => {
    await service.choose([1], 1);
    await service.choose([1], 2);
    const before = service.slack.accepted.length;
    const made = await service.json<{ id: number }>("POST", "/api/server/1/backup-configuration", {
      name: "Orders",
      // No run is due at any time that the tests reach.
      frequency: "0 0 29 2 *",
      storage_provider_id: 1,
      backupable_type: "database",
      backupable_id: 1,
    });
    await soon(async () =>
      expect(
        (await service.json("GET", `/api/backup-configuration/${made.body.id}`)).body,
      ).toMatchObject({ status: "failed" }),
    );
    await service.call("POST", `/api/backup/${made.body.id}`);
    const message = await service.newest(1, "delivered", "backup.failed");
    expect(message).toMatchObject({
      title: "Backup failed: Orders",
      count: 1,
    });
    expect(service.slack.accepted).toHaveLength(before + 1);
    expect(JSON.stringify(service.slack.accepted.at(-1))).toMatch(
      /missing\.sqlite.*Next run|Next run.*missing\.sqlite/,
    );
    await service.choose([], 2);
  });

  test("about a failed worker is sent once, and so is its recovery", async () => {
    await service.choose([1]);
    const { body: worker } = await service.json<Worker>("POST", "/api/site/1/worker", {
      ...workerBody,
      queue: "emails",
      startretries: 0,
      startsecs: 1,
      directory: undefined,
    });
    await soon(async () =>
      expect((await service.json<Worker>("GET", `/api/worker/${worker.id}`)).body.status).toBe(
        "installed",
      ),
    );
    await writeFile(`${service.folder}/shop/artisan`, "echo no such queue; exit 3\n");
    await service.call("PUT", `/api/worker/${worker.id}/restart`);
    const failed = await service.newest(1, "delivered", "worker.failed");
    expect(failed.title).toBe(`Worker failed: ${workerName(worker)} (shop)`);
    expect(JSON.stringify(service.slack.accepted.at(-1))).toContain("no such queue");

    await writeFile(`${service.folder}/shop/artisan`, endsWhenAsked());
    await service.call("POST", `/api/worker/${worker.id}/start`);
    const recovered = await service.newest(1, "delivered", "worker.recovered");
    expect(recovered.title).toBe(`Worker recovered: ${workerName(worker)} (shop)`);
  });
});

test("about a disabled webhook is sent to its site's channels", async () => {
  await service.choose([1]);
  const receiver = await startHttpPeer(() => ({ answer: { status: 410 }, accepted: null }));
  await service.call("POST", "/api/site/1/webhook", { url: `${receiver.origin}/hook` });
  await service.deploy();
  const message = await service.newest(1, "delivered", "webhook.disabled");
  expect(message.title).toMatch(/^Webhook disabled: 127\.0\.0\.1:\d+ \(shop\)$/);
  expect(JSON.stringify(service.slack.accepted.at(-1))).toContain("410 Gone");
  await receiver.close();
});

test("a channel or a site in use cannot be removed from the inventory", async () => {
  await service.choose([2]);
  const inventory = await readFile(service.inventoryFile, "utf8");
  const refused = async (entry: RegExp, words: RegExp) => {
    await writeFile(service.inventoryFile, inventory.replace(entry, ""));
    await soon(() => expect(service.app.inventoryProblem()).toMatch(words));
    await writeFile(service.inventoryFile, inventory);
    await soon(() => expect(service.app.inventoryProblem()).toBeNull());
  };
  await refused(
    /.*name: chat.*\n/,
    /Notification channel 2 \(chat\) cannot be removed while.*: 1\./,
  );
  await refused(
    /.*name: shop,.*\n/,
    /Site 1 \(shop\) cannot be removed while it has webhooks: \d+/,
  );
});

describe("a burst", () => {
  test("is sent as one message at once and one with the rest after its minute", async () => {
    await service.choose([1]);
    const before = service.slack.accepted.length;
    await service.deploy();
    // Events before the first attempt of a message begins are coalesced with that message.
    await soon(() => expect(service.slack.accepted).toHaveLength(before + 1));
    for (let number = 0; number < 29; number++) await service.deploy();
    await soon(async () =>
      expect((await service.channel(1)).last_message).toMatchObject({ count: 29 }),
    );
    expect(service.slack.accepted).toHaveLength(before + 1);
    await service.ahead(61_000);
    const coalesced = await service.newest(1, "delivered");
    expect(coalesced).toMatchObject({ title: "29 × Deployed", count: 29 });
    expect(service.slack.accepted).toHaveLength(before + 2);
    expect(JSON.stringify(service.slack.accepted.at(-1))).toContain("29 times, last at 2");
  });
});

test("messages before the clock was set back delay no message, and no message waits longer than allowed", async () => {
  await service.choose([2]);
  const dayMs = 24 * 3600 * 1000;
  await service.ahead(400 * dayMs);
  await service.deploy();
  await service.newest(2, "delivered");
  service.discord.answerNext({ status: 500, body: {} });
  await service.call("POST", "/api/notification-channel/2/test");
  await service.newest(2, "retrying", "channel.test");
  await service.ahead(-400 * dayMs);
  await service.deploy();
  const waiting = await service.newest(2, "pending");
  expect(Date.parse(waiting.next_attempt_at ?? "")).toBeLessThanOrEqual(
    service.options.clock.now() + 60_000,
  );
  await service.ahead(61_000);
  await service.newest(2, "delivered");
  const unsent = () =>
    service.query(
      "select id from channel_messages where channel_id = 2 and next_attempt_at is not null",
    );
  expect(await unsent()).toHaveLength(1);
  // A start of the service ends waits that are too long, as the hourly job does.
  const next = await createApp(service.options);
  onTestFinished(() => next.close("keep"));
  await soon(async () => expect(await unsent()).toEqual([]));
});

describe("a failing provider", () => {
  test("is retried, and its response is shown", async () => {
    await service.choose([1]);
    service.slack.answerNext({ status: 500, body: "oops" });
    await service.deploy();
    const retrying = await service.newest(1, "retrying");
    expect(retrying.answer).toMatch(/500/);
    expect(retrying.next_attempt_at).not.toBeNull();
    await service.ahead(15_000);
    expect(await service.newest(1, "delivered")).toMatchObject({ attempts: 2 });
  });

  test("is not retried after a permanent error; the reported outcome stays unchanged", async () => {
    await service.choose([2]);
    service.discord.answerNext({
      status: 400,
      body: { code: 50_035, message: "Invalid Form Body" },
    });
    const response = await service.deploy();
    expect(response.status).toBe(202);
    const failed = await service.newest(2, "failed");
    expect(failed.answer).toMatch(/Invalid Form Body/);
    expect(failed).toMatchObject({ attempts: 1, next_attempt_at: null });
    const { body } = await service.json<Activity>("GET", "/api/activity?site=1&kind=deployment");
    expect(body.data[0]).toMatchObject({ action: "deployed", outcome: "good" });
  });

  test("is paused for as long as it requests", async () => {
    await service.choose([1]);
    service.slack.answerNext({ status: 429, headers: { "Retry-After": "300" } });
    await service.deploy();
    const { next_attempt_at: at } = await service.newest(1, "retrying");
    expect(Date.parse(at ?? "") - service.options.clock.now()).toBeGreaterThan(250_000);
    const before = service.slack.requests.length;
    await service.choose([1], 2);
    await service.deploy({}, 2);
    // The waiting message shows the response that it waits for.
    expect(await service.newest(1, "pending")).toMatchObject({
      attempts: 0,
      answer: expect.stringMatching(/^Slack returned 429/),
    });
    // A test message is sent during the wait. Without the wait, the older message would have been sent first.
    await service.call("POST", "/api/notification-channel/1/test");
    await service.newest(1, "delivered", "channel.test");
    expect(service.slack.requests).toHaveLength(before + 1);
    await service.ahead(301_000);
    await soon(() => expect(service.slack.requests).toHaveLength(before + 3));
    expect(await service.newest(1, "delivered", "channel.test")).toMatchObject({
      answer: "200 ok",
    });
    await service.choose([], 2);
  });
});

describe("a test message", () => {
  test("shows the provider's response beside the channel", async () => {
    const asked = await service.json<ChannelMessage>("POST", "/api/notification-channel/3/test");
    expect(asked).toMatchObject({
      status: 202,
      body: { event: "channel.test", status: "pending" },
    });
    expect((await service.newest(3, "delivered", "channel.test")).answer).toMatch(/^250 /);
    service.mail.refuseNext({ at: "recipient", code: 550, words: "No such user here" });
    await service.call("POST", "/api/notification-channel/3/test");
    expect((await service.newest(3, "failed", "channel.test")).answer).toMatch(/No such user here/);
  });

  test("of a channel without its secret says what to configure", async () => {
    const shown = await service.channel(4);
    expect(shown.trouble).toMatch(/NOT_SET is not set/);
    expect(shown.meta).toEqual({ webhook: "…" });
    await service.call("POST", "/api/notification-channel/4/test");
    expect((await service.newest(4, "retrying", "channel.test")).answer).toMatch(
      /NOT_SET is not set/,
    );
  });

  test("of an unknown channel is 404", async () => {
    expect((await service.call("POST", "/api/notification-channel/99/test")).status).toBe(404);
  });
});

test("no response contains the whole address of a channel", async () => {
  const answers = await Promise.all(
    ["/api/notification-channels", "/api/site/1/notifications", "/api/activity"].map(async (path) =>
      (await service.call("GET", path)).text(),
    ),
  );
  for (const text of answers)
    for (const secret of [service.slack.webhook, service.discord.webhook, "on-call@example.com"])
      expect(text).not.toContain(secret);
});
