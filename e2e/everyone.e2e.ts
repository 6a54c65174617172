// Tests the dashboard with phones, zoom, right-to-left text, forced colors, long names and other languages.
import type { Locator, Page } from "@playwright/test";
import type { ServiceProcess } from "../server/testing/service-process.ts";
import { type Backups, expect, type Site, test } from "./fixtures.ts";
import { newestOf } from "./backup-helpers.ts";
import { isLongForm } from "../server/testing/long-form.ts";
import { expectAccessible, expectNoSidewaysScroll, openWithin, resizeWindow } from "./helpers.ts";

/** Returns the path of one page of each kind, with long content: overview, lists, details, a form, checkboxes, the timeline, settings. */
async function everyPage(service: ServiceProcess, site: Site, backups: Backups): Promise<string[]> {
  const { id: workerId } = await site.createWorker();
  await site.createWorker({ queue: "a-long-name-of-a-queue,".repeat(4) + "default" });
  const made = await service.call("POST", `/api/site/${site.id}/webhook`, {
    url: `http://127.0.0.1:9/${"a-long-path-".repeat(10)}`,
  });
  const { id: webhookId }: { id: number } = await made.json();
  const { id: configurationId } = await backups.createConfiguration({ drill: 7 });
  await backups.createConfiguration({
    name: "a-rather-long-name-that-nobody-would-break-into-parts-by-hand",
    frequency: "*/15 9-17 * * 1-5",
  });
  const { id: backupId } = newestOf(await backups.run(configurationId));
  // The message is long enough to be collapsed.
  const deployment = { status: "failed", message: "It went wrong. ".repeat(30) };
  await service.call("POST", `/api/site/${site.id}/deployment`, deployment);
  return [
    "/",
    `/sites/${site.id}/workers`,
    `/workers/${workerId}`,
    `/sites/${site.id}/workers/new`,
    `/sites/${site.id}/webhooks`,
    `/webhooks/${webhookId}`,
    `/sites/${site.id}/webhooks/new`,
    `/sites/${site.id}/notifications`,
    `/servers/${backups.server.id}/notifications`,
    `/servers/${backups.server.id}/backups`,
    `/servers/${backups.server.id}/backups/new`,
    `/backup-configurations/${configurationId}`,
    `/backup-configurations/${configurationId}/edit`,
    `/backups/${backupId}`,
    "/activity",
    "/settings",
    "/settings/tokens/new",
    "/settings/inventory",
    "/settings/inventory/servers/new",
    "/help",
    "/help/inventory",
  ];
}

async function visit(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
}

/** Returns the visible texts and controls that are cut off by the window, or by a part of the page that does not scroll. */
const cutOff = (page: Page): Promise<string[]> =>
  page
    .locator("a[href], button, input, select, summary, h1, h2, th, td, dt, dd, time")
    .evaluateAll((elements) =>
      elements
        .filter((element) => {
          const { left, right, width, height } = element.getBoundingClientRect();
          // Elements for screen readers only are one pixel large.
          if (width <= 1 || height <= 1 || !element.checkVisibility({ visibilityProperty: true }))
            return false;
          for (let part = element.parentElement; part !== null; part = part.parentElement) {
            const { overflowX } = getComputedStyle(part);
            if (overflowX === "auto" || overflowX === "scroll") return false;
            const bounds = part.getBoundingClientRect();
            if (overflowX !== "visible" && (right > bounds.right + 1 || left < bounds.left - 1))
              return true;
          }
          return right > document.documentElement.clientWidth + 1 || left < -1;
        })
        .map(({ outerHTML }) => outerHTML.slice(0, 200)),
    );

test("every page is accessible in dark mode, fits the window at 360 px, at 200 % zoom and from right to left, cuts nothing off, and in forced colors has edges around its controls and a visible focus", async ({
  connected: page,
  service,
  site,
  backups,
}) => {
  // Each page is checked on a phone in dark mode, and in one of the other ways in turn, or in all of them.
  test.slow();
  const ways = [expectTwiceAsLarge, expectFromRightToLeft, expectForcedColors];
  await visit(page, `${service.url}/help/workers`);
  for (const [index, path] of (await everyPage(service, site, backups)).entries()) {
    await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
    await page.setViewportSize({ width: 360, height: 740 });
    await openWithin(page, path);
    await expectNoSidewaysScroll(page);
    expect(await cutOff(page), path).toEqual([]);
    // The tests of each page check its light mode.
    await expectAccessible(page);
    for (const [turn, expectWay] of ways.entries())
      if (isLongForm || index % ways.length === turn) await expectWay(page, path);
  }
});

test("shows relative times by the service's clock when the browser's is a day slow", async ({
  connected: page,
  service,
  site,
}) => {
  const { id } = await site.createWorker();
  await page.clock.install({ time: Date.now() - 24 * 3_600_000 });
  await page.goto(`${service.url}/workers/${id}`);
  const process = page.getByRole("row", { name: /running/ });
  await expect(process.getByRole("time")).toHaveText(/^just now$|minutes? ago$/);
});

test("a long name fits the page and its confirmation, which accepts the name as displayed @long", async ({
  connected: page,
  service,
  site,
  backups,
}) => {
  // The accent is a combining character, the mark in between is invisible, and a browser shows the two spaces as one.
  const name = `${"L".repeat(200)}\u200e  cafe\u0301`;
  const { id } = await backups.createConfiguration({ name });
  await page.setViewportSize({ width: 360, height: 740 });
  await visit(page, `${service.url}/backup-configurations/${id}/edit`);
  await expect(page.getByLabel("Breadcrumbs")).toContainText("LLL");
  await expectNoSidewaysScroll(page);
  await visit(page, `${service.url}/sites/${site.id}/workers?q=${"L".repeat(200)}`);
  await expect(page.getByText(/^No results for “LLL/)).toBeVisible();
  await expectNoSidewaysScroll(page);
  await visit(page, `${service.url}/backup-configurations/${id}`);
  await page.getByRole("button", { name: /^Delete: / }).click();
  const question = page.getByRole("alertdialog");
  await question.getByRole("button", { name: "Delete" }).hover();
  const tip = page.getByRole("tooltip");
  await expect(tip).toContainText("first.");
  const tipOverflow = await tip.evaluate((box) => box.scrollWidth - box.clientWidth);
  expect(tipOverflow, "how much of the tip lies beside it").toBe(0);
  await question.getByLabel(/^Type “/).fill(`${"L".repeat(200)} caf\u00e9`);
  const overflow = await question.evaluate((box) => box.scrollWidth - box.clientWidth);
  expect(overflow, "how far the question would have to be scrolled sideways").toBe(0);
  await question.getByRole("button", { name: "Delete" }).click();
  await expect(page.getByText(/^Deleting “LLL/)).toBeVisible();
});

const writeFrom = (page: Page, direction: "ltr" | "rtl") =>
  page.evaluate((dir) => void (document.documentElement.dir = dir), direction);

test("keeps the order of the parts of a name and of a URL from right to left @long", async ({
  connected: page,
  service,
  site,
}) => {
  const url = "http://127.0.0.1:9/a-path-of-its-own";
  const made = await service.call("POST", `/api/site/${site.id}/webhook`, { url });
  const { id }: { id: number } = await made.json();
  await visit(page, `${service.url}/webhooks/${id}`);
  await writeFrom(page, "rtl");
  const place = page.getByRole("link", { name: site.name, exact: true });
  const shown = page.locator("span[data-tip]", { hasText: url });
  for (const halves of [place.locator("[title] > span"), shown.locator("span")]) {
    await expect(halves).toHaveCount(2);
    const [first, second] = await halves.evaluateAll((parts) =>
      parts.map((part) => part.getBoundingClientRect().left),
    );
    expect(first).toBeLessThan(second ?? 0);
  }
});

/** A window of 1280 px at 200 % zoom has the same layout as one of 640 px. */
async function expectTwiceAsLarge(page: Page): Promise<void> {
  await resizeWindow(page, 640, 400);
  await expectNoSidewaysScroll(page);
  await resizeWindow(page, 360, 740);
}

async function expectFromRightToLeft(page: Page, path: string): Promise<void> {
  await writeFrom(page, "rtl");
  await expectNoSidewaysScroll(page);
  const titleX = async () => {
    const box = await page.getByRole("heading", { level: 1 }).boundingBox();
    return box?.x ?? 0;
  };
  await expect.poll(titleX, `the title of ${path} stands on the right`).toBeGreaterThan(100);
  await writeFrom(page, "ltr");
}

/** Expects an edge around every control, and a visible focus. */
async function expectForcedColors(page: Page, path: string): Promise<void> {
  await resizeWindow(page, 1280, 800);
  await page.emulateMedia({ forcedColors: "active", reducedMotion: "reduce" });
  const edgeless = await page
    .locator("main :is(button, input:not([type=checkbox], [type=radio]), select)")
    .evaluateAll((controls) =>
      controls
        .filter((control) => getComputedStyle(control).borderTopWidth === "0px")
        .map(({ outerHTML }) => outerHTML),
    );
  expect(edgeless, path).toEqual([]);
  const moving = () =>
    page.evaluate(
      () => document.getAnimations().filter(({ playState }) => playState === "running").length,
    );
  // Fades end soon; animations that last as long as a state must not run.
  await expect.poll(moving, `what moves on ${path}`).toBe(0);
  await page.keyboard.press("Tab");
  const outline = await page.evaluate(
    () => getComputedStyle(document.activeElement ?? document.body).outlineStyle,
  );
  expect(outline, path).not.toBe("none");
  await page.emulateMedia({ forcedColors: "none" });
}

test("distinguishes the current page and tab, the selection, and search matches in forced colors @long", async ({
  connected: page,
  service,
  site,
}) => {
  const { id } = await site.createWorker();
  await page.emulateMedia({ forcedColors: "active" });
  await visit(page, `${service.url}/sites/${site.id}/workers`);
  const colors = (element: Locator) =>
    element.evaluate((one) => {
      const { color, backgroundColor } = getComputedStyle(one);
      return { color, backgroundColor };
    });
  const tabs = page.getByRole("navigation", { name: "Site", exact: true });
  const nav = page.getByRole("navigation", { name: "Main" });
  for (const [current, other] of [
    [tabs.getByRole("link", { name: "Workers" }), tabs.getByRole("link", { name: "Webhooks" })],
    [nav.getByRole("link", { name: site.name }), nav.getByRole("link", { name: "Help" })],
  ] as const) {
    await expect(current).toHaveAttribute("aria-current");
    const [shown, usual] = [await colors(current), await colors(other)];
    expect(shown.backgroundColor).not.toBe(usual.backgroundColor);
    expect(shown.color).not.toBe(shown.backgroundColor);
  }
  const place = nav.getByRole("link", { name: site.name });
  expect((await colors(place.locator("svg"))).color).toBe((await colors(place)).color);
  const box = page.getByRole("checkbox").nth(1);
  await expect(box).toHaveCSS("appearance", "auto");
  await box.check();
  await expect(box).toBeChecked();

  await page.keyboard.press("Control+k");
  const field = page.getByRole("combobox", { name: "Search names, actions and ids" });
  await field.fill(`worker ${id}`);
  const option = page.getByRole("dialog").getByRole("option", { selected: true });
  await expect(option).toContainText("default on database");
  await expect(option).not.toHaveCSS("outline-style", "none");
  await expect(option.locator("mark").first()).toBeVisible();
  // The results of the service replace those of the page; finding and reading the mark in one step avoids a detached one.
  const found = await page.getByRole("dialog").evaluate((dialog) => {
    const mark = dialog.querySelector("[role=option][aria-selected=true] mark");
    const { color, backgroundColor } = getComputedStyle(mark ?? dialog);
    return { isMark: mark !== null, color, backgroundColor };
  });
  expect(found.isMark).toBe(true);
  expect(found.color).not.toBe(found.backgroundColor);
});

test("every form has its buttons below all fields, on a phone and beside a preview @long", async ({
  connected: page,
  service,
  site,
  backups,
}) => {
  const { id } = await backups.createConfiguration();
  for (const [path, submit] of [
    [`/sites/${site.id}/workers/new`, "Create worker"],
    [`/sites/${site.id}/webhooks/new`, "Create webhook"],
    [`/servers/${backups.server.id}/backups/new`, "Create backup"],
    [`/backup-configurations/${id}/edit`, "Save changes"],
    ["/settings/tokens/new", "Create token"],
  ] as const) {
    await visit(page, service.url + path);
    for (const width of [360, 1440]) {
      await resizeWindow(page, width, 740);
      const form = page.getByRole("form");
      const button = form.getByRole("button", { name: submit });
      await expect(form.getByRole("link", { name: "Cancel" })).toBeVisible();
      const top = (await button.boundingBox())?.y;
      const bottoms = await form.locator("input, select").evaluateAll((fields) =>
        // Fields in a collapsed section have a size, too, but are not visible.
        fields
          .filter((field) => field.checkVisibility())
          .map((field) => field.getBoundingClientRect().bottom),
      );
      expect(bottoms).not.toEqual([]);
      expect(Math.max(...bottoms), `${path} at ${width} px`).toBeLessThan(top ?? 0);
    }
  }
});

test("a form's buttons work on the first click although the focused field gets an error on blur @long", async ({
  connected: page,
  service,
  site,
}) => {
  await visit(page, `${service.url}/sites/${site.id}/webhooks/new`);
  const url = page.getByLabel("URL");
  await url.fill("nonsense");
  await page.getByRole("link", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Keep editing" }).click();
  await url.fill("more nonsense");
  await page.getByRole("button", { name: "Create webhook" }).click();
  await expect(url).toBeFocused();
  await expect(url).toHaveAttribute("aria-invalid", "true");
});

test("an edit of what was deleted meanwhile says so on its form, and keeps what was typed @long", async ({
  connected: page,
  service,
  site,
  backups,
  expected,
}) => {
  expected.push(/404/);
  const worker = await site.createWorker();
  const made = await service.call("POST", `/api/site/${site.id}/webhook`, {
    url: "http://127.0.0.1:9/",
  });
  const webhook: { id: number } = await made.json();
  const configuration = await backups.createConfiguration();
  await expect.poll(async () => (await site.worker(worker.id)).status).toBe("installed");
  for (const [path, api, label] of [
    [`/workers/${worker.id}/edit`, `/api/worker/${worker.id}`, "Queue"],
    [`/webhooks/${webhook.id}/edit`, `/api/site-webhook/${webhook.id}`, "Description"],
    [
      `/backup-configurations/${configuration.id}/edit`,
      `/api/backup-configuration/${configuration.id}`,
      "Name",
    ],
  ] as const) {
    await visit(page, service.url + path);
    const field = page.getByLabel(label, { exact: true });
    await field.fill("typed");
    expect((await service.call("DELETE", api)).ok).toBe(true);
    await expect.poll(async () => (await service.call("GET", api)).status).toBe(404);
    await page.getByRole("button", { name: "Save changes" }).click();
    await expect(page.getByRole("form").getByRole("alert")).toHaveText(
      "Not found. It may have been deleted meanwhile.",
    );
    await page.getByRole("button", { name: "Save changes" }).click();
    await expect(page.getByRole("button", { name: "Save changes" })).toBeEnabled();
    await expect(field).toHaveValue("typed");
  }
});

test.describe("on a touch screen", () => {
  test.use({ hasTouch: true, isMobile: true, viewport: { width: 360, height: 740 } });

  test("no field has a font size below 16 px, at which a phone would zoom in @long", async ({
    connected: page,
    service,
    site,
  }) => {
    const { id } = await site.createWorker();
    await visit(page, `${service.url}/settings`);
    for (const path of [`/sites/${site.id}/workers`, `/workers/${id}`, "/activity"]) {
      await openWithin(page, path);
      const fields = page.locator("main :is(input:not([type=checkbox], [type=radio]), select)");
      await expect(fields.first()).toBeVisible();
      const sizes = await fields.evaluateAll((all) =>
        all.map((field) => Number.parseFloat(getComputedStyle(field).fontSize)),
      );
      expect(Math.min(...sizes), path).toBeGreaterThanOrEqual(16);
      await expectNoSidewaysScroll(page);
      expect(await cutOff(page), path).toEqual([]);
    }
  });
});
