// Tests that lists reserve space for the controls above their rows, so that loading moves nothing.
import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { connectAnew } from "./helpers.ts";

/** Records the different tops of the first row over all paints of a visit, in order; one value = it never moved. */
async function watchFirstRow(page: Page, selector: string): Promise<void> {
  await page.addInitScript((rowSelector) => {
    const tops: number[] = [];
    const look = () => {
      const row = document.querySelector(rowSelector);
      if (row !== null) {
        const top = Math.round(row.getBoundingClientRect().top + scrollY);
        if (tops.at(-1) !== top) tops.push(top);
      }
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
    Object.assign(globalThis, { firstRowTops: tops });
  }, selector);
}

const topsOf = (page: Page): Promise<unknown> =>
  page.evaluate((): unknown => Reflect.get(globalThis, "firstRowTops"));

const widths = [360, 768, 1440];

test("the first row of every list keeps its position @long", async ({
  page,
  service,
  site,
  backups,
}) => {
  // The test visits six pages for the first time, at each width.
  test.slow();
  // More rows than a page has, so that all controls are shown.
  for (let count = 0; count < 21; count++)
    await service.call("POST", `/api/site/${site.id}/webhook`, {
      url: `http://127.0.0.1:9/${count}`,
    });
  const made = await service.call("POST", `/api/site/${site.id}/webhook`, {
    url: "http://127.0.0.1:9/pinged",
  });
  const { id: webhookId }: { id: number } = await made.json();
  for (let count = 0; count < 2; count++)
    await service.call("POST", `/api/site-webhook/${webhookId}/ping`);
  await site.createWorker();
  const { id: configurationId } = await backups.createConfiguration();
  await backups.run(configurationId);
  await watchFirstRow(page, "main tbody tr, main ol > li[data-row]");
  for (const width of widths) {
    await connectAnew(page, service.url);
    await page.setViewportSize({ width, height: 800 });
    for (const path of [
      `/sites/${site.id}/workers`,
      `/servers/${backups.server.id}/backups`,
      `/backup-configurations/${configurationId}`,
      `/sites/${site.id}/webhooks?sort=-id`,
      `/webhooks/${webhookId}`,
      "/activity",
    ]) {
      await page.goto(service.url + path);
      await expect(page.locator("main tbody tr, main ol > li[data-row]").first()).toBeVisible();
      if (!/^\/(webhooks|activity)/.test(path))
        await expect(page.getByRole("main").getByRole("searchbox")).toBeVisible();
      await page.waitForLoadState("networkidle");
      const tops = await topsOf(page);
      expect(tops, `${path} at ${width} px`).toHaveLength(1);
    }
  }
});
