// Tests what the screenshots do not show: fonts, states, and colors outside the page.
import type { Locator } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { workerRow } from "./helpers.ts";

const maxFontBytes = 60_000;
const maxShift = 0.02;

test("serves its own fonts, which are cached and cause no layout shift", async ({
  connected: page,
  service,
  site,
}) => {
  const fonts = new Map<string, { bytes: number; cache: string }>();
  page.on("response", async (response) => {
    if (!response.url().endsWith(".woff2")) return;
    const cache = (await response.headerValue("cache-control")) ?? "";
    fonts.set(new URL(response.url()).pathname, { bytes: (await response.body()).length, cache });
  });
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await expect(page.getByRole("heading", { name: "Workers", exact: true })).toBeVisible();
  await expect.poll(() => fonts.size).toBe(2);
  const files = [...fonts.values()];
  expect(files.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(maxFontBytes);
  for (const { cache } of files) expect(cache).toContain("immutable");
  const shift = await page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        let sum = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries())
            sum += Number("value" in entry ? entry.value : Number.NaN);
        }).observe({ type: "layout-shift", buffered: true });
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)));
      }),
  );
  expect(shift).toBeLessThanOrEqual(maxShift);
});

test("shows a good state as a dot and a word, a bad one as a pill @long", async ({
  connected: page,
  service,
  site,
}) => {
  const fillOf = (badge: Locator) =>
    badge.evaluate((element) => getComputedStyle(element).backgroundColor);
  await site.artisan("exit 1");
  const failing = await site.createWorker({ startretries: 0, startsecs: 1 });
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  const bad = workerRow(page, failing.id)
    .getByText("failed", { exact: true })
    .filter({ visible: true });
  await expect(bad).toBeVisible();
  expect(await fillOf(bad)).not.toBe("rgba(0, 0, 0, 0)");
  await page.goto(`${service.url}/settings`);
  const good = page.getByText("In use", { exact: true });
  await expect(good).toBeVisible();
  expect(await fillOf(good)).toBe("rgba(0, 0, 0, 0)");
});

test("sets the color of the browser's bars to that of the theme, and provides a phone icon of the right size @long", async ({
  connected: page,
  service,
}) => {
  const barColor = () =>
    page.evaluate(() => {
      const bars = document.querySelectorAll<HTMLMetaElement>("meta[name=theme-color]");
      return [...bars].filter(({ media }) => matchMedia(media).matches).map((bar) => bar.content);
    });
  const headerColor = () =>
    page.getByRole("banner").evaluate((header) => {
      const parts = getComputedStyle(header).backgroundColor.match(/\d+/g) ?? [];
      return `#${parts.map((part) => Number(part).toString(16).padStart(2, "0")).join("")}`;
    });
  await page.setViewportSize({ width: 360, height: 740 });
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto(`${service.url}/settings`);
  const light = await headerColor();
  expect(await barColor()).toEqual([light]);
  await page.getByRole("radio", { name: "Dark" }).check();
  const dark = await headerColor();
  expect(dark).not.toBe(light);
  expect(await barColor()).toEqual([dark]);
  await page.reload();
  expect(await barColor()).toEqual([dark]);
  await page.getByRole("radio", { name: "System" }).check();
  expect(await barColor()).toEqual([light]);

  const icon = page.locator("link[rel=apple-touch-icon]");
  const width = await icon.evaluate(async (link) => {
    const image = new Image();
    image.src = (link instanceof HTMLLinkElement && link.href) || "";
    await image.decode();
    return image.naturalWidth;
  });
  expect(width).toBe(180);
});
