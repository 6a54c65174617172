// Tests what makes the dashboard feel fast: preloading, a stable layout, and changes that render only the affected
// rows.
import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { connectAnew, workerRow } from "./helpers.ts";
import { countRows, forgetRows, watchRows } from "./rendered-rows.ts";
import { isLongForm } from "../server/testing/long-form.ts";
import { ownUser } from "../server/testing/own-user.ts";

// With animations, like most users.
test.use({ contextOptions: { reducedMotion: "no-preference" } });

/** list-jumps.e2e.ts tests lists at 360 px. */
const widths = isLongForm ? [360, 1440] : [1440];

type LayoutShift = PerformanceEntry & { value: number; sources: { node: Node | null }[] };
type Jumps = { distance: number; moved: string[] };

/** Returns the sum of all layout shifts of a first visit, and the elements that moved. */
const layoutShift = (page: Page): Promise<Jumps> =>
  page.evaluate(
    () =>
      new Promise<Jumps>((resolve) => {
        new PerformanceObserver((list) => {
          // The observer below gets entries of this type only.
          const shifts = list.getEntries() as LayoutShift[];
          const nodes = shifts.flatMap(({ sources }) => sources.map(({ node }) => node));
          resolve({
            distance: shifts.reduce((sum, { value }) => sum + value, 0),
            moved: nodes.map((node) => `${node?.nodeName} ${node?.textContent?.slice(0, 60)}`),
          });
        }).observe({ type: "layout-shift", buffered: true });
        // The observer is not called if nothing has moved.
        requestAnimationFrame(() => setTimeout(() => resolve({ distance: 0, moved: [] }), 100));
      }),
  );

/** How long a response is fresh: until then, no part of the page requests it again. */
const freshMs = 2_000;

/** Returns the API paths that a page requested again while fresh, by the browser's own clock. */
const askedTwice = (page: Page): Promise<string[]> =>
  page.evaluate((fresh) => {
    const answeredAt = new Map<string, number>();
    const again: string[] = [];
    for (const entry of performance.getEntriesByType("resource")) {
      const { pathname } = new URL(entry.name);
      // The log is polled as it grows.
      if (!pathname.startsWith("/api/") || pathname.endsWith("/log")) continue;
      if (entry.startTime < (answeredAt.get(pathname) ?? -Infinity) + fresh) again.push(pathname);
      if (entry instanceof PerformanceResourceTiming) answeredAt.set(pathname, entry.responseEnd);
    }
    return again;
  }, freshMs);

/** Responses that index.html preloaded and no page has used yet; null = it preloaded nothing. */
const leftPreloaded = (page: Page): Promise<string[] | null> =>
  page.evaluate(() => {
    const { preloadedResponses: preloaded } = globalThis;
    return preloaded === undefined ? null : [...preloaded.responses.keys()];
  });

test("a first visit has no layout shift, and requests nothing twice", async ({
  page,
  service,
  site,
  backups,
}) => {
  const { id } = await site.createWorker();
  const { id: configurationId } = await backups.createConfiguration();
  await backups.run(configurationId);
  const more = Array.from({ length: 12 }, () => service.nextSiteId());
  await service.changeInventory(({ servers, sites }) => {
    for (const number of more) {
      const name = `blog-${number}.example.com`;
      servers.push(`{ id: ${number + 1000}, name: web-${number}, connection: local }`);
      for (const server of [1, number + 1000])
        sites.push(
          `{ id: ${number + server * 1000}, server: ${server}, name: ${name}, root: ${service.folder}, user: ${ownUser} }`,
        );
    }
  });
  const last = `/api/server/${(more.at(-1) ?? 0) + 1000}`;
  await expect.poll(async () => (await service.call("GET", last)).status).toBe(200);
  for (const width of widths) {
    await connectAnew(page, service.url);
    // High enough that shifts below the usual window count, too.
    await page.setViewportSize({ width, height: 1600 });
    for (const [path, content] of [
      ["/", "Problems"],
      [`/sites/${site.id}/workers`, site.name],
      [`/workers/${id}`, site.name],
      [`/backup-configurations/${configurationId}`, "Table history"],
      ["/settings", "Open inventory"],
    ] as const) {
      await page.goto(service.url + path);
      await expect(page.getByRole("heading", { level: 1 }).filter({ visible: true })).toBeVisible();
      await expect(page.getByText(content).filter({ visible: true }).first()).toBeVisible();
      await page.waitForLoadState("networkidle");
      const { distance, moved } = await layoutShift(page);
      const where = `${path} at ${width} px`;
      expect(distance, `what jumps on ${where}: ${moved.join(", ")}`).toBeLessThanOrEqual(0.02);
      expect(await askedTwice(page), `what ${where} asks for twice`).toEqual([]);
      expect(await leftPreloaded(page), `what ${where} preloaded and did not use`).toEqual(
        path === "/settings" ? null : [],
      );
    }
  }
});

test("shows no frame of a page before a connection", async ({ page, service }) => {
  await page.goto(`${service.url}/`);
  await expect(page).toHaveURL(/\/connect/);
  expect(await page.evaluate(() => document.documentElement.dataset["connected"])).toBeUndefined();
});

test("opens a hovered or focused link without requesting code or data @long", async ({
  connected: page,
  service,
  site,
}) => {
  const { id } = await site.createWorker();
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  const link = workerRow(page, id).getByRole("link").first();
  await expect(link).toBeVisible();
  await page.waitForLoadState("networkidle");

  const data = page.waitForResponse((response) => response.url().endsWith(`/api/worker/${id}`));
  const code = page.waitForResponse(/\/assets\/WorkerPage/);
  await link.hover();
  await Promise.all([data, code]);
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await link.click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("default on database");
  expect(asked.filter((path) => path.startsWith("/assets/"))).toEqual([]);
  expect(asked[0], "the page's own questions come once it stands").not.toBe(`/api/worker/${id}`);

  // Moves the pointer away: the link below it would be preloaded instead of the focused one.
  await page.mouse.move(0, 0);
  await page.goBack();
  const form = page.waitForResponse(/\/assets\/WorkerNewPage/);
  await page.getByRole("link", { name: "Webhooks" }).focus();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Shift+Tab");
  await expect(page.getByRole("link", { name: "New worker" })).toBeFocused();
  await form;
});

test("renders only the changed row after a poll @long", async ({
  connected: page,
  service,
  backups,
}) => {
  const [changed] = [
    await backups.createConfiguration({ name: "Orders, hourly" }),
    await backups.createConfiguration(),
    await backups.createConfiguration({ name: "Orders, weekly" }),
  ];
  await watchRows(page);
  await page.goto(`${service.url}/servers/${backups.server.id}/backups`);
  await expect(page.getByRole("row")).toHaveCount(4);
  await page.waitForLoadState("networkidle");

  await forgetRows(page);
  const { id, frequency, storage_provider_id } = changed;
  await service.call("PUT", `/api/backup-configuration/${id}`, {
    name: "Renamed",
    frequency,
    storage_provider_id,
  });
  await expect(page.getByRole("link", { name: "Renamed", exact: true })).toBeVisible({
    timeout: 15_000,
  });
  expect(await countRows(page)).toBe(1);
});
