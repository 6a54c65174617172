// The side navigation: servers and sites as a tree with one tab stop.
import type { Page } from "@playwright/test";
import { ownUser } from "../server/testing/own-user.ts";
import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./helpers.ts";

const nav = (page: Page) => page.getByRole("navigation", { name: "Main" });
const place = (page: Page, name: string) => nav(page).getByRole("link", { name, exact: true });

/** Adds a server with more sites than are shown without a filter. */
const testMany = test.extend<{ many: { server: string; sites: string[] } }>({
  many: async ({ service }, provide) => {
    const number = service.nextSiteId();
    const server = `a-server-with-a-rather-long-name-${number}`;
    const sites = Array.from(
      { length: 12 },
      (_, index) => `customer-${index}-${number}.example.com`,
    );
    await service.changeInventory((inventory) => {
      inventory.servers.push(`{ id: ${number + 5000}, name: ${server}, connection: local }`);
      for (const [index, name] of sites.entries())
        inventory.sites.push(
          `{ id: ${number * 100 + 50_000 + index}, server: ${number + 5000}, name: ${name}, root: ${service.folder}, user: ${ownUser} }`,
        );
    });
    await expect
      .poll(async () => (await service.call("GET", `/api/server/${number + 5000}`)).status)
      .toBe(200);
    await provide({ server, sites });
  },
});

testMany(
  "servers are collapsed, and are expanded and navigated by the arrow keys",
  async ({ connected: page, service, many }) => {
    await page.goto(service.url);
    const server = place(page, many.server);
    const first = place(page, many.sites[0] ?? "");
    await expect(server).toHaveAttribute("aria-expanded", "false");
    await expect(first).toHaveCount(0);

    await nav(page).getByLabel("Filter navigation").focus();
    await page.keyboard.press("Tab");
    await expect(place(page, "web-1")).toBeFocused();
    await page.keyboard.press("End");
    await expect(server).toBeFocused();
    await page.keyboard.press("ArrowRight");
    await expect(server).toHaveAttribute("aria-expanded", "true");
    await page.keyboard.press("ArrowRight");
    await expect(first).toBeFocused();
    await page.keyboard.press("ArrowDown");
    await expect(place(page, many.sites[1] ?? "")).toBeFocused();
    await expectAccessible(page);

    // The tree is one tab stop: the next one is after the tree.
    await page.keyboard.press("Tab");
    await expect(nav(page).locator("ul :focus")).toHaveCount(0);
    await page.keyboard.press("Shift+Tab");
    await expect(place(page, many.sites[1] ?? "")).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Workers");
    await expect(place(page, many.sites[1] ?? "")).toHaveAttribute("aria-current", "true");

    await server.focus();
    await page.keyboard.press("ArrowLeft");
    await expect(first).toHaveCount(0);
  },
);

testMany(
  "expands the server of the current page, and another one by a button @long",
  async ({ connected: page, service, site, many }) => {
    await page.goto(`${service.url}/sites/${site.id}/workers`);
    await expect(place(page, site.name)).toHaveAttribute("aria-current", "true");
    await expect(place(page, many.sites[0] ?? "")).toHaveCount(0);
    await nav(page)
      .getByRole("button", { name: `Show sites of ${many.server}` })
      .click();
    await expect(place(page, many.sites[0] ?? "")).toBeVisible();
    await nav(page)
      .getByRole("button", { name: `Hide sites of ${many.server}` })
      .click();
    await expect(place(page, many.sites[0] ?? "")).toHaveCount(0);
  },
);

testMany(
  "filters sites of all servers, on a phone, too @long",
  async ({ connected: page, service, many }) => {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(service.url);
    await page.getByRole("button", { name: "Menu", exact: true }).click();
    const filter = nav(page).getByLabel("Filter navigation");
    await filter.fill("CUSTOMER-7-");
    await expect(place(page, many.sites[7] ?? "")).toBeVisible();
    await expect(place(page, "web-1")).toHaveCount(0);
    await expectAccessible(page);
    await filter.fill("nothing like it");
    await expect(nav(page)).toContainText("No results for “nothing like it”");
    await filter.fill(many.sites[7] ?? "");
    await place(page, many.sites[7] ?? "").click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Workers");
    await expect(nav(page)).toBeHidden();
  },
);

test("is neither rendered nor fetched on a narrow screen @long", async ({
  connected: page,
  service,
  site,
}) => {
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  // This chunk, which also requests the number of failures, never loads in this test.
  await page.route(/\/assets\/Overlays-/, () => {});
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(page.locator("nav[aria-label=Main]")).toHaveCount(0);
  expect(asked).not.toContain("/api/overview");
  await page.setViewportSize({ width: 1440, height: 900 });
  await expect(place(page, site.name)).toBeVisible();
  await page.setViewportSize({ width: 360, height: 740 });
  await page.getByRole("button", { name: "Menu" }).click();
  await expect(place(page, site.name)).toBeVisible();
});

test("shows the content of the menu at once, however busy the browser is @long", async ({
  connected: page,
  service,
  site,
}) => {
  await page.addInitScript(() => (globalThis.requestIdleCallback = () => 0));
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await page.getByRole("button", { name: "Menu", exact: true }).click();
  await expect(place(page, site.name)).toBeVisible();
});

test("can be scrolled completely in a low window, such as at 400 % zoom @long", async ({
  connected: page,
  service,
  site,
}) => {
  await page.setViewportSize({ width: 320, height: 256 });
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await page.getByRole("button", { name: "Menu", exact: true }).click();
  for (const link of [place(page, site.name), place(page, "Help")]) {
    await link.scrollIntoViewIfNeeded();
    await expect(link).toBeInViewport({ ratio: 1 });
  }
});

test("shows the page, and accepts clicks, when a tablet is rotated while the menu is open @long", async ({
  connected: page,
  service,
  site,
}) => {
  await page.setViewportSize({ width: 820, height: 1180 });
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await page.getByRole("button", { name: "Menu", exact: true }).click();
  await expect(page.getByRole("dialog", { name: "Menu" })).toBeVisible();
  await page.setViewportSize({ width: 1180, height: 820 });
  await page.getByRole("main").getByRole("link", { name: "Webhooks" }).click({ timeout: 30_000 });
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Webhooks");
});

test("Back closes the menu and the palette above the page @long", async ({
  connected: page,
  service,
  site,
}) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  const heading = page.getByRole("heading", { level: 1 });
  for (const [opener, dialog] of [
    ["Menu", "Menu"],
    ["Search", "Command palette"],
  ] as const) {
    await page.getByRole("main").getByRole("link", { name: "Webhooks" }).click();
    await expect(heading).toHaveText("Webhooks");
    await page.getByRole("button", { name: opener, exact: true }).click();
    await expect(page.getByRole("dialog", { name: dialog })).toBeVisible();
    await page.goBack();
    await expect(page.getByRole("dialog", { name: dialog })).toBeHidden();
    await expect(heading).toHaveText("Workers");
  }
});
