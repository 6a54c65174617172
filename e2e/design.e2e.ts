// Compares every primitive with its screenshot, so that no change of its look is unintended.
// To update the screenshots: npx playwright test --config e2e/playwright.config.ts e2e/design --update-snapshots=all
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Locator, Page } from "@playwright/test";
import { createServer, type ViteDevServer } from "vite";
import { blockFontCss, hasBlocksOnly } from "./block-font.ts";
import { expect, test } from "./fixtures.ts";
import { expectAccessible, expectNoSidewaysScroll, nextFrame, resizeWindow } from "./helpers.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

let vite: ViteDevServer;
/** URL of the page, as the server of `npm run dev` serves it. */
let design: string;

test.beforeAll(async () => {
  const server = { host: "127.0.0.1", port: 0, watch: null };
  vite = await createServer({ root, logLevel: "error", server });
  await vite.listen();
  design = `${vite.resolvedUrls?.local[0] ?? ""}_design`;
});

test.afterAll(() => vite.close());

const photograph = {
  // Tolerates a difference of one or two steps of 255 in a color, and rounded edges that differ between browsers.
  threshold: 0.005,
  maxDiffPixels: 40,
};

const schemes = ["light", "dark"] as const;

/** The first visit is slow: Vite transforms every module. */
const translated = { timeout: 120_000 };

const part = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

test("every primitive is accessible and matches its screenshots, light, dark and on a phone, with a tooltip, a dialog and a search", async ({
  page,
}) => {
  // One test loads the page once: loading its hundreds of modules takes longer than all checks.
  test.slow();
  await page.goto(design);
  await expect(part(page, "dark")).toBeVisible(translated);
  for (const scheme of schemes) await expectAccessible(page, `section[aria-label="${scheme}"]`);

  const text = await page.locator("body").innerText();
  expect(text.split("\n").filter((line) => !hasBlocksOnly(line))).toEqual([]);
  await page.addStyleTag({ content: blockFontCss });
  await resizeWindow(page, 1760, 800);
  for (const scheme of schemes) {
    await part(page, scheme).getByRole("button", { name: "Focus" }).focus();
    await expect(part(page, scheme)).toHaveScreenshot(`${scheme}.png`, photograph);
  }

  await resizeWindow(page, 1280, 800);
  for (const scheme of schemes) await photographOverlays(page, scheme);

  await page.emulateMedia({ colorScheme: "light" });
  await page.mouse.move(0, 0);
  await resizeWindow(page, 360, 800);
  await expectNoSidewaysScroll(page);
  // Shadows are on the other screenshots, and make the files much larger.
  await page.addStyleTag({ content: "* { box-shadow: none !important; }" });
  await part(page, "light").getByRole("textbox", { name: "Focus" }).focus();
  await expect(part(page, "light")).toHaveScreenshot("phone.png", photograph);
});

async function photographOverlays(page: Page, scheme: (typeof schemes)[number]): Promise<void> {
  await page.emulateMedia({ colorScheme: scheme });
  const carrier = part(page, scheme).getByRole("button", { name: "Tip", exact: true });
  await carrier.scrollIntoViewIfNeeded();
  // Scrolling closes a tooltip, and the browser reports it one frame later.
  await nextFrame(page);
  await carrier.hover();
  const tip = page.getByText("A tip, above what it belongs to");
  await expect(tip).toHaveScreenshot(`${scheme}-tip.png`, photograph);
  await part(page, scheme).getByRole("button", { name: "Open dialog" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog).toHaveScreenshot(`${scheme}-dialog.png`, photograph);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await part(page, scheme).getByRole("button", { name: "Open search" }).click();
  await expect(dialog).toHaveScreenshot(`${scheme}-search.png`, photograph);
  await page.keyboard.press("Escape");
}

test("shows placeholders and progress bars in forced colors @long", async ({ page }) => {
  await page.emulateMedia({ forcedColors: "active", reducedMotion: "reduce" });
  await page.goto(design);
  const sample = part(page, "light").getByRole("region", { name: "Progress, Skeleton" });
  await expect(sample).toBeVisible(translated);
  await sample.scrollIntoViewIfNeeded();
  /** Returns the colors of a bar: before its start, at its start and before its end. */
  const colorsOf = async (bar: Locator) => {
    const { x, y, width, height } = (await bar.boundingBox()) ?? {
      x: 0,
      y: 0,
      width: 0,
      height: 0,
    };
    const picture = await page.screenshot({
      clip: { x: x - 4, y, width: width + 4, height },
      animations: "disabled",
    });
    return page.evaluate(
      async ([png, middle, end]) => {
        const response = await fetch(`data:image/png;base64,${png}`);
        const image = await createImageBitmap(await response.blob());
        const drawing = new OffscreenCanvas(image.width, image.height).getContext("2d");
        drawing?.drawImage(image, 0, 0);
        return [1, 12, end].map((at) => String(drawing?.getImageData(at, middle, 1, 1).data));
      },
      [picture.toString("base64"), Math.floor(height / 2), Math.floor(width) - 4] as const,
    );
  };
  const skeletons = await sample.locator("span[aria-hidden]").all();
  expect(skeletons).toHaveLength(3);
  for (const skeleton of skeletons) {
    const [beside, start] = await colorsOf(skeleton);
    expect(start).not.toBe(beside);
  }
  const [beside, done, left] = await colorsOf(sample.getByRole("progressbar", { name: "Half" }));
  expect(new Set([beside, done, left]).size).toBe(3);
  const [around, unknown] = await colorsOf(sample.getByRole("progressbar", { name: "Unknown" }));
  expect(unknown).not.toBe(around);
});

test("renders consistently when the clock moves on during a render @long", async ({ page }) => {
  await page.addInitScript(() => {
    const now = Date.now;
    let reads = 0;
    Date.now = () => now() + (reads += 1) * 60_000;
  });
  // React logs its warnings as console errors, which fail the test.
  await page.goto(design);
  await expect(part(page, "dark")).toBeVisible(translated);
});

test("the production build contains nothing of this page", async () => {
  const assets = join(root, "dist/assets");
  for (const file of await readdir(assets))
    if (/\.(js|css)$/.test(file))
      expect(await readFile(join(assets, file), "utf8"), file).not.toContain("_design");
});
