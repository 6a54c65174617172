import type { Page } from "@playwright/test";
import type { Activity } from "../contract/activity.ts";
import type { ServiceProcess } from "../server/testing/service-process.ts";
import { expect, test } from "./fixtures.ts";
import {
  connectAs,
  expectAccessible,
  expectAccessibleInBoth,
  expectNoSidewaysScroll,
  listPollMs,
} from "./helpers.ts";
import { withoutExtras } from "./without-extras.ts";

const entries = (page: Page) =>
  page
    .getByRole("main")
    .getByRole("listitem")
    .filter({ has: page.getByRole("time") });

const live = (page: Page) => page.getByRole("button", { name: /new entr/ });

const choice = (page: Page, name: string) => page.getByRole("combobox", { name, exact: true });

async function timeline(service: ServiceProcess, query = ""): Promise<Activity> {
  return (await service.call("GET", `/api/activity${query}`)).json();
}

/** Creates an entry of the timeline in the quickest way: a pipeline reports a deployment. */
async function deploy(
  service: ServiceProcess,
  siteId: number,
  message: string,
  status = "finished",
) {
  const answer = await service.call("POST", `/api/site/${siteId}/deployment`, { status, message });
  expect(answer.status).toBe(202);
}

test("lists what a user did, with the time, the token and a link to the object", async ({
  connected: page,
  service,
  site,
}) => {
  await site.createWorker();
  await page.goto(`${service.url}/activity?site=${site.id}`);
  const created = entries(page).filter({ hasText: /Worker .* created/ });
  await expect(created).toHaveCount(1);
  await expect(created).toContainText("just now");
  await expect(page.getByRole("heading", { name: "Today" })).toBeVisible();
  const [first] = (await timeline(service, `?site=${site.id}&kind=worker`)).data.toReversed();
  await expect(created).toContainText(first?.actor.name ?? "nobody");
  await created.getByRole("link").click();
  await expect(page.getByRole("heading", { name: "default on database" })).toBeVisible();
});

test("a failure is marked as one, with its reason @long", async ({
  connected: page,
  service,
  site,
}) => {
  await site.artisan("echo 'no connection to redis'; exit 1");
  const { id } = await site.createWorker({ startsecs: 1, startretries: 0 });
  await expect.poll(async () => (await site.worker(id)).status).toBe("failed");
  await page.goto(`${service.url}/activity?site=${site.id}`);
  const failed = entries(page).filter({ hasText: /Worker .* failed/ });
  await expect(failed).toContainText("Failure");
  await expect(failed).toContainText("code 1");
});

test("collapses a long detail, and expands it on request @long", async ({
  connected: page,
  service,
  site,
}) => {
  const message = `The first line\n${"and more of it, ".repeat(20)}\nthe last line`;
  await deploy(service, site.id, message, "failed");
  await page.goto(`${service.url}/activity?site=${site.id}`);
  const entry = entries(page).filter({ hasText: "Deployment of site" });
  const more = entry.getByRole("button", { name: "More" });
  await expect(more).toHaveAttribute("aria-expanded", "false");
  const heightOf = async () => (await entry.boundingBox())?.height ?? 0;
  const before = await heightOf();
  await more.press("Enter");
  await expect(entry.getByRole("button", { name: "Less" })).toBeFocused();
  expect(await heightOf()).toBeGreaterThan(before + 40);
});

test("keeps filters in the URL, and offers the sites of the selected server", async ({
  connected: page,
  service,
  site,
}) => {
  await site.createWorker();
  await deploy(service, site.id, "Faster");
  await page.goto(`${service.url}/`);
  await page.getByRole("link", { name: "Activity" }).click();
  await expect(entries(page).first()).toBeVisible();

  await choice(page, "Server").selectOption("web-1");
  await expect(page).toHaveURL(/server=1$/);
  await choice(page, "Site").selectOption(site.name);
  await expect(page).toHaveURL(new RegExp(`server=1&site=${site.id}$`));
  await expect(entries(page).filter({ hasText: "Worker" }).first()).toBeVisible();
  await choice(page, "Kind").focus();
  await choice(page, "Kind").selectOption("Deployments");
  await expect(entries(page)).toHaveCount(1);
  await expect(choice(page, "Kind")).toBeFocused();
  await expect(entries(page)).toContainText(`Site ${site.name} deployed`);
  await expect(entries(page)).toContainText("Faster");

  await page.reload();
  await expect(choice(page, "Site")).toHaveValue(String(site.id));
  await expect(entries(page)).toHaveCount(1);
  await page.goBack();
  await expect(choice(page, "Kind")).toHaveValue("");
  await expect(entries(page).filter({ hasText: "Worker" }).first()).toBeVisible();
  await choice(page, "Kind").selectOption("Tokens");
  await expect(page.getByText("No results")).toBeVisible();
  await page.getByRole("link", { name: "Clear filters" }).click();
  await expect(page).toHaveURL(`${service.url}/activity`);
  await expect(entries(page).first()).toBeVisible();
  await expect(page.getByRole("heading", { level: 1 })).toBeFocused();
});

test("shows a button for new entries above the list, and does not move what is being read @long", async ({
  connected: page,
  service,
  site,
}) => {
  test.slow();
  for (let number = 1; number <= 30; number++) await deploy(service, site.id, `Release ${number}`);
  await page.goto(`${service.url}/activity?site=${site.id}`);
  await expect(entries(page)).toHaveCount(30);
  await expect(live(page)).toBeDisabled();
  await entries(page).filter({ hasText: "Release 12" }).scrollIntoViewIfNeeded();
  const positionOf = async () =>
    (await entries(page).filter({ hasText: "Release 12" }).boundingBox())?.y;
  const before = await positionOf();

  for (const message of ["New A", "New B", "New C"]) await deploy(service, site.id, message);
  await expect(live(page)).toHaveText("Show 3 new entries", { timeout: 15_000 });
  await expect(page.getByRole("status").filter({ hasText: "3 new entries" })).toBeAttached();
  await expect(entries(page)).toHaveCount(30);
  expect(await positionOf()).toBe(before);

  await live(page).click();
  await expect(entries(page)).toHaveCount(33);
  await expect(entries(page).first()).toContainText("New C");
  await expect(entries(page).first()).toBeInViewport();
  await expect(live(page)).toBeFocused();
  await expect(live(page)).toBeDisabled();
});

test("shows newer entries without a click when the page is opened again @long", async ({
  connected: page,
  service,
  site,
}) => {
  await deploy(service, site.id, "Before");
  await page.goto(`${service.url}/activity`);
  await expect(entries(page).filter({ hasText: "Before" }).first()).toBeVisible();
  await page.getByRole("link", { name: "Overview", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Servers" })).toBeVisible();
  await deploy(service, site.id, "Meanwhile");
  await page.getByRole("link", { name: "Activity" }).click();
  await expect(entries(page).first()).toContainText("Meanwhile");
});

test("loads older entries below, down to the first one @long", async ({
  connected: page,
  service,
  site,
}) => {
  await page.clock.install();
  for (let number = 1; number <= 52; number++) await deploy(service, site.id, `Release ${number}`);
  await page.goto(`${service.url}/activity?site=${site.id}&kind=deployment`);
  await expect(entries(page)).toHaveCount(50);
  const older = page.getByRole("button", { name: /older/i });
  await older.press("Enter");
  await expect(entries(page)).toHaveCount(52);
  await expect(entries(page).nth(50)).toContainText("Release 2");
  await expect(entries(page).last()).toContainText("Release 1");
  await expect(older).toBeFocused();
  await expect(older).toHaveAccessibleDescription("Start of the timeline.");
  // New entries appear above all others.
  await deploy(service, site.id, "Release 53");
  await page.clock.runFor(listPollMs);
  await expect(live(page)).toHaveText("Show 1 new entry");
  await live(page).click();
  await expect(entries(page)).toHaveCount(53);
});

test("keeps the text of entries about deleted objects, without a link @long", async ({
  connected: page,
  service,
  site,
}) => {
  const { id } = await site.createWorker();
  await service.call("DELETE", `/api/worker/${id}`);
  await page.goto(`${service.url}/activity?site=${site.id}`);
  await expect(entries(page).filter({ hasText: /Worker .* deleted/ })).toHaveCount(1);
  await expect(entries(page).filter({ hasText: /Worker .* created/ })).toHaveCount(1);
  await expect(entries(page).getByRole("link")).toHaveCount(0);
});

test("shows only the timeline of its server to a token for one server @long", async ({
  page,
  service,
  site,
  backups,
}) => {
  await deploy(service, site.id, "Not yours");
  const made = await service.call("POST", "/api/tokens", {
    name: "only db",
    abilities: ["read"],
    server_ids: [backups.server.id],
  });
  const { token }: { token: string } = await made.json();
  await connectAs(page, service.url, token);
  await deploy(service, backups.site.id, "Yours");
  await page.goto(`${service.url}/activity`);
  await expect(entries(page)).toHaveCount(1);
  await expect(entries(page)).toContainText("Yours");
});

test("names the sites and servers of entries, and requests each server's sites only from a service without an overview @long", async ({
  page,
  service,
  site,
  backups,
  expected,
}) => {
  expected.push(/404 \(Not Found\)/);
  await site.createWorker();
  await deploy(service, backups.site.id, "Named");
  const asked: string[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (/^\/api\/server\/\d+\/sites$/.test(pathname)) asked.push(pathname);
  });
  const openNames = async (url: string) => {
    await connectAs(page, url);
    await page.goto(`${url}/activity`);
    await expect(entries(page).filter({ hasText: "Worker" }).first()).toContainText(
      `${site.name} on web-1`,
    );
    await expect(entries(page).filter({ hasText: "Named" })).toContainText(backups.server.name);
    await page.waitForLoadState("networkidle");
  };
  await openNames(service.url);
  expect(asked).toEqual([]);
  const bare = await withoutExtras(service.url, "showOverview");
  await openNames(bare.url);
  expect(asked).toContain(`/api/server/${backups.server.id}/sites`);
  // Leaves the page, so that it sends no requests to the stopped service.
  await page.goto("about:blank");
  await bare.close();
});

test("says that a service has no timeline @long", async ({ page, service, expected }) => {
  expected.push(/404 \(Not Found\)/);
  const bare = await withoutExtras(service.url, "listActivity");
  await connectAs(page, bare.url);
  await page.goto(`${bare.url}/activity`);
  await expect(page.getByText("This service doesn't keep a timeline.")).toBeVisible();
  await expectAccessible(page);
  // Leaves the page, so that it sends no requests to the stopped service.
  await page.goto("about:blank");
  await bare.close();
});

test("the page is accessible and fits 360 px, light and dark @long", async ({
  connected: page,
  service,
  site,
}) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await site.createWorker({ queue: "a-rather-long-queue-name,default" });
  await deploy(service, site.id, "x".repeat(400), "failed");
  await page.goto(`${service.url}/activity`);
  await expect(entries(page).first()).toBeVisible();
  await expectNoSidewaysScroll(page);
  await expectAccessibleInBoth(page);
});

test("searches the timeline, and filters it by user and days, all in the URL @long", async ({
  connected: page,
  service,
  site,
}) => {
  await deploy(service, site.id, "checkout-v2 broke the basket", "failed");
  await deploy(service, site.id, "Faster");
  await page.goto(`${service.url}/activity?site=${site.id}`);
  await expect(entries(page)).toHaveCount(2);
  const search = page.getByLabel("Search", { exact: true }).and(page.getByRole("searchbox"));
  await search.fill("basket check");
  await search.press("Enter");
  await expect(entries(page)).toHaveCount(1);
  await expect(entries(page)).toContainText("checkout-v2");
  await expect(page).toHaveURL(/q=basket\+check/);
  await expect(search).toBeFocused();
  await page.goBack();
  await expect(search).toHaveValue("");
  await page.goForward();
  await expect(search).toHaveValue("basket check");
  await page.reload();
  await expect(search).toHaveValue("basket check");
  await expect(entries(page)).toHaveCount(1);
  await search.fill("nobody wrote this");
  await search.press("Enter");
  await expect(page.getByText("No results")).toBeVisible();
  await expectAccessibleInBoth(page);
  await search.fill("");
  await expect(entries(page)).toHaveCount(2);

  const [newest] = (await timeline(service, `?site=${site.id}`)).data;
  await choice(page, "Person").selectOption(newest?.actor.name ?? "");
  await expect(page).toHaveURL(/actor=/);
  await expect(entries(page)).toHaveCount(2);
  await page.getByLabel("To", { exact: true }).fill("2020-01-31");
  await expect(page).toHaveURL(/to=2020-01-31/);
  await expect(page.getByText("No results")).toBeVisible();
  await page.setViewportSize({ width: 360, height: 740 });
  await expectNoSidewaysScroll(page);
  await page.getByRole("link", { name: "Clear filters" }).click();
  await expect(page).toHaveURL(`${service.url}/activity`);
});

test("days are entered digit by digit, and one step back clears them", async ({
  connected: page,
  service,
}) => {
  await page.goto(`${service.url}/activity`);
  const person = page.getByLabel("Person");
  const from = page.getByLabel("From", { exact: true });
  const to = page.getByLabel("To", { exact: true });
  await person.focus();
  await page.keyboard.press("Tab");
  await expect(from).toBeFocused();
  // A date whose digits are the same in every order of day and month.
  await page.keyboard.type("01012026", { delay: 50 });
  await expect(from).toHaveValue("2026-01-01");
  await expect(page).toHaveURL(/\/activity\?from=2026-01-01$/);
  await expect(from).toBeFocused();
  await to.fill("2026-02-01");
  await expect(page).toHaveURL(/from=2026-01-01&to=2026-02-01$/);
  await page.goBack();
  await expect(to).toHaveValue("");
  await page.goBack();
  await expect(page).toHaveURL(/\/activity$/);
  await expect(from).toHaveValue("");
  await page.goForward();
  await expect(from).toHaveValue("2026-01-01");
  await from.fill("");
  await expect(page).toHaveURL(/\/activity$/);
});
