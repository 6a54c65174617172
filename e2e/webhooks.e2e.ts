import { createServer } from "node:http";
import type { Page } from "@playwright/test";
import { Webhook as Verifier } from "standardwebhooks";
import type { Delivery } from "../contract/webhooks/delivery.ts";
import type { Webhook, WebhookWithSecret } from "../contract/webhooks/webhook.ts";
import type { ServiceProcess } from "../server/testing/service-process.ts";
import { test as base, expect, type Site } from "./fixtures.ts";
import {
  expectAccessible,
  expectAccessibleInBoth,
  expectNoSidewaysScroll,
  expectRow,
  expectToast,
} from "./helpers.ts";
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
const broken = { status: 500, headers: { "retry-after": "600" }, body: "disk full" };

const test = base.extend<{
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

const webhookRow = (page: Page, url: string) =>
  page.getByRole("row").filter({ has: page.getByRole("link", { name: url, exact: true }) });

const press = (page: Page, action: string, url: string) =>
  page.getByRole("button", { name: `${action}: ${url}`, exact: true }).click();

const newestDelivery = async (service: ServiceProcess, webhookId: number): Promise<Delivery> => {
  const answer = await service.call("GET", `/api/site-webhook/${webhookId}/deliveries`);
  const { data }: { data: { id: number }[] } = await answer.json();
  const shown = await service.call("GET", `/api/webhook-delivery/${data[0]?.id}`);
  return shown.json();
};

/** Pings and waits until the first attempt is over. */
async function ping(service: ServiceProcess, webhookId: number): Promise<Delivery> {
  const answer = await service.call("POST", `/api/site-webhook/${webhookId}/ping`);
  expect(answer.status).toBe(202);
  await expect
    .poll(async () => (await newestDelivery(service, webhookId)).attempts)
    .toBeGreaterThan(0);
  return newestDelivery(service, webhookId);
}

const newPage = ({ id }: Site) => `/sites/${id}/webhooks/new`;

/** What the browser keeps beyond the page itself. */
const kept = (page: Page) =>
  page.evaluate(() =>
    JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), history.state]),
  );

test("a person creates a webhook, takes its secret along, pings it, and a real receiver verifies what comes", async ({
  connected: page,
  service,
  site,
  receiver,
  context,
}) => {
  test.slow();
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await page
    .getByRole("navigation", { name: "Site" })
    .getByRole("link", { name: "Webhooks" })
    .click();
  await expect(page.getByText("No webhooks yet")).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("link", { name: "New webhook" }).first().click();
  await page.getByLabel("URL").fill(receiver.url);
  await expect(page.getByLabel("URL")).toHaveAccessibleDescription(/Not encrypted/);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Create webhook" }).click();

  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Webhook created");
  await expect(page.getByRole("heading", { level: 1 })).toBeFocused();
  const secret = (await page.getByText(/^whsec_/).textContent()) ?? "";
  expect(Buffer.from(secret.replace("whsec_", ""), "base64")).toHaveLength(32);
  for (const label of ["Node.js", "PHP", "Python"]) {
    await page.getByLabel("Language").selectOption({ label });
    await expect(page.getByRole("figure", { name: "Verify signatures" })).toContainText(
      "WEBHOOK_SECRET",
    );
  }
  await expectAccessible(page);
  expect(page.url()).toBe(service.url + newPage(site));
  expect(await kept(page)).not.toContain(secret);

  await page.getByRole("button", { name: "Copy secret" }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret);
  await page.getByRole("button", { name: "Send ping" }).click();
  await expectToast(page, "status", /Ping to 127\.0\.0\.1:\d+ delivered\./);
  await expect(page.getByRole("link", { name: "Ping, delivered" })).toBeVisible();
  const [{ headers, body } = { headers: {}, body: "" }] = receiver.received;
  expect(new Verifier(secret).verify(body, headers)).toMatchObject({
    type: "webhook.ping",
  });

  // It was copied, so nobody asks.
  await page.getByRole("link", { name: `${site.name} webhooks` }).click();
  const row = webhookRow(page, receiver.url);
  await expectRow(row, "enabled", "delivered", "Ping", "204");
  await expectAccessible(page);
  await row.getByRole("link", { name: receiver.url }).click();
  // The list has the word too, once for each width.
  await expect(page.getByRole("heading", { name: /^Webhook \d+$/ })).toBeVisible();
  await expect(page.getByText("delivered", { exact: true })).toBeVisible();
  expect(await page.content()).not.toContain(secret);
});

test.describe("the form", () => {
  test("shows what is no URL at its field, and sends nothing", async ({
    connected: page,
    service,
    site,
  }) => {
    await page.goto(service.url + newPage(site));
    const url = page.getByLabel("URL");
    await page.getByRole("button", { name: "Create webhook" }).click();
    await expect(url).toHaveAccessibleDescription(/Enter a URL\./);
    for (const wrong of ["ftp://example.com/x", "example.com", "https://user:pass@example.com/"]) {
      await url.fill(wrong);
      await expect(url).toHaveAccessibleDescription(/must be an http or https URL without/);
    }
    await page.getByRole("button", { name: "Create webhook" }).click();
    await expect(url).toBeFocused();
    await expectAccessible(page);
    await url.fill("https://example.com/hook");
    await expect(url).not.toHaveAccessibleDescription(/must be/);
    await expect(url).not.toHaveAccessibleDescription(/Not encrypted/);
    const list = await service.call("GET", `/api/site/${site.id}/webhooks`);
    expect(await list.json()).toMatchObject({ meta: { total: 0 } });
  });

  test("puts an address that the service refuses to its field too", async ({
    connected: page,
    service,
    site,
    expected,
  }) => {
    expected.push(/422/);
    await page.goto(service.url + newPage(site));
    const url = page.getByLabel("URL");
    for (const [address, words] of [
      ["http://10.0.0.1/", /10\.0\.0\.1 is a private address/],
      ["http://169.254.169.254/latest/meta-data", /link-local/],
      ["http://[::1]:4000/", /loopback/],
    ] as const) {
      await url.fill(address);
      await page.getByRole("button", { name: "Create webhook" }).click();
      await expect(url).toHaveAccessibleDescription(words);
      await expect(url).toBeFocused();
    }
    await expectAccessible(page);
  });

  test("a token that may only read creates, pings, rotates and deletes nothing, and sees why", async ({
    connected: page,
    service,
    site,
    receiver,
    createWebhook,
    expected,
  }) => {
    expected.push(/403/);
    const { id } = await createWebhook();
    const made = await service.call("POST", "/api/tokens", { name: "eyes", abilities: ["read"] });
    const { token }: { token: string } = await made.json();
    await page.evaluate(
      (text) =>
        sessionStorage.setItem("quarterdeck.session", JSON.stringify({ address: "", token: text })),
      token,
    );
    await page.goto(service.url + newPage(site));
    await page.getByLabel("URL").fill(receiver.url);
    await page.getByRole("button", { name: "Create webhook" }).click();
    await expect(page.getByRole("alert").getByText("This action is unauthorized.")).toBeVisible();
    await expect(page.getByLabel("URL")).toHaveValue(receiver.url);
    await expectAccessible(page);

    await page.goto(`${service.url}/webhooks/${id}`);
    await press(page, "Ping", receiver.url);
    await expectToast(page, "alert", /Couldn't ping 127\.0\.0\.1:\d+\./);
    const dialog = page.getByRole("alertdialog");
    for (const [action, answer] of [
      ["Rotate secret", "Rotate secret"],
      ["Delete", "Delete webhook"],
    ] as const) {
      await press(page, action, receiver.url);
      await dialog.getByRole("button", { name: answer }).click();
      await expect(dialog.getByRole("alert")).toHaveText("This action is unauthorized.");
      await dialog.getByRole("button", { name: "Cancel" }).click();
    }
    await expect(page.getByText(/^whsec_/)).toBeHidden();
    const list = await service.call("GET", `/api/site/${site.id}/webhooks`);
    expect(await list.json()).toMatchObject({ data: [{ id, last_delivery: null }] });
    expect(receiver.received).toEqual([]);
  });

  test("asks before a secret that nobody has stored is lost, and not once it is stored", async ({
    connected: page,
    service,
    site,
    receiver,
  }) => {
    await page.goto(service.url + newPage(site));
    await page.getByLabel("URL").fill(receiver.url);
    await page.getByRole("button", { name: "Create webhook" }).click();
    const secret = (await page.getByText(/^whsec_/).textContent()) ?? "";
    await page.getByRole("link", { name: "Open webhook" }).click();
    await expect(page.getByRole("alertdialog")).toContainText("Leave without the secret?");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Stay" }).click();
    await expect(page.getByText(secret)).toBeVisible();
    await page.getByLabel("I have stored the secret").check();
    await page.getByRole("link", { name: "Open webhook" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(/^Webhook \d+$/);
    await page.goBack();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("New webhook");
    await expect(page.getByText(secret)).toBeHidden();
  });
});

test.describe("a webhook's page", () => {
  test("a failed delivery shows request, answer and next attempt, and is delivered again once the receiver is mended", async ({
    connected: page,
    service,
    receiver,
    createWebhook,
    context,
  }) => {
    test.slow();
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    receiver.answer = broken;
    const { id } = await createWebhook();
    await page.goto(`${service.url}/webhooks/${id}`);
    await expect(page.getByText("No deliveries yet")).toBeVisible();
    await press(page, "Ping", receiver.url);
    await expectToast(page, "alert", /Ping to .* failed\./);
    const row = page.getByRole("row").filter({ hasText: "webhook.ping" });
    await expectRow(row, "retrying", "500", "1", "Receiver returned 500.");
    await expect(row).toContainText(/in (9|10) minutes/);
    await expect(page.getByRole("main")).toContainText("failing for");

    const link = row.getByRole("link");
    await link.press("Enter");
    await expect(page).toHaveURL(/\?delivery=\d+$/);
    const sent = receiver.received[0] ?? { headers: {}, body: "" };
    const heading = page.getByRole("heading", { name: /^Delivery \d+$/ });
    await expect(heading).toBeFocused();
    const main = page.getByRole("main");
    await expect(main).toContainText(String(sent.headers["webhook-id"]));
    await expect(page.getByRole("figure", { name: "Response body" })).toHaveText("disk full");
    await expect(page.getByRole("figure", { name: "Response headers" })).toContainText(
      "retry-after: 600",
    );
    await expect(page.getByRole("figure", { name: "Request headers" })).toContainText(
      String(sent.headers["webhook-signature"]),
    );
    await page.getByRole("button", { name: "Copy request body" }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(sent.body);
    await expectAccessible(page);
    await page.reload();
    await expect(heading).toBeVisible();

    receiver.answer = { status: 200, body: "" };
    await page.getByRole("button", { name: "Redeliver" }).click();
    await expectToast(page, "status", /Delivery \d+ delivered\./);
    await expectRow(row, "delivered");
    await expect(main).toContainText("Attempt 2");
    // What somebody was reading stays open when more comes.
    await expect(page.getByRole("figure", { name: "Response body" })).toHaveText("disk full");
    await expect(main).not.toContainText("failing for");
    expect(receiver.received[1]?.headers["webhook-id"]).toBe(sent.headers["webhook-id"]);
    expect(receiver.received[1]?.body).toBe(sent.body);

    await page.getByRole("link", { name: "Close delivery" }).press("Enter");
    await expect(heading).toBeHidden();
    await expect(link).toBeFocused();
  });

  test("nothing is claimed of a ping that is on its way, and it cannot be sent again", async ({
    connected: page,
    service,
    receiver,
    createWebhook,
  }) => {
    const { id } = await createWebhook();
    const release = receiver.hold();
    await page.goto(`${service.url}/webhooks/${id}`);
    await press(page, "Ping", receiver.url);
    await expect.poll(() => receiver.received.length).toBe(1);
    await page.getByRole("link", { name: /^Ping, delivery \d+$/ }).click();
    const redeliver = page.getByRole("button", { name: "Redeliver" });
    await expect(redeliver).toBeDisabled();
    await expect(redeliver).toHaveAccessibleDescription(
      "Can't redeliver while the status is pending.",
    );
    await expect(page.getByText(/Ping to/)).toBeHidden();
    // Before the service has waited long enough to give up.
    release();
    await expectToast(page, "status", /Ping to .* delivered\./);
    await expect(redeliver).toBeEnabled();
    await expect(page.getByText("Empty body.")).toBeVisible();
  });

  test("a new secret is shown once, and both sign until the receiver has changed over", async ({
    connected: page,
    service,
    receiver,
    createWebhook,
  }) => {
    const { id, secret: old = "" } = await createWebhook();
    await page.goto(`${service.url}/webhooks/${id}`);
    await press(page, "Rotate secret", receiver.url);
    const dialog = page.getByRole("alertdialog");
    await expect(dialog).toContainText("For 24 hours, requests are signed with both secrets");
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Rotate secret" }).click();
    const secret = (await page.getByText(/^whsec_/).textContent()) ?? "";
    expect(secret).not.toBe(old);
    await expect(page.getByRole("heading", { name: "New signing secret" })).toBeFocused();
    expect(await kept(page)).not.toContain(secret);
    await expectAccessible(page);
    await expect(page.getByText("Previous secret valid until")).toBeVisible();

    const hide = page.getByRole("button", { name: "Hide secret" });
    await expect(hide).toHaveAccessibleDescription(/not shown again/);
    await page.getByRole("link", { name: "Servers" }).first().click();
    await expect(page.getByRole("alertdialog")).toContainText("Leave without the secret?");
    await page.getByRole("button", { name: "Stay" }).click();
    await page.getByLabel("I have stored the secret").check();
    await hide.click();
    await expect(page.getByRole("heading", { level: 1 })).toBeFocused();
    await expect(page.getByText(secret)).toBeHidden();

    await press(page, "Ping", receiver.url);
    await expect.poll(() => receiver.received.length).toBe(1);
    const { headers, body } = receiver.received[0] ?? { headers: {}, body: "" };
    for (const one of [old, secret]) expect(new Verifier(one).verify(body, headers)).toBeTruthy();
  });

  test("a receiver that wants nothing more disables the webhook, and one that takes a ping enables it", async ({
    connected: page,
    service,
    site,
    receiver,
    createWebhook,
  }) => {
    receiver.answer = { status: 410 };
    const { id } = await createWebhook();
    await page.goto(`${service.url}/sites/${site.id}/webhooks`);
    const row = webhookRow(page, receiver.url);
    await expectRow(row, "enabled", "No deliveries");
    await press(page, "Ping", receiver.url);
    await expectToast(page, "alert", /Ping to .* failed\./);
    await expectRow(row, "disabled", "failed", "410");
    await page.goto(`${service.url}/webhooks/${id}`);
    await expect(page.getByRole("main")).toContainText("Quarterdeck sends no events to this URL.");
    await expectAccessible(page);
    receiver.answer = { status: 204 };
    await press(page, "Ping", receiver.url);
    await expectToast(page, "status", /delivered\./);
    await expect(page.getByText("enabled", { exact: true }).first()).toBeVisible();
  });

  test("what a disabled webhook missed is named, and sent once it is enabled and somebody asks", async ({
    connected: page,
    service,
    site,
    receiver,
    createWebhook,
  }) => {
    receiver.answer = { status: 410 };
    const { id } = await createWebhook();
    await ping(service, id);
    const report = () =>
      service.call("POST", `/api/site/${site.id}/deployment`, { status: "finished" });
    for (let count = 0; count < 2; count++) await report();
    const show = async (): Promise<Webhook> =>
      (await service.call("GET", `/api/site-webhook/${id}`)).json();
    await expect.poll(async () => (await show()).missed_deliveries).toBe(2);
    await page.goto(`${service.url}/webhooks/${id}`);
    const main = page.getByRole("main");
    await expect(main).toContainText("2 deliveries missed while disabled.");
    const send = page.getByRole("button", { name: "Send missed deliveries" });
    await expect(send).toHaveAttribute("aria-disabled", "true");
    await expectAccessibleInBoth(page);
    await expectNoSidewaysScroll(page);

    receiver.answer = { status: 204 };
    await press(page, "Ping", receiver.url);
    await expect(send).not.toHaveAttribute("aria-disabled", "true");
    await send.click();
    await expectToast(page, "status", /^Sending 2 deliveries to /);
    await expect.poll(() => receiver.received.length).toBe(4);
    await expect(send).toBeHidden();
  });

  test("a pause that the receiver asks for is shown", async ({
    connected: page,
    service,
    receiver,
    createWebhook,
  }) => {
    receiver.answer = broken;
    const { id } = await createWebhook();
    await ping(service, id);
    await page.goto(`${service.url}/webhooks/${id}`);
    await expect(page.getByText(/paused by the receiver, next attempt in \d+ min/)).toBeVisible();
    await expect(page.getByText("Paused until")).toBeVisible();
  });

  test("deliveries are paged, and the page and the open one are in the address", async ({
    connected: page,
    service,
    receiver,
    createWebhook,
  }) => {
    const { id } = await createWebhook();
    for (let count = 0; count < 21; count++)
      await service.call("POST", `/api/site-webhook/${id}/ping`);
    await expect.poll(() => receiver.received.length, { timeout: 15_000 }).toBe(21);
    await page.goto(`${service.url}/webhooks/${id}`);
    const rows = page.getByRole("table", { name: "Deliveries" }).getByRole("row");
    await expect(rows).toHaveCount(21);
    // Down in the list, what opens and closes does not take the row away.
    const row = rows.nth(12).getByRole("link");
    await page.evaluate(() => scrollTo(0, 300));
    const topOf = async () => Math.round((await row.boundingBox())?.y ?? 0);
    const before = await topOf();
    await row.click();
    const heading = page.getByRole("heading", { name: /^Delivery \d+$/ });
    await expect(heading).toBeFocused();
    await expect(heading).toBeInViewport();
    expect(await topOf()).toBe(before);
    await page.getByRole("link", { name: "Close delivery" }).click();
    await expect(row).toBeFocused();
    expect(await topOf()).toBe(before);
    await page.getByRole("link", { name: "Next" }).click();
    await expect(page).toHaveURL(/\?page=2$/);
    await expect(rows).toHaveCount(2);
    await rows.last().getByRole("link").click();
    await expect(page).toHaveURL(/\?page=2&delivery=\d+$/);
    await page.reload();
    await expect(rows).toHaveCount(2);
    await expect(heading).toBeVisible();
  });

  test("a delivery of another webhook is not shown as one of this", async ({
    connected: page,
    service,
    createWebhook,
  }) => {
    const other = await createWebhook();
    const delivery = await ping(service, other.id);
    const { id } = await createWebhook();
    await page.goto(`${service.url}/webhooks/${id}?delivery=${delivery.id}`);
    await expect(page.getByText("Delivery not found.")).toBeVisible();
    await expect(page.getByRole("main")).not.toContainText(delivery.message_id);
    await expectAccessible(page);
  });

  test("deleting from there leads back to the list, and nothing is left", async ({
    connected: page,
    service,
    site,
    receiver,
    createWebhook,
  }) => {
    const { id } = await createWebhook();
    await ping(service, id);
    await page.goto(`${service.url}/webhooks/${id}`);
    await press(page, "Delete", receiver.url);
    const dialog = page.getByRole("alertdialog");
    await expect(dialog).toContainText(receiver.url);
    await expect(dialog).toContainText("history");
    await dialog.getByRole("button", { name: "Delete webhook" }).click();
    await expectToast(page, "status", /^Webhook .* deleted\.$/);
    await expect(page).toHaveURL(`${service.url}/sites/${site.id}/webhooks`);
    await expect(page.getByText("No webhooks yet")).toBeVisible();
    expect((await service.call("GET", `/api/site-webhook/${id}`)).status).toBe(404);
  });
});

test.describe("the list", () => {
  test("deletes what the question names, and keeps it when the answer is no", async ({
    connected: page,
    service,
    site,
    receiver,
    createWebhook,
  }) => {
    const { id } = await createWebhook();
    await page.goto(`${service.url}/sites/${site.id}/webhooks`);
    await press(page, "Delete", receiver.url);
    await expect(page.getByRole("alertdialog")).toContainText(receiver.url);
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    await expect(page.getByRole("alertdialog")).toBeHidden();
    await expect(page.getByRole("button", { name: `Delete: ${receiver.url}` })).toBeFocused();
    expect((await service.call("GET", `/api/site-webhook/${id}`)).status).toBe(200);
    await press(page, "Delete", receiver.url);
    await page.getByRole("button", { name: "Delete webhook" }).click();
    await expect(webhookRow(page, receiver.url)).toBeHidden();
    expect((await service.call("GET", `/api/site-webhook/${id}`)).status).toBe(404);
  });

  test("what came of the last delivery is a link to it", async ({
    connected: page,
    service,
    site,
    receiver,
    createWebhook,
  }) => {
    receiver.answer = broken;
    const { id } = await createWebhook();
    const delivery = await ping(service, id);
    await page.goto(`${service.url}/sites/${site.id}/webhooks`);
    await page.getByRole("link", { name: "Ping, retrying" }).click();
    await expect(page).toHaveURL(`${service.url}/webhooks/${id}?delivery=${delivery.id}`);
    await expect(page.getByRole("figure", { name: "Response body" })).toHaveText("disk full");
  });
});

test("every page is accessible and fits 360 px, light and dark", async ({
  connected: page,
  service,
  site,
  receiver,
  createWebhook,
}) => {
  test.slow();
  await page.setViewportSize({ width: 360, height: 740 });
  receiver.url += `/${"a-rather-long-part-of-a-path/".repeat(20)}`;
  receiver.answer = broken;
  const { id } = await createWebhook();
  const delivery = await ping(service, id);
  for (const path of [
    `/sites/${site.id}/webhooks`,
    newPage(site),
    `/webhooks/${id}`,
    `/webhooks/${id}?delivery=${delivery.id}`,
  ]) {
    await page.goto(service.url + path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expectNoSidewaysScroll(page);
    await expectAccessibleInBoth(page);
  }
  await page.goto(service.url + newPage(site));
  await page.getByLabel("URL").fill(receiver.url);
  await page.getByRole("button", { name: "Create webhook" }).click();
  await expect(page.getByRole("figure", { name: "Verify signatures" })).toBeVisible();
  await expectNoSidewaysScroll(page);
  await expectAccessibleInBoth(page);
});
