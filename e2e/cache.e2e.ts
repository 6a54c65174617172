// Tests the cache: a visited page shows its last data at once, also after a reload, and only to the token that read it.
import type { Page } from "@playwright/test";
import type { NewToken } from "../contract/tokens.ts";
import { expect } from "./fixtures.ts";
import { connectAs, expectAccessible } from "./helpers.ts";
import { test } from "./installation.ts";

// Each row contains the state twice, for wide and for narrow screens.
const state = (page: Page) =>
  page.getByRole("table").getByText("installed", { exact: true }).filter({ visible: true });
const isMarked = (page: Page) =>
  page.evaluate(() => "lastKnown" in document.documentElement.dataset);
const kept = (page: Page) => page.evaluate(() => sessionStorage.getItem("quarterdeck.cache"));
const settle = (page: Page) =>
  expect(page.getByRole("log", { name: "Changes" })).toBeAttached({ timeout: 15_000 });

test("shows a page's cached data after a load, marked as old until it is fetched again", async ({
  page,
  site,
  installation,
}) => {
  await site.createWorker({ startsecs: 0 });
  await connectAs(page, installation.url);
  await page.goto(`${installation.url}/sites/${site.id}/workers`);
  await expect(state(page)).toBeVisible();
  await settle(page);
  const release = installation.hold();
  // Makes data that was read a minute ago stale.
  await page.addInitScript(() => {
    const now = Date.now;
    Date.now = () => now() + 60_000;
  });
  await page.reload();
  await expect(state(page)).toBeVisible();
  expect(await isMarked(page)).toBe(true);
  await expect(page.getByText(/Showing the state of \d\d:\d\d. Updating…/)).toBeVisible();
  await expectAccessible(page);
  release();
  await expect.poll(() => isMarked(page)).toBe(false);
  await expect(state(page)).toBeVisible();
  await expect(page.getByText(/Showing the state of/)).toBeHidden();
});

test("shows no cached data to another token, and removes it when the session ends", async ({
  page,
  site,
  service,
  installation,
}) => {
  await site.createWorker({ startsecs: 0 });
  const answer = await service.call("POST", "/api/tokens", { name: "other", abilities: ["*"] });
  const other: NewToken = await answer.json();
  await connectAs(page, installation.url);
  await page.goto(`${installation.url}/sites/${site.id}/workers`);
  await expect(state(page)).toBeVisible();
  await settle(page);
  await page.reload();
  await expect(state(page)).toBeVisible();
  expect(await kept(page)).toContain(site.name);

  // Replaces the first token directly in the storage, which no page does.
  await page.evaluate(
    (token) =>
      sessionStorage.setItem("quarterdeck.session", JSON.stringify({ address: "", token })),
    other.token,
  );
  const release = installation.hold();
  await page.reload();
  await page.waitForLoadState("load");
  await expect(page.getByRole("navigation").first()).toBeVisible();
  await expect(state(page)).toBeHidden();
  await expect(page.getByText(site.name)).toHaveCount(0);
  release();
  await expect(state(page)).toBeVisible();
  await page.goto(`${installation.url}/settings`);
  await page.getByRole("main").getByRole("button", { name: "Disconnect" }).click();
  await expect(page.getByRole("heading", { name: "Connect" })).toBeVisible();
  expect(await kept(page)).toBeNull();
  await page.reload();
  expect(await kept(page)).toBeNull();
});

test("stores neither a signing secret nor a token that was shown", async ({
  connected: page,
  service,
  site,
}) => {
  await page.goto(`${service.url}/sites/${site.id}/webhooks/new`);
  await page.getByLabel("URL").fill("http://127.0.0.1:59998/hook");
  await page.getByRole("button", { name: "Create webhook" }).click();
  await expect(page.getByText("Signing secret, shown once")).toBeVisible();
  await settle(page);
  await page.evaluate(() => dispatchEvent(new Event("pagehide")));
  expect(await kept(page)).toContain(site.name);
  expect(await page.evaluate(() => JSON.stringify([sessionStorage, localStorage]))).not.toMatch(
    /whsec_/,
  );
});

test("shows a visited page from the cache while the service does not respond, at its scroll position @long", async ({
  page,
  site,
  installation,
}) => {
  for (let count = 0; count < 12; count++) await site.createWorker({ startsecs: 0 });
  await page.setViewportSize({ width: 1000, height: 400 });
  await connectAs(page, installation.url);
  await page.goto(`${installation.url}/sites/${site.id}/workers?per_page=12`);
  await expect(state(page).last()).toBeVisible();
  await settle(page);
  await page.evaluate(() => scrollTo(0, 300));
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(300);
  // Playwright's `click` may scroll first, even to an element that is in view.
  await page.getByRole("link", { name: "Settings" }).first().dispatchEvent("click");
  await expect(page.getByRole("heading", { name: "Settings", level: 1 })).toBeVisible();
  const release = installation.hold();
  await page.goBack();
  await expect(page.getByRole("heading", { name: "Workers", level: 1 })).toBeAttached();
  await expect(page).toHaveURL(/per_page=12/);
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(300);
  // The same holds after a reload.
  await page.reload();
  await expect(state(page).last()).toBeAttached();
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(300);
  release();
  // A typed URL opens its page at the top.
  await page.goto(`${installation.url}/settings`);
  await expect(page.getByRole("button", { name: "Check installation" })).toBeAttached();
  await settle(page);
  expect(await page.evaluate(() => scrollY)).toBe(0);
});
