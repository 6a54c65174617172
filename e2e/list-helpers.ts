// What the browser tests of lists say often.
import type { Page } from "@playwright/test";
import { expect } from "./fixtures.ts";
import { ofWorker } from "./helpers.ts";

export const box = (page: Page, id: number) =>
  page.getByRole("checkbox", { name: ofWorker(id, "Select") });

export const bar = (page: Page) => page.getByRole("region", { name: "Selection" });

/** Waits for the code of the keys, which comes when the browser is idle. */
export async function openList(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await expect(page.getByRole("row").nth(1)).toBeVisible();
  await expect(page.locator("[popover]")).toBeAttached();
}
