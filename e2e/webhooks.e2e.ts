import type { Page } from "@playwright/test";
import { Webhook as Verifier } from "standardwebhooks";
import { expect, type Site } from "./fixtures.ts";
import {
  connectAs,
  createReadingToken,
  expectAccessible,
  expectAccessibleInBoth,
  expectNoSidewaysScroll,
  expectRow,
  expectToast,
} from "./helpers.ts";
import { broken, kept, ping, press, shownSecret, test, webhookRow } from "./webhook-receiver.ts";

const newPage = ({ id }: Site) => `/sites/${id}/webhooks/new`;

async function createOnPage(page: Page, formUrl: string, url: string): Promise<void> {
  await page.goto(formUrl);
  await page.getByLabel("URL").fill(url);
  await page.getByRole("button", { name: "Create webhook" }).click();
}

test("creates a webhook, copies its secret, pings it, and a real receiver verifies the request", async ({
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
  await page.getByRole("button", { name: "Create webhook" }).click();

  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Webhook created");
  await expect(page.getByRole("heading", { level: 1 })).toBeFocused();
  const secret = await shownSecret(page);
  expect(Buffer.from(secret.replace("whsec_", ""), "base64")).toHaveLength(32);
  for (const label of ["Node.js", "PHP", "Python"]) {
    await page.getByLabel("Language").selectOption({ label });
    await expect(page.getByRole("figure", { name: "Verify signatures" })).toContainText(
      "WEBHOOK_SECRET",
    );
  }
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

  // The secret was copied, so leaving the page asks nothing.
  await page.getByRole("link", { name: "Open webhook" }).click();
  await expect(page.getByRole("heading", { name: /^Webhook \d+$/ })).toBeVisible();
  await page.goBack();
  const row = webhookRow(page, receiver.url);
  await expectRow(row, "enabled", "delivered", "Ping", "204");
  await row.getByRole("link", { name: receiver.url }).click();
  // Waits for the page, because the list contains the word, too, once for each width.
  await expect(page.getByRole("heading", { name: /^Webhook \d+$/ })).toBeVisible();
  await expect(page.getByText("delivered", { exact: true })).toBeVisible();
  expect(await page.content()).not.toContain(secret);
});

test.describe("the form", () => {
  test("shows an invalid URL at its field, and sends nothing @long", async ({
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

  test("shows an address that the service refuses at its field, too @long", async ({
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

  test("a read-only token neither creates, pings, rotates nor deletes, and sees why @long", async ({
    connected: page,
    service,
    site,
    receiver,
    createWebhook,
  }) => {
    const { id } = await createWebhook();
    await connectAs(page, service.url, await createReadingToken(service));
    await page.goto(service.url + newPage(site));
    const reason = "This token can only read.";
    const create = page.getByRole("button", { name: "Create webhook" });
    await expect(create).toHaveAccessibleDescription(reason);
    await expectAccessible(page);

    await page.goto(`${service.url}/webhooks/${id}`);
    for (const action of ["Ping", "Rotate secret", "Delete"]) {
      const button = page.getByRole("button", { name: `${action}: ${receiver.url}` });
      await expect(button).toHaveAttribute("aria-disabled", "true");
      await expect(button).toHaveAccessibleDescription(reason);
    }
    const list = await service.call("GET", `/api/site/${site.id}/webhooks`);
    expect(await list.json()).toMatchObject({ data: [{ id, last_delivery: null }] });
    expect(receiver.received).toEqual([]);
  });

  test("asks before a secret that was not stored is lost, and not once it is stored @long", async ({
    connected: page,
    service,
    site,
    receiver,
  }) => {
    await createOnPage(page, service.url + newPage(site), receiver.url);
    const secret = await shownSecret(page);
    await page.getByRole("link", { name: "Open webhook" }).click();
    await expect(page.getByRole("alertdialog")).toContainText("Leave without the secret?");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Stay" }).click();
    await expect(page.getByText(secret)).toBeVisible();
    await page.getByLabel("I have stored the secret").check();
    await page.getByRole("link", { name: "Open webhook" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(/^Webhook \d+$/);
    await page.goBack();
    // The webhook has replaced its form, which was the first page.
    await expect(page).toHaveURL(`${service.url}/healthz`);
    await expect(page.getByText(secret)).toBeHidden();
  });
});

test.describe("the list", () => {
  test("deletes the named webhook, and keeps it when the confirmation is canceled", async ({
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

  test("links to the last delivery by its outcome @long", async ({
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

test("every page is accessible and fits 360 px, light and dark @long", async ({
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
  await createOnPage(page, service.url + newPage(site), receiver.url);
  await expect(page.getByRole("figure", { name: "Verify signatures" })).toBeVisible();
  await expectNoSidewaysScroll(page);
  await expectAccessibleInBoth(page);
});
