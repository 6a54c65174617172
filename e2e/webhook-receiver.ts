// A real receiver of webhooks, and what the browser tests of webhooks say often.
import { createServer } from "node:http";
import type { Page } from "@playwright/test";
import type { Delivery } from "../contract/webhooks/delivery.ts";
import type { WebhookWithSecret } from "../contract/webhooks/webhook.ts";
import type { ServiceProcess } from "../server/testing/service-process.ts";
import { test as base, expect } from "./fixtures.ts";
import { portOf } from "../server/testing/port-of.ts";

type Received = { headers: Record<string, string>; body: string };

/** A real receiver on this machine. */
type Receiver = {
  url: string;
  received: Received[];
  /** What it answers from now on. */
  answer: { status: number; headers?: Record<string, string>; body?: string };
  /** Lets requests wait for their answer until the returned function is called. */
  hold(): () => void;
};

/** A 500 with which the next attempt is far enough away that no test meets it. */
export const broken = { status: 500, headers: { "retry-after": "600" }, body: "disk full" };

export const test = base.extend<{
  receiver: Receiver;
  /** A webhook of the site that leads to the receiver. */
  createWebhook: () => Promise<WebhookWithSecret>;
}>({
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what a fixture needs here
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

/** Pings and waits until the first attempt is over. */
export async function ping(service: ServiceProcess, webhookId: number): Promise<Delivery> {
  const answer = await service.call("POST", `/api/site-webhook/${webhookId}/ping`);
  expect(answer.status).toBe(202);
  await expect
    .poll(async () => (await newestDelivery(service, webhookId)).attempts)
    .toBeGreaterThan(0);
  return newestDelivery(service, webhookId);
}

/** The signing secret on screen, which is shown once. */
export const shownSecret = async (page: Page): Promise<string> =>
  (await page.getByText(/^whsec_/).textContent()) ?? "";

/** What the browser keeps beyond the page itself. */
export const kept = (page: Page) =>
  page.evaluate(() =>
    JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), history.state]),
  );
