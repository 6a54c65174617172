// Changes of a webhook by a user: its URL, description and events, and whether it is enabled.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Activity } from "../../contract/activity.ts";
import type { FieldErrors } from "../../contract/errors.ts";
import type { Webhook } from "../../contract/webhooks/webhook.ts";
import { type Answer, startReceiver, status } from "./testing/receiver.ts";
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

const change = <Body = Webhook>(id: number, body: object) =>
  service.json<Body>("PUT", `/api/site-webhook/${id}`, body);

const typesAt = ({ arrivals }: { arrivals: { body: string }[] }) =>
  arrivals.map(({ body }): string => JSON.parse(body).type);

const newestEntry = async () =>
  (await service.json<Activity>("GET", "/api/activity?kind=webhook")).body.data[0];

describe("a change", () => {
  test("keeps absent fields, and records on the timeline what changed and who did it", async () => {
    const { webhook, receiver } = await service.receive();
    const { status: code, body } = await change(webhook.id, {
      description: "  Billing  ",
      events: ["worker.failed", "backup.failed", "backup.failed"],
    });
    expect(code).toBe(200);
    expect(body).toMatchObject({
      id: webhook.id,
      url: receiver.url,
      created_at: webhook.created_at,
      description: "Billing",
      events: ["backup.failed", "worker.failed"],
      status: "enabled",
    });
    expect(body).not.toHaveProperty("secret");
    expect(await newestEntry()).toMatchObject({
      action: "changed",
      detail: "Description: Billing\nEvents: backup.failed, worker.failed",
      actor: { type: "token", name: "QUARTERDECK_TOKEN" },
    });
    expect((await change(webhook.id, { events: null })).body).toMatchObject({
      description: "Billing",
      events: null,
    });
    const before = (await newestEntry())?.id;
    expect((await change(webhook.id, { description: "Billing" })).status).toBe(200);
    expect((await newestEntry())?.id).toBe(before);
  });

  test("is refused as a whole, with the errors of all fields in one response", async () => {
    const { webhook } = await service.receive();
    const { status: code, body } = await change<{ errors: FieldErrors }>(webhook.id, {
      url: "http://10.0.0.1/hook",
      description: "x".repeat(201),
      events: ["backup.failed", "gossip"],
      enabled: "no",
    });
    expect(code).toBe(422);
    expect(Object.keys(body.errors).toSorted()).toEqual([
      "description",
      "enabled",
      "events.1",
      "url",
    ]);
    expect(body.errors["url"]?.[0]).toMatch(/private address/);
    expect(await service.show(webhook.id)).toMatchObject({ description: "", events: null });
    const create = await service.json<{ errors: FieldErrors }>("POST", "/api/site/1/webhook", {
      url: "http://169.254.169.254/",
      events: [],
    });
    expect(Object.keys(create.body.errors).toSorted()).toEqual(["events", "url"]);
  });

  test.each([
    [{ url: "ftp://example.com" }, "url"],
    [{ url: null }, "url"],
    [{ description: null }, "description"],
    [{ description: "two\nlines" }, "description"],
    [{ events: ["webhook.ping"] }, "events.0"],
    [{ events: "all" }, "events"],
    [{ enabled: 1 }, "enabled"],
  ])("%j is refused at its field", async (body, field) => {
    const { webhook } = await service.receive();
    const answer = await change<{ errors: FieldErrors }>(webhook.id, body);
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.errors)).toEqual([field]);
  });

  test("of an unknown webhook is 404, and 403 for a read-only token", async () => {
    expect((await change(99_999, { enabled: false })).status).toBe(404);
    const { webhook } = await service.receive();
    const made = await service.json<{ token: string }>("POST", "/api/tokens", {
      name: "reader",
      abilities: ["read"],
    });
    const path = `/api/site-webhook/${webhook.id}`;
    const refused = await service.call("PUT", path, { enabled: false }, made.body.token);
    expect(refused.status).toBe(403);
    expect((await service.show(webhook.id)).status).toBe("enabled");
  });
});

test("a webhook gets the selected events, and each ping", async () => {
  const { webhook, receiver } = await service.receive();
  const all = await service.receive();
  await change(webhook.id, { events: ["site.deployment_failed"] });
  await service.deploy();
  await service.deploy({ status: "failed" });
  await service.ping(webhook.id);
  await soon(() => expect(all.receiver.arrivals).toHaveLength(2));
  await soon(() => expect(receiver.arrivals).toHaveLength(2));
  expect(typesAt(receiver).toSorted()).toEqual(["site.deployment_failed", "webhook.ping"]);
  expect(await service.deliveries(webhook.id)).toHaveLength(2);
});

describe("a pause", () => {
  test("keeps missed deliveries until a user enables the webhook and requests them", async () => {
    const { webhook, receiver } = await service.receive();
    const resend = () => service.json("POST", `/api/site-webhook/${webhook.id}/redeliver`);
    expect((await change(webhook.id, { enabled: false })).body).toMatchObject({
      status: "paused",
      status_reason: null,
      disabled_since: null,
    });
    expect(await newestEntry()).toMatchObject({ action: "paused", actor: { type: "token" } });
    const since = (await service.show(webhook.id)).paused_since;
    expect(since).not.toBeNull();
    // A second pause changes nothing.
    expect((await change(webhook.id, { enabled: false })).body.paused_since).toBe(since);
    await service.deploy();
    await soon(async () => expect((await service.show(webhook.id)).missed_deliveries).toBe(1));
    const [missed] = await service.deliveries(webhook.id);
    expect(missed).toMatchObject({ status: "failed", attempts: 0 });
    expect(missed?.status_reason).toBe("Not sent: the webhook was paused.");
    expect((await resend()).status).toBe(409);
    // A successful ping does not end a pause; only a user does.
    await service.ping(webhook.id);
    await service.newest(webhook.id, "delivered");
    expect(await service.show(webhook.id)).toMatchObject({ status: "paused", paused_since: since });

    expect((await change(webhook.id, { enabled: true })).body).toMatchObject({ status: "enabled" });
    expect(await newestEntry()).toMatchObject({ action: "resumed" });
    expect(receiver.arrivals).toHaveLength(1);
    expect(await resend()).toEqual({ status: 202, body: { count: 1 } });
    await soon(() => expect(receiver.arrivals).toHaveLength(2));
  });

  test("ends deliveries that wait for their next attempt", async () => {
    const { webhook } = await service.receive(status(500));
    await service.deploy();
    await service.newest(webhook.id, "retrying", 1);
    await change(webhook.id, { enabled: false });
    expect(await service.newest(webhook.id, "failed", 1)).toMatchObject({ next_attempt_at: null });
    expect(await service.show(webhook.id)).toMatchObject({ missed_deliveries: 1 });
  });

  test("is kept when a pending delivery succeeds", async () => {
    let release = () => {};
    const { webhook, receiver } = await service.receive((_index, response) => {
      release = () => void response.writeHead(200).end();
    });
    await service.deploy();
    await soon(() => expect(receiver.arrivals).toHaveLength(1));
    await change(webhook.id, { enabled: false });
    release();
    await service.newest(webhook.id, "delivered", 1);
    expect(await service.show(webhook.id)).toMatchObject({
      status: "paused",
      missed_deliveries: 0,
    });
  });
});

test("a user enables a webhook that the service disabled, and the site's other webhooks are notified", async () => {
  const { webhook } = await service.receive(status(410));
  await service.deploy();
  await service.newest(webhook.id, "failed", 1);
  expect(await service.show(webhook.id)).toMatchObject({ status: "disabled" });
  const other = await service.receive();
  expect((await change(webhook.id, { enabled: true })).body).toMatchObject({
    status: "enabled",
    status_reason: null,
    failing_since: null,
  });
  await soon(() => expect(typesAt(other.receiver)).toEqual(["webhook.enabled"]));
  expect(await newestEntry()).toMatchObject({
    action: expect.stringMatching(/enabled again|delivered/),
  });
});

test("a paused webhook that had been disabled is reported as enabled when the pause ends", async () => {
  const { webhook } = await service.receive(status(410));
  await service.deploy();
  await service.newest(webhook.id, "failed", 1);
  const other = await service.receive();
  await change(webhook.id, { enabled: false });
  expect(await service.show(webhook.id)).toMatchObject({ status: "paused", status_reason: null });
  await change(webhook.id, { enabled: true });
  await soon(() => expect(typesAt(other.receiver)).toEqual(["webhook.enabled"]));
});

describe("a new URL", () => {
  test("gets deliveries that wait for their next attempt at once", async () => {
    const { webhook, receiver } = await service.receive(
      status(500, { "retry-after": String(3600) }),
    );
    const next = await startReceiver();
    await service.deploy();
    await service.newest(webhook.id, "retrying", 1);
    await change(webhook.id, { url: next.url });
    expect(await service.newest(webhook.id, "delivered", 2)).toMatchObject({ attempts: 2 });
    expect(next.arrivals).toHaveLength(1);
    expect(await service.show(webhook.id)).toMatchObject({ failing_since: null });
    const [{ id } = { id: 0 }] = await service.deliveries(webhook.id);
    expect((await service.delivery(id)).attempt_list.map(({ url }) => url)).toEqual([
      next.url,
      receiver.url,
    ]);
    await next.close();
  });

  test("is not judged by the response of the receiver at the old one", async () => {
    let release = () => {};
    const { webhook, receiver } = await service.receive((_index, response) => {
      release = () => void response.writeHead(410).end();
    });
    const next = await startReceiver();
    await service.deploy();
    await soon(() => expect(receiver.arrivals).toHaveLength(1));
    await change(webhook.id, { url: next.url });
    release();
    await service.newest(webhook.id, "delivered", 2);
    expect(await service.show(webhook.id)).toMatchObject({
      status: "enabled",
      failing_since: null,
    });
    expect(next.arrivals).toHaveLength(1);
    await next.close();
  });
});

describe("a pending delivery to the old URL when a new one is set", () => {
  /** Fails `earlier` attempts, and changes the URL while the next attempt waits for its response. */
  async function changeDuring(earlier: number, answer: Answer) {
    let release = () => {};
    const { webhook, receiver } = await service.receive((index, response) => {
      if (index < earlier) void response.writeHead(500).end();
      else release = () => answer(index, response);
    });
    const next = await startReceiver();
    onTestFinished(next.close);
    await service.deploy();
    if (earlier > 0) {
      await service.newest(webhook.id, "retrying", earlier);
      await service.query(
        "update webhook_deliveries set round_attempts = 9, next_attempt_at = now() where webhook_id = $1",
        [webhook.id],
      );
      await service.ahead(10_000);
    }
    await soon(() => expect(receiver.arrivals).toHaveLength(earlier + 1));
    await change(webhook.id, { url: next.url });
    release();
    return { webhook, next };
  }

  test.for([0, 1])("is sent to the new one at once, after %i failures", async (earlier) => {
    const { webhook, next } = await changeDuring(
      earlier,
      status(503, { "retry-after": String(3600) }),
    );
    await service.newest(webhook.id, "delivered", earlier + 2);
    expect(next.arrivals).toHaveLength(1);
    expect(await service.show(webhook.id)).toMatchObject({
      status: "enabled",
      failing_since: null,
    });
  });

  test("is not sent again if the old one accepted it", async () => {
    const { webhook, next } = await changeDuring(1, status(200));
    await service.newest(webhook.id, "delivered", 2);
    expect(next.arrivals).toHaveLength(0);
  });
});

describe("redelivering failed deliveries", () => {
  const failed = async () => {
    const { webhook, receiver } = await service.receive();
    for (let count = 0; count < 3; count++) await service.deploy();
    await soon(() => expect(receiver.arrivals).toHaveLength(3));
    await service.newest(webhook.id, "delivered");
    await service.query(
      `update webhook_deliveries set status = 'failed',
         ended_at = now() - make_interval(hours => 10 * (select count(*)::int from webhook_deliveries newer
           where newer.webhook_id = $1 and newer.id > webhook_deliveries.id)),
         created_at = now() - interval '4 days'
       where webhook_id = $1`,
      [webhook.id],
    );
    const since = (hours: number) =>
      new Date(Date.now() - hours * 3_600_000).toISOString().replace("Z", "000Z");
    const resend = (body: object) =>
      service.json("POST", `/api/site-webhook/${webhook.id}/redeliver`, body);
    return { webhook, receiver, since, resend };
  };

  test("sends those that failed since a given time, once, and returns their number", async () => {
    const { receiver, since, resend } = await failed();
    expect(await resend({ status: "failed", since: since(15) })).toEqual({
      status: 202,
      body: { count: 2, remaining: 0 },
    });
    expect((await newestEntry())?.action).toBe("asked to redeliver failures");
    await soon(() => expect(receiver.arrivals).toHaveLength(5));
    expect((await resend({ status: "failed", since: since(15) })).body).toMatchObject({ count: 0 });
    // Without a time, all failed deliveries are sent again.
    expect((await resend({ status: "failed" })).body).toMatchObject({ count: 1 });
    await soon(() => expect(receiver.arrivals).toHaveLength(6));
  });

  test("is refused while the webhook is paused, and for an invalid time", async () => {
    const { webhook, receiver, resend } = await failed();
    expect((await resend({ since: "yesterday" })).status).toBe(422);
    expect((await resend({ since: "0000-01-01T00:00Z" })).status).toBe(422);
    expect((await resend({ status: "delivered" })).status).toBe(422);
    await change(webhook.id, { enabled: false });
    expect((await resend({ status: "failed" })).status).toBe(409);
    expect(receiver.arrivals).toHaveLength(3);
  });
});
