// Provides a real receiver of webhooks, and steps that the browser tests of webhooks share.
import { createServer } from "node:http";
import type { Page } from "@playwright/test";
import type { Delivery } from "../contract/webhooks/delivery.ts";
import type { WebhookWithSecret } from "../contract/webhooks/webhook.ts";
import type { ServiceProcess } from "../server/testing/service-process.ts";
import { test as base, expect } from "./fixtures.ts";
import { portOf } from "../server/testing/port-of.ts";

type Received = { headers: Record<string, string>; body: string };

type Receiver = {
  url: string;
  received: Received[];
  /** Response to each request from now on. */
  answer: { status: number; headers?: Record<string, string>; body?: string };
  /** Holds responses back until the returned function is called. */
  hold(): () => void;
};

/** A 500 response whose `Retry-After` delays the next attempt beyond the end of any test. */
export const broken = { status: 500, headers: { "retry-after": "600" }, body: "disk full" };

export const test = base.extend<{
  receiver: Receiver;
  /** Creates a webhook of the site that leads to the receiver. */
  createWebhook: () => Promise<WebhookWithSecret>;
}>({
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of the fixtures needed from this pattern
  receiver: async ({}, provide) => {
    let held = Promise.resolve();
    const receiver: Receiver = {
      url: "",
      received: [],
      answer: { status: 204 },
      hold() {
        const { promise, resolve } = Promise.withResolvers<void>();
        held = promise;
        return resolve;
      },
    };
    const server = createServer((request, response) => {
      const respond = async () => {
        await held;
        const { status, headers, body: answer } = receiver.answer;
        response.writeHead(status, headers).end(answer);
      };
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        const headers = Object.entries(request.headers).map(([name, value]) => [
          name,
          String(value),
        ]);
        receiver.received.push({ headers: Object.fromEntries(headers), body });
        void respond();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    receiver.url = `http://127.0.0.1:${portOf(server)}/hooks/quarterdeck`;
    await provide(receiver);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  },

  createWebhook: async ({ service, site, receiver }, provide) =>
    provide(async () => {
      const made = await service.call("POST", `/api/site/${site.id}/webhook`, {
        url: receiver.url,
      });
      expect(made.status).toBe(201);
      return made.json();
    }),
});

export const webhookRow = (page: Page, url: string) =>
  page.getByRole("row").filter({ has: page.getByRole("link", { name: url, exact: true }) });

export const press = (page: Page, action: string, url: string) =>
  page.getByRole("button", { name: `${action}: ${url}`, exact: true }).click();

const newestDelivery = async (service: ServiceProcess, webhookId: number): Promise<Delivery> => {
  const answer = await service.call("GET", `/api/site-webhook/${webhookId}/deliveries`);
  const { data }: { data: { id: number }[] } = await answer.json();
  const shown = await service.call("GET", `/api/webhook-delivery/${data[0]?.id}`);
  return shown.json();
};

/** Pings a webhook and waits until the first attempt has ended. */
export async function ping(service: ServiceProcess, webhookId: number): Promise<Delivery> {
  const answer = await service.call("POST", `/api/site-webhook/${webhookId}/ping`);
  expect(answer.status).toBe(202);
  await expect
    .poll(async () => (await newestDelivery(service, webhookId)).attempts)
    .toBeGreaterThan(0);
  return newestDelivery(service, webhookId);
}

/** Returns the signing secret on screen, which is shown once. */
export const shownSecret = async (page: Page): Promise<string> =>
  (await page.getByText(/^whsec_/).textContent()) ?? "";

/** Returns all that the browser stores beyond the page itself, as JSON. */
export const kept = (page: Page) =>
  page.evaluate(() =>
    JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), history.state]),
  );
