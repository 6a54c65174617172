import { expect } from "./fixtures.ts";
import { expectAccessible, expectRow, expectToast } from "./helpers.ts";
import { broken, ping, press, test } from "./webhook-receiver.ts";

test.describe("a webhook's page", () => {
  test("shows request, response and next attempt of a failed delivery, which is sent again once the receiver is fixed", async ({
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
    // A search text cannot contain NUL, so the page ignores this one.
    await page.goto(`${service.url}/webhooks/${id}?q=%00`);
    await expect(page.getByText("No deliveries yet")).toBeVisible();
    await page.goto(`${service.url}/webhooks/${id}`);
    await press(page, "Ping", receiver.url);
    await expectToast(page, "alert", /Ping to .* failed\./);
    const row = page.getByRole("row").filter({ hasText: "webhook.ping" });
    await expectRow(row, "retrying", "500", "1", "Receiver returned 500.");
    await expect(row).toContainText(/in (9|10) minutes/);
    await expect(page.getByRole("main")).toContainText("Failing for");

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
    // The open attempt stays open when another one arrives.
    await expect(page.getByRole("figure", { name: "Response body" })).toHaveText("disk full");
    await expect(main).not.toContainText("Failing for");
    expect(receiver.received[1]?.headers["webhook-id"]).toBe(sent.headers["webhook-id"]);
    expect(receiver.received[1]?.body).toBe(sent.body);

    await page.getByRole("link", { name: "Close delivery" }).press("Enter");
    await expect(heading).toBeHidden();
    await expect(link).toBeFocused();
  });

  test("shows no outcome of a pending ping, which cannot be sent again @long", async ({
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
    // Releases the response before the service's timeout.
    release();
    await expectToast(page, "status", /Ping to .* delivered\./);
    await expect(redeliver).toBeEnabled();
    await expect(page.getByText("Empty body.")).toBeVisible();
  });

  test("pages deliveries, with the page and the open delivery in the URL @long", async ({
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
    // Opening and closing a delivery does not move its row, even further down the list.
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

  test("does not show a delivery of another webhook @long", async ({
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
});
