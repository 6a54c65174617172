import type { Page } from "../contract/paging.ts";
import type { DeliverySummary } from "../contract/webhooks/delivery.ts";
import type { Webhook } from "../contract/webhooks/webhook.ts";
import { expect } from "./fixtures.ts";
import {
  connectAs,
  createReadingToken,
  expectAccessibleInBoth,
  expectNoSidewaysScroll,
  expectRow,
  expectToast,
  openWithin,
} from "./helpers.ts";
import { broken, ping, press, test, webhookRow } from "./webhook-receiver.ts";

test("edits the description and events of a webhook in place, and delivers only those events", async ({
  connected: page,
  service,
  site,
  receiver,
  createWebhook,
}) => {
  const { id } = await createWebhook();
  await page.goto(`${service.url}/webhooks/${id}`);
  await page.getByRole("link", { name: "Edit" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(`Edit webhook ${id}`);
  // Fields that are not edited here keep the changes that others make meanwhile.
  const url = `${receiver.url}?by=somebody-else`;
  await service.call("PUT", `/api/site-webhook/${id}`, { url });
  await page.getByLabel("Description").fill("Billing, production");
  await page.getByLabel("Chosen events", { exact: true }).check();
  await page.getByRole("button", { name: "Save changes" }).click();
  await expect(page.getByText("Choose at least one event.")).toBeVisible();
  await page.getByLabel("Deployment failed").check();
  await expectAccessibleInBoth(page);
  await page.getByRole("button", { name: "Save changes" }).click();
  await expectToast(page, "status", "Webhook Billing, production saved.");
  await expect(page).toHaveURL(`${service.url}/webhooks/${id}`);
  await expect(page.getByRole("main")).toContainText("Deployment failed");
  await expect(page.getByRole("main")).toContainText(url);

  for (const status of ["finished", "failed"])
    await service.call("POST", `/api/site/${site.id}/deployment`, { status });
  await expect.poll(() => receiver.received.length).toBe(1);
  expect(receiver.received[0]?.body).toContain("site.deployment_failed");
  await openWithin(page, `/sites/${site.id}/webhooks`);
  await expectRow(webhookRow(page, url), "Billing, production", "Deployment failed");
});

test("shows a forbidden address at its field, and stores nothing @long", async ({
  connected: page,
  service,
  receiver,
  createWebhook,
  expected,
}) => {
  expected.push(/422/);
  const { id } = await createWebhook();
  await page.goto(`${service.url}/webhooks/${id}/edit`);
  await page.getByLabel("URL").fill("http://10.0.0.1/");
  await page.getByLabel("Description").fill("Not stored");
  await page.getByRole("button", { name: "Save changes" }).click();
  await expect(page.getByLabel("URL")).toHaveAccessibleDescription(/private address/);
  await expect(page.getByLabel("URL")).toBeFocused();
  const stored: Webhook = await (await service.call("GET", `/api/site-webhook/${id}`)).json();
  expect(stored).toMatchObject({ url: receiver.url, description: "" });
});

test("a pause stops deliveries and keeps missed ones until the webhook is enabled", async ({
  connected: page,
  service,
  site,
  receiver,
  createWebhook,
}) => {
  const { id } = await createWebhook();
  await page.goto(`${service.url}/webhooks/${id}`);
  await press(page, "Pause", receiver.url);
  await expectToast(page, "status", /^Webhook .* paused\.$/);
  await expect(page.getByText("paused", { exact: true }).first()).toBeVisible();
  await service.call("POST", `/api/site/${site.id}/deployment`, { status: "finished" });
  await expect(page.getByText("1 delivery missed while paused.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Send missed deliveries" })).toHaveAttribute(
    "aria-disabled",
    "true",
  );
  await expectAccessibleInBoth(page);
  expect(receiver.received).toEqual([]);
  await press(page, "Enable", receiver.url);
  await expectToast(page, "status", /^Webhook .* enabled\.$/);
  await page.getByRole("button", { name: "Send missed deliveries" }).click();
  await expect.poll(() => receiver.received.length).toBe(1);
});

test("shows a failing webhook as failing, and never as enabled @long", async ({
  connected: page,
  service,
  site,
  receiver,
  createWebhook,
}) => {
  receiver.answer = broken;
  const { id } = await createWebhook();
  await ping(service, id);
  await page.goto(`${service.url}/sites/${site.id}/webhooks`);
  const row = webhookRow(page, receiver.url);
  await expectRow(row, "failing");
  await expect(row).toContainText("Failing for");
  await expect(row.getByText("enabled", { exact: true })).toHaveCount(0);
  await page.goto(`${service.url}/webhooks/${id}`);
  await expect(page.getByText("failing", { exact: true }).first()).toBeVisible();
  await expect(page.getByRole("main")).toContainText("Failing for");
  await page.goto(`${service.url}/?show=undelivered`);
  const problem = page
    .getByRole("listitem")
    .filter({ has: page.locator(`a[href="/webhooks/${id}"]`) });
  await expect(problem).toContainText(/is failing.*Failing for \d+ (s|min)/);
  await page.keyboard.press("ControlOrMeta+k");
  await page.getByRole("combobox", { name: "Search names" }).fill(new URL(receiver.url).host);
  await expect(page.getByRole("option").filter({ hasText: "failing" }).first()).toBeVisible();
});

test("filters deliveries by status and event and finds them by id, all in the URL @long", async ({
  connected: page,
  service,
  site,
  receiver,
  createWebhook,
}) => {
  const { id } = await createWebhook();
  const list = async () => {
    const response = await service.call("GET", `/api/site-webhook/${id}/deliveries`);
    const { data }: Page<DeliverySummary> = await response.json();
    return data;
  };
  await service.call("POST", `/api/site/${site.id}/deployment`, { status: "finished" });
  await expect.poll(async () => (await list())[0]?.status).toBe("delivered");
  receiver.answer = { status: 410 };
  await service.call("POST", `/api/site/${site.id}/deployment`, { status: "failed" });
  await expect.poll(async () => (await list())[0]?.status).toBe("failed");

  await page.goto(`${service.url}/webhooks/${id}`);
  const rows = page.getByRole("table", { name: "Deliveries" }).getByRole("row");
  await expect(rows).toHaveCount(3);
  await page.getByLabel("Status", { exact: true }).selectOption({ label: "failed (1)" });
  await expect(rows).toHaveCount(2);
  await expect(page).toHaveURL(/\?status=failed$/);
  await page.getByLabel("Event", { exact: true }).selectOption("site.deployed");
  await expect(page.getByText("No deliveries match the selected filters.")).toBeVisible();
  await page.getByRole("link", { name: "Clear filters" }).first().click();
  await expect(rows).not.toHaveCount(0);
  await expect(page.getByRole("heading", { level: 1 })).toBeFocused();
  const [, delivered] = await list();
  const search = page.getByLabel("Delivery or message id");
  // Clearing a search that was typed but not submitted changes nothing else.
  await page.goto(`${service.url}/webhooks/${id}?delivery=${delivered?.id}`);
  await search.fill("x");
  await search.fill("");
  await expect(page.getByRole("heading", { name: `Delivery ${delivered?.id}` })).toBeVisible();
  await expect(page).toHaveURL(/\?delivery=/);
  await search.fill(`delivery ${delivered?.id}`);
  await search.press("Enter");
  await expect(page).toHaveURL(/\?q=/);
  await page.goBack();
  await expect(search, "what is searched for no more").toHaveValue("");
  await page.goForward();
  await page.reload();
  await expect(search).toHaveValue(`delivery ${delivered?.id}`);
  await expect(rows).toHaveCount(2);
  await page.setViewportSize({ width: 360, height: 740 });
  await expectNoSidewaysScroll(page);
  await expectAccessibleInBoth(page);
  await page.setViewportSize({ width: 1280, height: 800 });

  // Disabled while the receiver is unsubscribed; once the webhook is enabled, all failed deliveries are sent at once.
  const resend = page.getByRole("button", { name: "Resend failed" });
  await page.getByRole("link", { name: "Clear filters" }).click();
  await expect(resend).toHaveAttribute("aria-disabled", "true");
  receiver.answer = { status: 204 };
  await press(page, "Enable", receiver.url);
  await expect(resend).not.toHaveAttribute("aria-disabled", "true");
  await resend.click();
  const dialog = page.getByRole("alertdialog");
  await dialog.getByLabel("Since 24 hours ago").check();
  await dialog.getByRole("button", { name: "Resend" }).click();
  await expectToast(page, "status", /^Sending 1 delivery to /);
  await expect(resend).toBeHidden();
  await expect.poll(() => receiver.received.length).toBe(3);
});

test("a read-only token changes nothing, and sees why @long", async ({
  connected: page,
  service,
  receiver,
  createWebhook,
}) => {
  const { id } = await createWebhook();
  await connectAs(page, service.url, await createReadingToken(service));
  await page.goto(`${service.url}/webhooks/${id}`);
  const pause = page.getByRole("button", { name: `Pause: ${receiver.url}` });
  await expect(pause).toHaveAttribute("aria-disabled", "true");
  await expect(page.getByRole("link", { name: "Edit" })).toHaveAttribute("aria-disabled", "true");
});
