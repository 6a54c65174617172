// The looks of every primitive, photographed: a change of them is seen, and taken on purpose or not at all.
// To take the photographs anew: npx playwright test --config e2e/playwright.config.ts e2e/design --update-snapshots
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "@playwright/test";
import { createServer, type ViteDevServer } from "vite";
import { blockFontCss } from "./block-font.ts";
import { test as base, expect } from "./fixtures.ts";
import { expectAccessible, expectNoSidewaysScroll } from "./helpers.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

let vite: ViteDevServer;

const test = base.extend<{ design: string }>({
  /** The page's address, as `npm run dev` serves it. */
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what a fixture needs here
  design: async ({}, provide) => provide(`${vite.resolvedUrls?.local[0] ?? ""}_design`),
});

test.beforeAll(async () => {
  const server = { host: "127.0.0.1", port: 0, watch: null };
  vite = await createServer({ root, logLevel: "error", server });
  await vite.listen();
});

test.afterAll(() => vite.close());

const photograph = {
  // One step of a colour is seen; the edges of what is round differ from browser to browser.
  threshold: 0.02,
  maxDiffPixels: 40,
};

const schemes = ["light", "dark"] as const;

const part = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

async function openInBlocks(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await expect(part(page, "dark")).toBeVisible();
  await page.addStyleTag({ content: blockFontCss });
}

test("every primitive looks as photographed, light and dark", async ({ page, design }) => {
  await page.setViewportSize({ width: 1760, height: 800 });
  await openInBlocks(page, design);
  for (const scheme of schemes) {
    await part(page, scheme).getByRole("button", { name: "Focus" }).focus();
    await expect(part(page, scheme)).toHaveScreenshot(`${scheme}.png`, photograph);
  }
});

test("every primitive looks as photographed on a phone", async ({ page, design }) => {
  await page.setViewportSize({ width: 360, height: 800 });
  await openInBlocks(page, design);
  await expectNoSidewaysScroll(page);
  await part(page, "light").getByRole("textbox", { name: "Focus" }).focus();
  await expect(part(page, "light")).toHaveScreenshot("phone.png", photograph);
});

test("a tip and a dialog look as photographed, light and dark", async ({ page, design }) => {
  await openInBlocks(page, design);
  for (const scheme of schemes) {
    await page.emulateMedia({ colorScheme: scheme });
    const focus = part(page, scheme).getByRole("region", { name: "Focus" });
    await focus.getByRole("button").hover();
    const tip = page.getByText("A tip, above what it belongs to");
    await expect(tip).toHaveScreenshot(`${scheme}-tip.png`, photograph);
    await part(page, scheme).getByRole("button", { name: "Open dialog" }).click();
    const dialog = page.getByRole("dialog");
    await expect(dialog).toHaveScreenshot(`${scheme}-dialog.png`, photograph);
    await dialog.getByRole("button", { name: "Cancel" }).click();
  }
});

test("every primitive is accessible in both schemes", async ({ page, design }) => {
  await page.goto(design);
  await expect(part(page, "dark")).toBeVisible();
  await expectAccessible(page);
});

test("what is built for users holds nothing of this page", async () => {
  const assets = join(root, "dist/assets");
  for (const file of await readdir(assets))
    if (/\.(js|css)$/.test(file))
      expect(await readFile(join(assets, file), "utf8"), file).not.toContain("_design");
});
