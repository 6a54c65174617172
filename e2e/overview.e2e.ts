import type { Page } from "@playwright/test";
import type { Overview } from "../contract/overview.ts";
import type { ServiceProcess } from "../server/testing/service-process.ts";
import { expect, test } from "./fixtures.ts";
import { connectAs, expectAccessible, expectAccessibleInBoth } from "./helpers.ts";
import { breakDatabase, fillDatabase } from "./backup-helpers.ts";
import { withoutExtras } from "./without-extras.ts";

const overviewOf = async (service: ServiceProcess): Promise<Overview> =>
  (await service.call("GET", "/api/overview")).json();

const figure = (page: Page, label: string) =>
  page.getByRole("main").getByRole("link", { name: new RegExp(`^${label}`) });

const problem = (page: Page, name: string) =>
  page.getByRole("main").getByRole("listitem").filter({ hasText: name });

const brokenArtisan = "exit 3\n";

test("three figures summarize everything, and each links to its problems", async ({
  connected: page,
  service,
  backups,
  site,
}) => {
  await site.artisan(brokenArtisan);
  const { id } = await site.createWorker({ queue: "exports", startsecs: 1, startretries: 0 });
  await expect.poll(async () => (await site.worker(id)).status).toBe("failed");
  const { workers, protection } = await overviewOf(service);

  await page.goto(service.url);
  await expect(figure(page, "Protected")).toContainText(
    `${protection?.protected} of ${protection?.total}`,
  );
  await expect(figure(page, "Up")).toContainText(`${workers.up} of ${workers.total}`);
  await figure(page, "Up").click();
  await expect(page).toHaveURL(`${service.url}/?show=down`);
  await expect(figure(page, "Up")).toHaveAttribute("aria-current", "true");
  const worker = problem(page, "Worker exports on database failed").filter({ hasText: site.name });
  await expect(worker).toBeVisible();
  await expect(problem(page, `${backups.site.name} has no backup`)).toBeHidden();
  await expectAccessible(page);
  await worker.getByRole("link", { name: /^Worker exports/ }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("exports on database");
});

test("lists what has no backup, links to its setup, and counts it once it is protected", async ({
  connected: page,
  service,
  backups,
}) => {
  const before = (await overviewOf(service)).protection;
  await page.goto(`${service.url}/?show=unprotected`);
  await expect(problem(page, `${backups.database.name} has no backup`)).toBeVisible();
  await problem(page, `${backups.site.name} has no backup`)
    .getByRole("link", { name: /^Set up backup/ })
    .click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("New backup");
  await expect(page.getByRole("combobox", { name: "Source" })).toHaveValue(
    `site ${backups.site.id}`,
  );

  fillDatabase(backups);
  const { id } = await backups.createConfiguration();
  await backups.run(id);
  await page.goto(`${service.url}/?show=unprotected`);
  await expect(problem(page, `${backups.site.name} has no backup`)).toBeVisible();
  await expect(problem(page, backups.database.name)).toBeHidden();
  const after = (await overviewOf(service)).protection;
  expect(after?.protected).toBe((before?.protected ?? 0) + 1);
  await expectAccessibleInBoth(page);
});

test("a backup with a warning counts as protected, and is amber everywhere @long", async ({
  connected: page,
  service,
  backups,
}) => {
  const before = (await overviewOf(service)).protection;
  const { id, name } = await backups.createConfiguration();
  await backups.run(id);
  expect((await overviewOf(service)).protection?.protected).toBe((before?.protected ?? 0) + 1);
  await page.goto(`${service.url}/?show=unprotected`);
  const row = problem(page, `Backup of ${backups.database.name} needs attention`);
  await expect(row).toContainText("Nearly empty");
  await expect(row.locator("[data-state]")).toHaveClass(/text-warn/);
  await expect(figure(page, "Protected").locator("[data-state].text-good")).toHaveCount(0);
  const place = page.getByRole("navigation").getByRole("link", { name: backups.server.name });
  await expect(place).toHaveAttribute("aria-description", "Needs attention");
  await expect(place.locator("[data-state]")).toHaveClass(/text-warn/);

  await page.goto(service.url);
  const servers = page.getByRole("region", { name: "Servers" });
  await servers.getByText(backups.server.name).click();
  const panel = servers.getByRole("region", { name: "Protection" });
  const target = panel.getByRole("listitem").filter({ hasText: backups.database.name });
  await expect(target).toContainText("Nearly empty");
  await expect(target.locator("[data-state]")).toHaveClass(/text-warn/);
  await expectAccessibleInBoth(page);

  // The next backup is good, and all warnings disappear.
  fillDatabase(backups);
  await backups.run(id);
  await page.goto(`${service.url}/?show=unprotected`);
  await expect(problem(page, `${backups.site.name} has no backup`)).toBeVisible();
  await expect(row).toBeHidden();
  await page.goto(`${service.url}/backup-configurations/${id}`);
  await expect(page.getByRole("heading", { level: 1 })).toContainText(name);
  await expect(page.getByText("Nearly empty")).toBeHidden();
});

test("lists a failed run as a problem although an earlier backup is good @long", async ({
  connected: page,
  service,
  backups,
}) => {
  const { id, name } = await backups.createConfiguration();
  await backups.run(id);
  await breakDatabase(backups);
  await backups.run(id);
  await page.goto(`${service.url}/?show=unprotected`);
  const row = problem(page, backups.database.name);
  await expect(row).toContainText("needs attention");
  await expect(row).toContainText("The last run failed.");
  await row.getByRole("link", { name: backups.database.name }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(name);
});

test("loads the page with one request, however many servers and sites there are @long", async ({
  connected: page,
  service,
  backups,
}) => {
  const asked: string[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    // Every page requests the current token.
    if (pathname.startsWith("/api/") && pathname !== "/api/token") asked.push(pathname);
  });
  await page.goto(service.url);
  const servers = page.getByRole("region", { name: "Servers" });
  await expect(servers.getByText(backups.server.name)).toBeVisible();
  await page.waitForLoadState("networkidle");
  expect(asked).toEqual(["/api/overview"]);

  // The content of a server is requested when its row is expanded.
  await servers.getByText(backups.server.name).click();
  await expect(servers.getByRole("link", { name: backups.site.name })).toBeVisible();
  await expect(servers.getByRole("region", { name: "Protection" })).toContainText(
    backups.database.name,
  );
});

test("finds servers by their names and by those of their sites @long", async ({
  connected: page,
  service,
  backups,
}) => {
  await page.setViewportSize({ width: 360, height: 740 });
  const more = Array.from({ length: 10 }, () => service.nextSiteId() + 1000);
  await service.changeInventory(({ servers }) =>
    servers.push(...more.map((id) => `{ id: ${id}, name: cache-${id}, connection: local }`)),
  );
  await expect
    .poll(async () => (await service.call("GET", `/api/server/${more.at(-1)}`)).status)
    .toBe(200);
  await page.goto(service.url);
  const servers = page.getByRole("region", { name: "Servers" });
  const filter = servers.getByLabel("Filter servers and sites");
  await filter.fill(backups.site.name.toUpperCase());
  await expect(servers.getByText(backups.server.name)).toBeVisible();
  await expect(servers.getByText(/^cache-/)).toHaveCount(0);
  await servers.getByRole("link", { name: backups.site.name }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Workers");
  await page.goBack();
  await filter.fill("no such server");
  await expect(servers.getByRole("status")).toHaveText("No results for “no such server”");
  await expectAccessible(page);
});

test("shows the number of failures in the title and the icon @long", async ({
  connected: page,
  service,
  site,
}) => {
  await site.artisan(brokenArtisan);
  const { id } = await site.createWorker({ startsecs: 1, startretries: 0 });
  await expect.poll(async () => (await site.worker(id)).status).toBe("failed");
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await expect(page).toHaveTitle(new RegExp(`^\\(\\d+\\) Workers · ${site.name}`));
  await expect(page.locator("link[rel=icon]")).toHaveAttribute("href", /^data:image\/svg/);
});

test("shows a token for one server that server, and no problems of others @long", async ({
  page,
  service,
  backups,
  site,
}) => {
  const made = await service.call("POST", "/api/tokens", {
    name: "one server",
    abilities: ["read"],
    server_ids: [backups.server.id],
  });
  const { token }: { token: string } = await made.json();
  await connectAs(page, service.url, token);
  await page.goto(service.url);
  await expect(figure(page, "Protected")).toContainText("0 of 2");
  await expect(page.getByRole("main").getByText("No workers")).toBeVisible();
  const nav = page.getByRole("navigation", { name: "Main" });
  await expect(nav.getByRole("link", { name: backups.server.name })).toBeVisible();
  await expect(nav.getByRole("link", { name: "web-1", exact: true })).toHaveCount(0);
  await expect(page.getByText(site.name)).toHaveCount(0);
});

test("lists the servers as before for a service without an overview @long", async ({
  page,
  service,
  site,
  expected,
}) => {
  expected.push(/404 \(Not Found\)/);
  const bare = await withoutExtras(service.url, "showOverview");
  await connectAs(page, bare.url);
  await page.goto(bare.url);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Overview");
  const server = page.getByRole("region", { name: "web-1", exact: true });
  await expect(server.getByRole("link", { name: site.name })).toBeVisible();
  await expect(page).toHaveTitle("Overview · Quarterdeck");
  const nav = page.getByRole("navigation", { name: "Main" });
  await expect(nav.getByRole("link", { name: site.name, exact: true })).toBeVisible();
  await expectAccessible(page);
  // Leaves the page, so that it sends no requests to the stopped service.
  await page.goto("about:blank");
  await bare.close();
});
