import type { Page } from "@playwright/test";
import { isLongForm } from "../server/testing/long-form.ts";
import { serviceToken } from "../server/testing/service-process.ts";
import { expect, test } from "./fixtures.ts";
import {
  connectAs,
  expectAccessible,
  expectAccessibleInBoth,
  expectNoSidewaysScroll,
  makeToken,
  openWithin,
  resizeWindow,
} from "./helpers.ts";

const refused = /401 \(Unauthorized\)/;

/** Expects the overview, with its status and its list of servers. */
async function expectOverview(page: Page): Promise<void> {
  const main = page.getByRole("main");
  await expect(main.getByRole("link", { name: /^Protected/ })).toBeVisible();
  await expect(
    main.getByRole("region", { name: "Servers" }).getByText("web-1", { exact: true }),
  ).toBeVisible();
}

test("without a token every page redirects to the connect page, and back after connecting", async ({
  page,
  service,
  site,
}) => {
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await expect(page.getByRole("heading", { name: "Connect" })).toBeVisible();
  await expectAccessibleInBoth(page);
  await resizeWindow(page, 360, 740);
  await expectNoSidewaysScroll(page);
  await page.getByLabel("Token").fill(serviceToken);
  await page.getByRole("button", { name: "Connect" }).click();
  await expect(page.getByRole("heading", { name: "Workers" })).toBeVisible();
  await expect(page).toHaveURL(`${service.url}/sites/${site.id}/workers`);
});

test("shows a wrong token at its field and stores nothing", async ({ page, service, expected }) => {
  expected.push(refused);
  await page.goto(`${service.url}/connect`);
  await page.getByLabel("Token").fill("not the right token at all, whatever");
  await page.getByRole("button", { name: "Connect" }).click();
  await expect(page.getByText("The token isn't valid.")).toBeVisible();
  await expect(page.getByLabel("Token")).toHaveAccessibleDescription(/The token isn't valid\./);
  await expect(page.getByLabel("Token")).toBeFocused();
  expect(await page.evaluate(() => sessionStorage.length + localStorage.length)).toBe(0);
});

test("shows an address that does not respond at its field @long", async ({
  page,
  service,
  expected,
}) => {
  expected.push(/ERR_CONNECTION_REFUSED/);
  await page.goto(`${service.url}/connect`);
  await page.getByLabel("Token").fill(serviceToken);
  await page.getByLabel("Address").fill("http://127.0.0.1:59999");
  await page.getByRole("button", { name: "Connect" }).click();
  await expect(page.getByText("Couldn't reach the service.")).toBeVisible();
});

test("connects to another service's address from here, too @long", async ({
  page,
  service,
  site: _site,
}) => {
  await page.goto(`${service.url}/connect`);
  await page.getByLabel("Token").fill(serviceToken);
  // For the browser, the same service under another host name is another origin.
  await page.getByLabel("Address").fill(service.url.replace("localhost", "127.0.0.1"));
  await page.getByRole("button", { name: "Connect" }).click();
  await expect(page.getByRole("main").getByRole("link", { name: /^Protected/ })).toBeVisible();
});

test("the link of the first start connects at once, and its token is removed from the URL", async ({
  page,
  service,
  site: _site,
}) => {
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(`${service.url}/#token=${encodeURIComponent(serviceToken)}`);
  await expectOverview(page);
  await expect(page).toHaveURL(`${service.url}/`);
  expect(asked.filter((url) => url.includes("token="))).toEqual([]);

  await expect(page.getByText("Connected until you close the last tab.")).toBeVisible();
  await page.getByRole("button", { name: "Remember on this device" }).click();
  await expect(page.getByText("Connected until you close the last tab.")).toBeHidden();
  const other = await page.context().newPage();
  await other.goto(service.url);
  await expectOverview(other);
});

test("redirects to the connect page when the token is revoked while a page is open @long", async ({
  page,
  service,
  site,
  expected,
}) => {
  expected.push(refused);
  const { id, token } = await makeToken(service);
  await page.goto(`${service.url}/#token=${encodeURIComponent(token)}`);
  const servers = page.getByRole("region", { name: "Servers" });
  await servers.getByText("web-1", { exact: true }).click();
  await servers.getByRole("link", { name: site.name }).click();
  await expect(page.getByRole("heading", { name: "Workers" })).toBeVisible();
  await service.call("DELETE", `/api/token/${id}`);
  await expect(page.getByRole("heading", { name: "Connect" })).toBeVisible({ timeout: 15_000 });
  await expect(page).toHaveURL(/from=/);
});

test("restores what was entered in a form after its token was revoked", async ({
  page,
  service,
  site,
  expected,
}) => {
  expected.push(refused);
  const { id, token } = await makeToken(service);
  await connectAs(page, service.url, token);
  await page.goto(`${service.url}/sites/${site.id}/webhooks/new`);
  const url = page.getByLabel("URL");
  await url.fill("https://receiver.example/typed");
  await page.getByLabel("Description").fill("Typed for ten minutes");
  await page.getByRole("button", { name: "Create webhook" }).focus();
  await service.call("DELETE", `/api/token/${id}`);
  // The next request of the page, whether a poll or this action, is answered 401.
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Connect" })).toBeVisible();

  await page.getByLabel("Token").fill(serviceToken);
  await page.getByRole("button", { name: "Connect" }).click();
  await expect(url).toHaveValue("https://receiver.example/typed");
  await expect(page.getByLabel("Description")).toHaveValue("Typed for ten minutes");
  await expect(page.getByText("Restored your unsaved changes")).toBeVisible();
  await page.getByRole("link", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Discard changes" }).click();

  await page.getByRole("link", { name: "New webhook" }).first().click();
  await expect(url).toHaveValue("");
});

test("lists servers and their sites in the navigation @long", async ({
  connected: page,
  service,
  site,
}) => {
  await page.goto(service.url);
  const nav = page.getByRole("navigation").first();
  // ArrowRight expands the server, or moves into it when it is expanded already.
  await nav.getByRole("link", { name: "web-1", exact: true }).press("ArrowRight");
  await nav.getByRole("link", { name: site.name, exact: true }).click();
  await expect(page.getByRole("heading", { name: "Workers" })).toBeFocused();
  await page.goto(service.url);
  await expectAccessible(page);
  await page.setViewportSize({ width: 360, height: 740 });
  await expectNoSidewaysScroll(page);
});

test("an unknown page says so and links to others", async ({
  connected: page,
  service,
  expected,
}) => {
  expected.push(/404 \(Not Found\)/);
  for (const path of [
    "/nowhere",
    "/workers/999999",
    "/sites/999999/workers/new",
    "/servers/999999/notifications",
    ...(isLongForm
      ? [
          "/sites/999999/workers",
          "/sites/999999/webhooks/new",
          "/servers/999999",
          "/servers/999999/backups/new",
        ]
      : []),
  ]) {
    await page.goto(service.url + path);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Not found");
    await expect(page.getByRole("main").getByRole("link").first()).toBeVisible();
  }
  await expectAccessible(page);
  // A link leads to the missing page, whose code has to be loaded first.
  await page.goto(service.url);
  await openWithin(page, "/workers/999999");
});
