// Tests the list of a webhook's deliveries: by status, by event, by id.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Page } from "../../contract/paging.ts";
import type { DeliverySummary } from "../../contract/webhooks/delivery.ts";
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

test("is filtered by status and event, and found by id and message id", async () => {
  const { receiver, webhook } = await service.receive();
  await service.deploy();
  await service.deploy({ status: "failed" });
  await service.ping(webhook.id);
  await soon(() => expect(receiver.arrivals).toHaveLength(3));
  receiver.answer(status(410));
  await service.deploy();
  const last = await service.newest(webhook.id, "failed", 1);
  const list = async (query: string) => {
    const path = `/api/site-webhook/${webhook.id}/deliveries?${query}`;
    return (await service.json<Page<DeliverySummary>>("GET", path)).body;
  };
  const idsOf = async (query: string) => (await list(query)).data.map(({ id }) => id);
  const all = await service.deliveries(webhook.id);
  const idOf = (event: string) => all.filter((one) => one.event === event).map(({ id }) => id);

  expect((await list("")).meta).not.toHaveProperty("counts");
  expect(await idsOf("filter[status]=failed")).toEqual([last.id]);
  expect(await idsOf("filter[event]=site.deployed")).toEqual(idOf("site.deployed"));
  const both = await list(
    "filter[event]=site.deployed,webhook.ping&filter[status]=delivered&per_page=1",
  );
  expect(both.meta).toMatchObject({
    total: 2,
    counts: { all: 3, failed: 1, retrying: 0, pending: 0, delivered: 2 },
  });
  expect(decodeURIComponent(both.links.next ?? "")).toContain(
    "filter[event]=site.deployed,webhook.ping",
  );
  expect(await idsOf("filter[event]=gossip")).toEqual([]);
  expect(await idsOf("filter[event]=")).toHaveLength(4);
  expect(await idsOf("sort=attention")).toEqual([
    last.id,
    ...all.map(({ id }) => id).filter((id) => id !== last.id),
  ]);

  const { message_id: messageId } = await service.delivery(last.id);
  expect(await idsOf(`search=${messageId}`)).toEqual([last.id]);
  expect(await idsOf(`search=${messageId.slice(0, 12)}`)).toEqual([last.id]);
  expect(await idsOf(`search=delivery+${last.id}`)).toEqual([last.id]);
  // A number larger than any id, and wildcards of LIKE patterns.
  for (const text of ["99999999999999999999", "%25", "msg_%25"])
    expect(await idsOf(`search=${text}`)).toEqual([]);
  expect(await idsOf("search=msg_nothing")).toEqual([]);
});

test("refuses an unknown status", async () => {
  const { webhook } = await service.receive();
  const path = `/api/site-webhook/${webhook.id}/deliveries?filter[status]=lost`;
  expect((await service.call("GET", path)).status).toBe(422);
});
