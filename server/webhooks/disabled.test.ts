// Disabled webhooks: their missed deliveries, and who is notified.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Activity } from "../../contract/activity.ts";
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

const hourMs = 3600 * 1000;
const dayMs = 24 * hourMs;

type Body = { type: string; data: Record<string, unknown> };
const bodies = ({ arrivals }: { arrivals: { body: string }[] }) =>
  arrivals.map(({ body }): Body => JSON.parse(body));

test("a receiver that answers 410 is disabled at once; an accepted ping enables it again", async () => {
  const { receiver, webhook } = await service.receive(status(410));
  await service.deploy();
  await service.newest(webhook.id, "failed", 1);
  expect(await service.show(webhook.id)).toMatchObject({
    status: "disabled",
    status_reason: "Receiver unsubscribed (410 Gone).",
  });
  receiver.answer(status(200));
  await service.ping(webhook.id);
  await service.newest(webhook.id, "delivered");
  expect(await service.show(webhook.id)).toMatchObject({ status: "enabled", status_reason: null });
  await service.deploy();
  await soon(() => expect(receiver.arrivals).toHaveLength(3));
});

test("deliveries that a disabled webhook misses are kept, and sent later in order on request", async () => {
  const { receiver, webhook } = await service.receive(status(410));
  const resend = () => service.json("POST", `/api/site-webhook/${webhook.id}/redeliver`);
  await service.deploy({ commit: "c0" });
  await service.newest(webhook.id, "failed", 1);
  for (const commit of ["c1", "c2"]) await service.deploy({ commit });
  await soon(async () => expect((await service.show(webhook.id)).missed_deliveries).toBe(3));
  const [missed] = await service.deliveries(webhook.id);
  expect(missed).toMatchObject({ status: "failed", attempts: 0, next_attempt_at: null });
  expect(missed?.status_reason).toMatch(/disabled/);
  expect((await resend()).status).toBe(409);
  expect(receiver.arrivals).toHaveLength(1);

  receiver.answer(status(200));
  await service.ping(webhook.id);
  await service.newest(webhook.id, "delivered");
  expect(await resend()).toEqual({ status: 202, body: { count: 3 } });
  await soon(() => expect(receiver.arrivals).toHaveLength(5));
  const sent = bodies(receiver).slice(2);
  expect(sent.map(({ data }) => data["commit"])).toEqual(["c0", "c1", "c2"]);
  await soon(async () => expect((await service.show(webhook.id)).missed_deliveries).toBe(0));
  expect(await resend()).toEqual({ status: 202, body: { count: 0 } });
});

test("a ping or a redelivery that a disabled webhook does not accept has failed, and is not retried", async () => {
  const { receiver, webhook } = await service.receive(status(410));
  await service.deploy();
  const { id } = await service.newest(webhook.id, "failed", 1);
  receiver.answer(status(500));
  await service.ping(webhook.id);
  expect(await service.newest(webhook.id, "failed", 1)).toMatchObject({
    event: "webhook.ping",
    next_attempt_at: null,
    status_reason: "Receiver returned 500.",
  });
  await service.call("POST", `/api/webhook-delivery/${id}/redeliver`);
  await soon(async () =>
    expect((await service.deliveries(webhook.id)).find((one) => one.id === id)).toMatchObject({
      status: "failed",
      attempts: 2,
      next_attempt_at: null,
    }),
  );
  // The event can still be sent later; the ping cannot.
  expect(await service.show(webhook.id)).toMatchObject({
    status: "disabled",
    missed_deliveries: 1,
  });
});

test("five days of failing attempts disable a webhook, which the timeline shows", async () => {
  const { webhook } = await service.receive(status(500));
  await service.deploy();
  await service.newest(webhook.id, "retrying", 1);
  for (let day = 1; day <= 4; day++) {
    await service.ahead(dayMs);
    await service.deploy();
    await soon(async () => {
      const [attempts] = [(await service.deliveries(webhook.id)).at(-1)?.attempts];
      expect(attempts).toBe(day + 1);
    });
  }
  expect(await service.show(webhook.id)).toMatchObject({ status: "enabled" });
  await service.ahead(dayMs + hourMs);
  await soon(async () =>
    expect(await service.show(webhook.id)).toMatchObject({ status: "disabled" }),
  );
  const disabled = await service.show(webhook.id);
  expect(disabled.status_reason).toMatch(/five days.*returned 500/);
  // All five deliveries can be sent later, including those without an attempt.
  expect(disabled.missed_deliveries).toBe(5);
  const { body } = await service.json<Activity>("GET", "/api/activity?kind=webhook");
  expect(body.data.map(({ action, object }) => [action, object.id])).toContainEqual([
    "disabled",
    webhook.id,
  ]);
});

test("a week in which the service was off, or a month without an event, disables nothing", async () => {
  const { webhook } = await service.receive(status(500));
  await service.deploy();
  await service.newest(webhook.id, "retrying", 1);
  for (const [index, days] of [7, 30].entries()) {
    await service.ahead(days * dayMs);
    await service.newest(webhook.id, "retrying", index + 2);
  }
  expect(await service.show(webhook.id)).toMatchObject({ status: "enabled" });
});

test("the site's other webhooks are notified once when a delivery is given up, and when a webhook is disabled or enabled again", async () => {
  const { receiver, webhook } = await service.receive(status(503));
  const other = await service.receive();
  await service.deploy();
  const first = await service.newest(webhook.id, "retrying", 1);
  // Simulates eight more attempts.
  await service.query(
    "update webhook_deliveries set attempts = 9, round_attempts = 9 where id = $1",
    [first.id],
  );
  await service.ahead(dayMs);
  const failed = await service.newest(webhook.id, "failed", 10);
  await soon(() => expect(bodies(other.receiver)).toHaveLength(2));
  expect(bodies(other.receiver)[1]).toMatchObject({
    type: "webhook.delivery_failed",
    data: {
      webhook_id: webhook.id,
      delivery_id: failed.id,
      event: "site.deployed",
      attempts: 10,
      reason: "Receiver returned 503.",
      site: "shop",
      server: "here",
    },
  });
  // The webhook itself is not notified.
  expect(await service.deliveries(webhook.id)).toHaveLength(1);

  receiver.answer(status(410));
  await service.deploy();
  await soon(() => expect(bodies(other.receiver).at(-1)?.type).toBe("webhook.disabled"));
  receiver.answer(status(200));
  await service.ping(webhook.id);
  await soon(() => expect(bodies(other.receiver).at(-1)?.type).toBe("webhook.enabled"));
  expect(bodies(other.receiver).at(-1)?.data).toMatchObject({ missed_deliveries: 1 });
});
