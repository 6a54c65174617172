// Steps and locators that the browser tests of lists share.
import type { Page } from "@playwright/test";
import { expect } from "./fixtures.ts";
import { ofWorker } from "./helpers.ts";

export const box = (page: Page, id: number) =>
  page.getByRole("checkbox", { name: ofWorker(id, "Select") });

export const bar = (page: Page) => page.getByRole("region", { name: "Selection" });

/** Opens a list and waits for the code of the shortcuts, which is loaded when the browser is idle. */
export async function openList(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await expect(page.getByRole("row").nth(1)).toBeVisible();
  await expect(page.locator("[popover]")).toBeAttached();
}
