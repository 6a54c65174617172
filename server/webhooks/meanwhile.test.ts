// Changes of a webhook during an attempt: it is deleted, its secret is rotated, or a redelivery is requested.
import { once } from "node:events";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { ServerResponse } from "node:http";
import type { DeliverySummary } from "../../contract/webhooks/delivery.ts";
import { createApp } from "../app.ts";
import { isSignedBy, status, type Answer } from "./testing/receiver.ts";
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

/** A receiver that holds each request until the test releases it with a status. */
function holding() {
  const held: ServerResponse[] = [];
  return {
    held,
    answer: ((_index, response) => void held.push(response)) satisfies Answer,
    release(code: number) {
      for (const response of held.splice(0)) response.writeHead(code).end();
    },
  };
}

test("a deleted webhook gets no further request, and the pending one is aborted", async () => {
  const hold = holding();
  const { receiver, webhook } = await service.receive(hold.answer);
  for (let number = 0; number < 23; number++) await service.deploy();
  // One job has all deliveries: the first is being sent, and 22 wait.
  await soon(() => expect(hold.held).toHaveLength(1));
  const [response] = hold.held;
  if (response === undefined) throw new Error("No request is held.");
  const isBroken = once(response, "close");
  expect((await service.call("DELETE", `/api/site-webhook/${webhook.id}`)).status).toBe(204);
  await isBroken;
  // Once a later delivery has arrived at another webhook, the deleted webhook's job would have sent its next one.
  const other = await service.receive();
  await service.deploy();
  await soon(() => expect(other.receiver.arrivals).toHaveLength(1));
  expect(receiver.arrivals).toHaveLength(1);
});

test("a deletion by another service on the same database stops the job before its next request", async () => {
  const hold = holding();
  const { receiver, webhook } = await service.receive(hold.answer);
  for (let number = 0; number < 5; number++) await service.deploy();
  await soon(() => expect(hold.held).toHaveLength(1));
  await service.query("delete from webhooks where id = $1", [webhook.id]);
  hold.release(200);
  const other = await service.receive();
  await service.deploy();
  await soon(() => expect(other.receiver.arrivals).toHaveLength(1));
  expect(receiver.arrivals).toHaveLength(1);
});

test("after a rotation the next request has both signatures, whether it was claimed before it or not", async () => {
  const hold = holding();
  const { receiver, webhook } = await service.receive(hold.answer);
  for (let number = 0; number < 3; number++) await service.deploy();
  await soon(() => expect(hold.held).toHaveLength(1));
  const { body } = await service.json<{ secret: string }>(
    "POST",
    `/api/site-webhook/${webhook.id}/secret`,
  );
  receiver.answer(status(200));
  hold.release(200);
  await soon(() => expect(receiver.arrivals).toHaveLength(3));
  const signed = receiver.arrivals.map((arrival) => [
    isSignedBy(webhook.secret, arrival),
    isSignedBy(body.secret, arrival),
  ]);
  expect(signed).toEqual([
    [true, false],
    [true, true],
    [true, true],
  ]);
});

test.each([
  ["fails", 500],
  ["is taken", 200],
])("a redelivery that is requested during an attempt that %s is made", async (_what, code) => {
  const hold = holding();
  const { receiver, webhook } = await service.receive(status(500));
  await service.deploy();
  const { id } = await service.newest(webhook.id, "retrying", 1);
  receiver.answer(hold.answer);
  await service.ahead(7000);
  await soon(() => expect(hold.held).toHaveLength(1));
  const asked = await service.json<DeliverySummary>(
    "POST",
    `/api/webhook-delivery/${id}/redeliver`,
  );
  expect(asked).toMatchObject({ status: 202, body: { status: "pending" } });
  receiver.answer(status(204));
  hold.release(code);
  const delivered = await service.newest(webhook.id, "delivered", 3);
  expect(delivered).toMatchObject({ id, code: 204, next_attempt_at: null });
  const attempts = (await service.delivery(id)).attempt_list;
  expect(attempts.map((attempt) => attempt.code)).toEqual([204, code, 500]);
});

test("a pause that the receiver asks for is shown, until it ends", async () => {
  const { webhook } = await service.receive(status(503, { "Retry-After": "3600" }));
  await service.deploy();
  await service.newest(webhook.id, "retrying", 1);
  const { paused_until: until } = await service.show(webhook.id);
  const leftMs = Date.parse(until ?? "") - service.options.clock.now();
  expect(leftMs).toBeGreaterThan(3_400_000);
  expect(leftMs).toBeLessThanOrEqual(3_600_000);
  await service.ahead(3_601_000);
  await soon(async () => expect((await service.show(webhook.id)).paused_until).not.toBe(until));
});

test("sends nothing about an object before earlier events, whatever the receiver does", async () => {
  const { receiver, webhook } = await service.receive(status(503));
  await service.deploy({ commit: "first" });
  const first = await service.newest(webhook.id, "retrying", 1);
  receiver.answer(status(200));
  await service.deploy({ commit: "second" });
  const second = await service.newest(webhook.id, "pending");
  expect(second).toMatchObject({ waits_for: first.id, attempts: 0 });
  await service.ahead(7000);
  await service.newest(webhook.id, "delivered", 1);
  const commits = receiver.arrivals.map(({ body }): string => JSON.parse(body).data.commit);
  expect(commits).toEqual(["first", "first", "second"]);
});

test("a redelivery of a completed delivery delays nothing, however often it fails", async () => {
  const { receiver, webhook } = await service.receive();
  await service.deploy();
  const { id } = await service.newest(webhook.id, "delivered");
  const messageOf = (index: number) => receiver.arrivals[index]?.headers["webhook-id"];
  // As receivers do for a message that they already have.
  receiver.answer((index, response) =>
    status(messageOf(index) === messageOf(0) ? 409 : 200)(index, response),
  );
  await service.call("POST", `/api/webhook-delivery/${id}/redeliver`);
  await service.newest(webhook.id, "retrying");
  await service.deploy();
  expect((await service.newest(webhook.id, "delivered")).id).not.toBe(id);
  expect(await service.delivery(id)).toMatchObject({ status: "retrying", ended_at: null });
});

test("a redelivery of all failed deliveries delays nothing, but those that were missed keep their order", async () => {
  const { receiver, webhook } = await service.receive();
  await service.deploy({ commit: "refused" });
  const refused = await service.newest(webhook.id, "delivered");
  await service.query("update webhook_deliveries set status = 'failed' where id = $1", [
    refused.id,
  ]);
  let accepted = "missed";
  receiver.answer((index, response) =>
    status(receiver.arrivals[index]?.body.includes(accepted) === true ? 200 : 422)(index, response),
  );
  const resend = () =>
    service.json("POST", `/api/site-webhook/${webhook.id}/redeliver`, { status: "failed" });
  expect(await resend()).toMatchObject({ status: 202, body: { count: 1 } });
  await service.newest(webhook.id, "retrying");
  await service.deploy({ commit: "missed 1" });
  await service.newest(webhook.id, "delivered", 1);
  expect(await service.delivery(refused.id)).toMatchObject({ status: "retrying", ended_at: null });

  const enable = (enabled: boolean) =>
    service.call("PUT", `/api/site-webhook/${webhook.id}`, { enabled });
  await enable(false);
  await service.deploy({ commit: "missed 2" });
  await service.deploy({ commit: "missed 3" });
  await soon(async () =>
    expect((await service.show(webhook.id)).missed_deliveries).toBeGreaterThan(2),
  );
  accepted = "missed 3";
  await enable(true);
  expect(await resend()).toMatchObject({ status: 202 });
  expect(await service.newest(webhook.id, "pending")).toMatchObject({ waits_for: refused.id });
});

test("an attempt whose job was assigned to another runner meanwhile records nothing; the delivery is sent again", async () => {
  const hold = holding();
  const { receiver, webhook } = await service.receive(hold.answer);
  await service.deploy();
  await soon(() => expect(hold.held).toHaveLength(1));
  // As pg-boss does when heartbeats are missing.
  await service.query(
    `update pgboss.job set state = 'retry', start_after = pgboss.job_now() + interval '1 day'
     where name = 'webhook.deliveries' and singleton_key = $1 and state = 'active'`,
    [String(webhook.id)],
  );
  receiver.answer(status(204));
  hold.release(200);
  // The next runner of the job finds the delivery unchanged, and only its attempt is recorded.
  await service.query(
    `update pgboss.job set start_after = pgboss.job_now() where singleton_key = $1 and state = 'retry'`,
    [String(webhook.id)],
  );
  const { id } = await service.newest(webhook.id, "delivered", 1);
  expect((await service.delivery(id)).attempt_list.map(({ code }) => code)).toEqual([204]);
  expect(receiver.arrivals.map(({ headers }) => headers["webhook-id"])).toEqual(
    Array(2).fill(receiver.arrivals[0]?.headers["webhook-id"]),
  );
});

test("pending deliveries without a job get one at the next start", async () => {
  const { receiver, webhook } = await service.receive(status(500));
  await service.deploy();
  await service.newest(webhook.id, "retrying", 1);
  receiver.answer(status(200));
  // As if a version without jobs had created the delivery.
  await service.query(
    `delete from pgboss.job where name = 'webhook.deliveries' and singleton_key = $1`,
    [String(webhook.id)],
  );
  await service.ahead(7000);
  const next = await createApp(service.options);
  onTestFinished(() => next.close("keep"));
  await service.newest(webhook.id, "delivered", 2);
  expect(receiver.arrivals).toHaveLength(2);
});

test("deliveries that wait for a clock that has been set back are sent, and delay nothing", async () => {
  const { receiver, webhook } = await service.receive(status(503, { "Retry-After": "3600" }));
  await service.ahead(400 * 24 * 3600 * 1000);
  await service.deploy({ commit: "first" });
  await service.newest(webhook.id, "retrying", 1);
  await service.ahead(-400 * 24 * 3600 * 1000);
  receiver.answer(status(200));
  await service.deploy({ commit: "second" });
  await service.newest(webhook.id, "pending");
  // A start of the service ends waits that are too long, as the hourly job does.
  const next = await createApp(service.options);
  onTestFinished(() => next.close("keep"));
  await service.newest(webhook.id, "delivered", 1);
  const commits = receiver.arrivals.map(({ body }): string => JSON.parse(body).data.commit);
  expect(commits).toEqual(["first", "first", "second"]);
  expect(await service.show(webhook.id)).toMatchObject({ status: "enabled", paused_until: null });
});
