// A service with a site, and helpers for the tests of webhooks.
import { expect, onTestFinished } from "vitest";
import type { Page } from "../../../contract/paging.ts";
import type { Delivery, DeliverySummary } from "../../../contract/webhooks/delivery.ts";
import type { Webhook, WebhookWithSecret } from "../../../contract/webhooks/webhook.ts";
import type { AppOptions } from "../../app-options.ts";
import { createTestService } from "../../testing/service.ts";
import { startReceiver, type Answer } from "./receiver.ts";
import { soon } from "../../testing/soon.ts";

export { soon };

export async function createWebhookTestService(options: Partial<AppOptions> = {}) {
  const service = await createTestService(options);
  const get = async <Body>(path: string) => (await service.json<Body>("GET", path)).body;
  const deliveries = async (webhookId: number) =>
    (await get<Page<DeliverySummary>>(`/api/site-webhook/${webhookId}/deliveries?per_page=100`))
      .data;

  async function create(url: string): Promise<WebhookWithSecret & { secret: string }> {
    const { status, body } = await service.json<WebhookWithSecret>("POST", "/api/site/1/webhook", {
      url,
    });
    expect(status, JSON.stringify(body)).toBe(201);
    return { ...body, secret: body.secret ?? "" };
  }

  /** Waits until every event has its deliveries. */
  const dispatched = () =>
    soon(async () =>
      expect(await service.query("select type from events where dispatched_at is null")).toEqual(
        [],
      ),
    );

  return {
    ...service,
    deliveries,
    dispatched,
    show: (id: number) => get<Webhook>(`/api/site-webhook/${id}`),
    delivery: (id: number) => get<Delivery>(`/api/webhook-delivery/${id}`),
    create,
    /** Starts a receiver until the end of the test, and creates its webhook, which gets no earlier event. */
    async receive(answer?: Answer) {
      await dispatched();
      const receiver = await startReceiver(answer);
      const webhook = await create(receiver.url);
      onTestFinished(async () => {
        await service.call("DELETE", `/api/site-webhook/${webhook.id}`);
        await receiver.close();
      });
      return { receiver, webhook };
    },
    /** Creates an event of the site. */
    async deploy(change: object = {}): Promise<void> {
      const deployment = { status: "finished", commit: "4f1c2d3", ...change };
      expect((await service.call("POST", "/api/site/1/deployment", deployment)).status).toBe(202);
    },
    async ping(id: number): Promise<DeliverySummary> {
      const { status, body } = await service.json<DeliverySummary>(
        "POST",
        `/api/site-webhook/${id}/ping`,
      );
      expect(status).toBe(202);
      return body;
    },
    /** Waits until the newest delivery of a webhook has a status. */
    newest: (webhookId: number, status: string, attempts?: number): Promise<DeliverySummary> =>
      soon(async () => {
        const [newest] = await deliveries(webhookId);
        expect(newest?.status, JSON.stringify(newest)).toBe(status);
        if (attempts !== undefined) expect(newest?.attempts).toBe(attempts);
        // The first expectation fails if there is none.
        return newest as DeliverySummary;
      }),
  };
}

export type WebhookTestService = Awaited<ReturnType<typeof createWebhookTestService>>;
