// Tests what tabs of one browser share: their session, until it ends, and nothing across services.
import type { Page } from "@playwright/test";
import { serviceToken } from "../server/testing/service-process.ts";
import { expect, test } from "./fixtures.ts";
import { connectAs, expectAccessible, listPollMs, makeToken } from "./helpers.ts";

const refused = /401 \(Unauthorized\)/;
const connectPage = (page: Page) => page.getByRole("heading", { name: "Connect" });
const workers = (page: Page) => page.getByRole("heading", { name: "Workers" });

/** Waits until the page answers other tabs, which it does once it has loaded. */
const settle = (page: Page) =>
  expect(page.getByRole("log", { name: "Changes" })).toBeAttached({ timeout: 15_000 });

test("a new tab is connected, and nothing more is stored than before @long", async ({
  connected: page,
  context,
  service,
  site,
}) => {
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await settle(page);
  const other = await context.newPage();
  await other.goto(`${service.url}/sites/${site.id}/workers`);
  await expect(workers(other)).toBeVisible();
  await expect(other).toHaveURL(`${service.url}/sites/${site.id}/workers`);
  expect(await other.evaluate(() => JSON.stringify(localStorage))).not.toContain(serviceToken);
  await page.close();
  await other.reload();
  await expect(workers(other)).toBeVisible();
});

test("disconnecting in one tab disconnects all, and the next tab, too", async ({
  connected: page,
  context,
  service,
}) => {
  await page.goto(`${service.url}/settings`);
  await settle(page);
  const other = await context.newPage();
  await other.goto(`${service.url}/activity`);
  await expect(other.getByRole("heading", { name: "Activity", level: 1 })).toBeVisible();
  await settle(other);
  expect(await other.evaluate(() => JSON.stringify(localStorage))).not.toContain(serviceToken);
  await page.getByRole("main").getByRole("button", { name: "Disconnect" }).click();
  await expect(connectPage(page)).toBeVisible();
  await expect(page.getByText("You disconnected in another tab.")).toBeHidden();
  await expect(other.getByText("You disconnected in another tab.")).toBeVisible();
  for (const tab of [page, other])
    expect(await tab.evaluate(() => JSON.stringify([sessionStorage, localStorage]))).not.toContain(
      serviceToken,
    );
  const third = await context.newPage();
  await third.goto(service.url);
  await expect(connectPage(third)).toBeVisible();
});

test("a token revoked while two tabs are open is reported in both, and both return to their pages", async ({
  page,
  context,
  service,
  site,
  expected,
}) => {
  expected.push(refused);
  await context.clock.install();
  const { id, token } = await makeToken(service);
  await connectAs(page, service.url, token);
  await page.goto(`${service.url}/sites/${site.id}/workers?page=1`);
  await expect(workers(page)).toBeVisible();
  await settle(page);
  const other = await context.newPage();
  await other.goto(`${service.url}/sites/${site.id}/webhooks`);
  await expect(other.getByRole("heading", { name: "Webhooks" })).toBeVisible();
  await settle(other);

  await service.call("DELETE", `/api/token/${id}`);
  await context.clock.runFor(listPollMs);
  for (const tab of [page, other]) {
    await expect(connectPage(tab)).toBeVisible({ timeout: 20_000 });
    await expect(tab.getByRole("alert")).toContainText("Your token was revoked, or");
    await expect(tab).toHaveURL(/from=/);
  }
  await expectAccessible(page);
  await page.getByLabel("Token").fill(serviceToken);
  await page.getByRole("button", { name: "Connect" }).click();
  await expect(page).toHaveURL(`${service.url}/sites/${site.id}/workers?page=1`);
  await expect(workers(page)).toBeVisible();
  await expect(other.getByRole("heading", { name: "Webhooks" })).toBeVisible();
  await expect(other).toHaveURL(`${service.url}/sites/${site.id}/webhooks`);
});

test("reports a token that expires while the page is open as expired @long", async ({
  page,
  service,
  site,
  expected,
}) => {
  expected.push(refused);
  const expiresAt = new Date(Date.now() + 8_000).toISOString().replace("Z", "000Z");
  const { token } = await makeToken(service, { expires_at: expiresAt });
  await connectAs(page, service.url, token);
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await expect(workers(page)).toBeVisible();
  await expect(page.getByRole("alert")).toContainText("Your token has expired.", {
    timeout: 30_000,
  });
  await expect(page).toHaveURL(/from=%2Fsites/);
});

/** Connects a tab to the same service under another host name, which is another origin for the browser. */
async function connectElsewhere(page: Page, url: string): Promise<string> {
  const elsewhere = url.replace("localhost", "127.0.0.1");
  await page.goto(`${url}/connect`);
  await page.getByLabel("Token").fill(serviceToken);
  await page.getByLabel("Address").fill(elsewhere);
  await page.getByRole("button", { name: "Connect" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await settle(page);
  return elsewhere;
}

test("sends another service's token only to that service's address", async ({
  page,
  context,
  service,
}) => {
  const elsewhere = await connectElsewhere(page, service.url);
  const asked: string[] = [];
  context.on("request", (request) => {
    if (request.headers()["authorization"] !== undefined) asked.push(request.url());
  });
  const other = await context.newPage();
  await other.goto(`${service.url}/activity`);
  await expect(other.getByRole("heading", { name: "Activity", level: 1 })).toBeVisible();
  expect(asked.length).toBeGreaterThan(0);
  expect(asked.filter((url) => !url.startsWith(elsewhere))).toEqual([]);
});

test("a tab that is connected to another service does not affect the others @long", async ({
  page,
  context,
  service,
}) => {
  await connectElsewhere(page, service.url);
  const other = await context.newPage();
  await other.goto(`${service.url}/activity`);
  await expect(other.getByRole("heading", { name: "Activity", level: 1 })).toBeVisible();

  // Opening the connect page directly does not take over the session of the other tabs.
  const third = await context.newPage();
  await third.goto(`${service.url}/connect`);
  await expect(connectPage(third)).toBeVisible();
  await third.getByLabel("Token").fill(serviceToken);
  await third.getByRole("button", { name: "Connect" }).click();
  await expect(third.getByRole("heading", { name: "Servers" }).first()).toBeVisible();
  await settle(third);
  await third.goto(`${service.url}/settings`);
  await third.getByRole("main").getByRole("button", { name: "Disconnect" }).click();
  await expect(connectPage(third)).toBeVisible();
  // The other tabs are connected to another service, and stay connected.
  await page.reload();
  await expect(connectPage(page)).toBeHidden();
  await expect(other.getByRole("heading", { name: "Activity", level: 1 })).toBeVisible();
});

test("an invalid link in a new tab uses the session of the other one, and shows that the link is invalid @long", async ({
  connected: page,
  context,
  service,
  expected,
}) => {
  expected.push(refused);
  await page.goto(`${service.url}/activity`);
  await settle(page);
  const other = await context.newPage();
  await other.goto(`${service.url}/settings#token=nonsense`);
  await expect(other.getByRole("heading", { name: "Settings", level: 1 })).toBeVisible();
  await expect(
    other.getByRole("alert").filter({ hasText: "Couldn't sign in with the link." }),
  ).toContainText("You are still signed in.");
  await page.reload();
  await expect(page.getByRole("heading", { name: "Activity", level: 1 })).toBeVisible();
});
