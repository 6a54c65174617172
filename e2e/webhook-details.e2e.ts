import { Webhook as Verifier } from "standardwebhooks";
import type { Webhook } from "../contract/webhooks/webhook.ts";
import { expect } from "./fixtures.ts";
import {
  expectAccessible,
  expectAccessibleInBoth,
  expectNoSidewaysScroll,
  expectRow,
  expectToast,
} from "./helpers.ts";
import { broken, kept, ping, press, shownSecret, test, webhookRow } from "./webhook-receiver.ts";

test.describe("a webhook's page", () => {
  test("shows a new secret once, and signs with both until the receiver has switched", async ({
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
    const secret = await shownSecret(page);
    expect(secret).not.toBe(old);
    await expect(page.getByRole("heading", { name: "New signing secret" })).toBeFocused();
    expect(await kept(page)).not.toContain(secret);
    await expectAccessible(page);
    await expect(page.getByText("Previous secret expires")).toBeVisible();

    const hide = page.getByRole("button", { name: "Hide secret" });
    await expect(hide).toHaveAccessibleDescription(/not shown again/);
    await page.getByRole("link", { name: "Overview" }).first().click();
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

  test("a receiver that unsubscribes (410 Gone) disables the webhook, and one that accepts a ping enables it @long", async ({
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

  test("lists what a disabled webhook missed, and sends it on request once it is enabled @long", async ({
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
    await expect(main).toContainText("2 deliveries missed while disabled or paused.");
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

  test("shows a pause that the receiver asked for @long", async ({
    connected: page,
    service,
    receiver,
    createWebhook,
  }) => {
    receiver.answer = broken;
    const { id } = await createWebhook();
    await ping(service, id);
    await page.goto(`${service.url}/webhooks/${id}`);
    await expect(page.getByText(/Receiver asked to wait, next attempt in \d+ min/)).toBeVisible();
    await expect(page.getByText("Receiver's wait ends")).toBeVisible();
  });

  test("deleting a webhook returns to the list @long", async ({
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
