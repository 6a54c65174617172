import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { retrySeconds } from "../../contract/webhooks/delivery.ts";
import type { Page } from "../../contract/paging.ts";
import type { Webhook } from "../../contract/webhooks/webhook.ts";
import {
  startReceiver as start,
  status,
  statuses,
  isSignedBy,
  type Answer,
} from "./testing/receiver.ts";
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

describe("a webhook", () => {
  test("is created with a secret that is shown once", async () => {
    const { webhook, receiver } = await service.receive();
    expect(webhook).toMatchObject({ url: receiver.url, status: "enabled", last_delivery: null });
    expect(webhook.secret).toMatch(/^whsec_/);
    expect(await service.show(webhook.id)).not.toHaveProperty("secret");
    const list = await service.json<Page<Webhook>>("GET", "/api/site/1/webhooks");
    expect(list.body.data).toEqual([await service.show(webhook.id)]);
    expect(JSON.stringify(list.body)).not.toContain(webhook.secret);
  });

  test("its response has its location", async () => {
    const receiver = await start();
    const response = await service.call("POST", "/api/site/1/webhook", { url: receiver.url });
    const { id }: Webhook = await response.json();
    expect(response.headers.get("Location")).toBe(`/api/site-webhook/${id}`);
    expect((await service.call("DELETE", `/api/site-webhook/${id}`)).status).toBe(204);
    expect((await service.call("GET", `/api/site-webhook/${id}`)).status).toBe(404);
    expect((await service.call("DELETE", `/api/site-webhook/${id}`)).status).toBe(404);
    await receiver.close();
  });

  test.each([
    ["http://10.0.0.1/hook", /private address/],
    ["http://169.254.169.254/latest/meta-data", /link-local/],
    ["http://[::1]/", /loopback/],
    ["ftp://example.com/", /http or https/],
    ["https://user:pass@example.com/", /without credentials/],
    ["", /required/],
    [undefined, /required/],
    [7, /must be a string/],
    [`https://example.com/${"x".repeat(2048)}`, /2048/],
  ])("with %s is refused at its field", async (url, words) => {
    const { status: code, body } = await service.json<{ errors: Record<string, string[]> }>(
      "POST",
      "/api/site/1/webhook",
      { url },
    );
    expect(code).toBe(422);
    expect(body.errors["url"]?.[0]).toMatch(words);
  });
});

describe("a delivery", () => {
  test("has one id over its attempts, and a new timestamp with a valid signature each time", async () => {
    const { receiver, webhook } = await service.receive(statuses(500, 500, 200));
    await service.deploy();
    const first = await service.newest(webhook.id, "retrying", 1);
    expect(first).toMatchObject({ event: "site.deployed", code: 500 });
    expect(first.status_reason).toBe("Receiver returned 500.");
    await service.ahead(7000);
    await service.newest(webhook.id, "retrying", 2);
    await service.ahead(7 * 60_000);
    const last = await service.newest(webhook.id, "delivered", 3);
    expect(last).toMatchObject({ code: 200, status_reason: null, next_attempt_at: null });

    const { arrivals } = receiver;
    expect(arrivals).toHaveLength(3);
    for (const arrival of arrivals) expect(isSignedBy(webhook.secret, arrival)).toBe(true);
    expect(new Set(arrivals.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(new Set(arrivals.map(({ headers }) => headers["webhook-timestamp"])).size).toBe(3);
    expect(new Set(arrivals.map(({ body }) => body)).size).toBe(1);
    expect(JSON.parse(arrivals[0]?.body ?? "")).toMatchObject({
      type: "site.deployed",
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      data: { site_id: 1, site: "shop", commit: "4f1c2d3" },
    });

    const shown = await service.delivery(last.id);
    expect(shown.body).toBe(arrivals[0]?.body);
    expect(shown.message_id).toBe(arrivals[0]?.headers["webhook-id"]);
    expect(shown.attempt_list.map(({ number, code }) => [number, code])).toEqual([
      [3, 200],
      [2, 500],
      [1, 500],
    ]);
    expect(shown.attempt_list[0]?.request_headers["webhook-signature"]).toBe(
      arrivals[2]?.headers["webhook-signature"],
    );
  });

  test("that is not accepted in ten attempts has failed, and can be sent again under its id", async () => {
    const { receiver, webhook } = await service.receive(status(503));
    await service.deploy();
    for (const [index, seconds] of retrySeconds.entries()) {
      await service.newest(webhook.id, "retrying", index + 1);
      await service.ahead(seconds * 1000 * 1.2);
    }
    const failed = await service.newest(webhook.id, "failed", 10);
    expect(failed.next_attempt_at).toBeNull();

    receiver.answer(status(204));
    const asked = await service.call("POST", `/api/webhook-delivery/${failed.id}/redeliver`);
    expect(asked.status).toBe(202);
    await service.newest(webhook.id, "delivered", 11);
    expect(new Set(receiver.arrivals.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  });

  test("waits for as long as the receiver asks, and so do later ones", async () => {
    const { receiver, webhook } = await service.receive(status(429, { "Retry-After": "120" }));
    await service.deploy();
    const first = await service.newest(webhook.id, "retrying", 1);
    const waitMs = Date.parse(first.next_attempt_at ?? "") - service.options.clock.now();
    expect(waitMs).toBeGreaterThan(100_000);
    receiver.answer(status(200));
    await service.deploy();
    await service.newest(webhook.id, "pending");
    await service.ahead(130_000);
    await soon(() => expect(receiver.arrivals).toHaveLength(3));
  });

  test("stores the response: 4 KiB of it, its headers, and its duration", async () => {
    const { webhook } = await service.receive((_index, response) => {
      response.writeHead(400, { "X-Trace": "a1" }).end(`\0no: ${"x".repeat(100_000)}`);
    });
    await service.deploy();
    const { id } = await service.newest(webhook.id, "retrying", 1);
    const [attempt] = (await service.delivery(id)).attempt_list;
    expect(attempt?.response_headers).toMatchObject({ "x-trace": "a1" });
    expect(attempt?.response_body).toHaveLength(4096);
    expect(attempt?.response_body).toMatch(/^\u{fffd}no: x+$/u);
    expect(attempt?.duration_ms).toBeGreaterThanOrEqual(0);
  });

  test.each([
    [
      "resets the connection",
      (_index: number, response: Parameters<Answer>[1]) => response.socket?.resetAndDestroy(),
      /closed the connection/,
    ],
    [
      "redirects to loopback",
      (_index: number, response: Parameters<Answer>[1]) =>
        response.writeHead(302, { Location: "http://127.0.0.1:1/" }).end(),
      /redirect \(302\)\. Quarterdeck doesn't follow redirects/,
    ],
  ])("to a receiver that %s is retried, with the reason", async (_what, answer, words) => {
    const { webhook } = await service.receive(answer);
    await service.deploy();
    expect((await service.newest(webhook.id, "retrying", 1)).status_reason).toMatch(words);
  });

  test("to a receiver that sends 100 MB is delivered, according to its status", async () => {
    const { webhook } = await service.receive((_index, response) => {
      response.writeHead(200);
      response.on("error", () => undefined);
      const piece = Buffer.alloc(1_000_000, "x");
      let left = 100;
      const write = () => {
        while (left-- > 0) if (!response.write(piece)) return void response.once("drain", write);
        response.end();
      };
      write();
    });
    await service.deploy();
    expect((await service.newest(webhook.id, "delivered", 1)).code).toBe(200);
  });

  test("truncates a body that a tool made too long, and stays valid JSON", async () => {
    const { receiver, webhook } = await service.receive();
    await service.deploy({
      status: "failed",
      message: "\u{1f600}<>&_*`\n".repeat(400).slice(0, 5000),
    });
    await service.newest(webhook.id, "delivered");
    const { body } = receiver.arrivals[0] ?? { body: "" };
    expect(Buffer.byteLength(body)).toBeLessThan(20_000);
    expect(JSON.parse(body)).toMatchObject({ type: "site.deployment_failed" });
  });
});

describe("a dead receiver", () => {
  test("delays no other, and later deliveries arrive in order", async () => {
    const hanging = await Promise.all([1, 2, 3].map(() => service.receive(() => undefined)));
    const living = await Promise.all([1, 2, 3, 4].map(() => service.receive()));
    for (let number = 0; number < 40; number++) await service.deploy({ commit: `c${number}` });
    await soon(() => {
      for (const { receiver } of living) expect(receiver.arrivals).toHaveLength(40);
    });
    const order = living[0]?.receiver.arrivals.map(
      ({ body }): string => JSON.parse(body).data.commit,
    );
    expect(order).toEqual(Array.from({ length: 40 }, (_, number) => `c${number}`));
    for (const { webhook } of hanging)
      expect(
        (await service.deliveries(webhook.id)).every(({ status: is }) => is !== "delivered"),
      ).toBe(true);
  });
});

describe("manual actions", () => {
  test("a ping is sent to its webhook only", async () => {
    const { receiver, webhook } = await service.receive();
    const other = await service.receive();
    const asked = await service.ping(webhook.id);
    expect(asked).toMatchObject({ event: "webhook.ping", status: "pending", attempts: 0 });
    await service.newest(webhook.id, "delivered", 1);
    expect(receiver.arrivals).toHaveLength(1);
    expect(other.receiver.arrivals).toHaveLength(0);
    expect((await service.show(webhook.id)).last_delivery).toMatchObject({
      id: asked.id,
      code: 200,
    });
  });

  test("a new secret signs beside the previous one for a day, and alone after that", async () => {
    const { receiver, webhook } = await service.receive();
    const { status: code, body } = await service.json<{
      secret: string;
      previous_secret_until: string;
    }>("POST", `/api/site-webhook/${webhook.id}/secret`);
    expect(code).toBe(200);
    expect(body.secret).not.toBe(webhook.secret);
    await service.ping(webhook.id);
    await soon(() => expect(receiver.arrivals).toHaveLength(1));
    await service.ahead(25 * hourMs);
    await service.ping(webhook.id);
    await soon(() => expect(receiver.arrivals).toHaveLength(2));
    const signed = receiver.arrivals.map((arrival) => [
      isSignedBy(body.secret, arrival),
      isSignedBy(webhook.secret, arrival),
    ]);
    expect(signed).toEqual([
      [true, true],
      [true, false],
    ]);
  });

  test("a delivery that waits for its first attempt cannot be sent again: 409", async () => {
    const { webhook } = await service.receive(() => undefined);
    await service.deploy();
    const { id } = await service.newest(webhook.id, "pending");
    const response = await service.call("POST", `/api/webhook-delivery/${id}/redeliver`);
    expect(response.status).toBe(409);
  });
});
