// Tests an update of the service while a tab is open: the tab shows it once, and the next page loads the new build.
import { expect } from "./fixtures.ts";
import { connectAs } from "./helpers.ts";
import { test } from "./installation.ts";

test("an open tab reports a new build once, keeps what is typed, and loads the build with the next page", async ({
  page,
  site,
  installation,
}) => {
  await connectAs(page, installation.url);
  await page.goto(`${installation.url}/sites/${site.id}/workers/new`);
  await expect(page.getByRole("log", { name: "Changes" })).toBeAttached({ timeout: 15_000 });
  const queue = page.getByLabel("Queue", { exact: true });
  await queue.fill("typed before the update");
  const loadedAt = () => page.evaluate(() => performance.timeOrigin);
  const before = await loadedAt();

  await installation.update(async () => {
    // Hovering preloads the link's page, which fails during the update.
    await page.getByRole("link", { name: "Activity" }).first().hover();
    await expect(page.getByText(/Unreachable since/)).toBeVisible({ timeout: 15_000 });
  });
  const news = page.getByRole("status").getByText("Quarterdeck was updated.");
  await expect(news).toBeVisible({ timeout: 30_000 });
  await expect(queue).toHaveValue("typed before the update");
  expect(await loadedAt()).toBe(before);
  await page.getByRole("button", { name: "Dismiss" }).click();

  // When the user closes the tab, the browser asks.
  const asked = page.waitForEvent("dialog");
  await page.close({ runBeforeUnload: true });
  const question = await asked;
  expect(question.type()).toBe("beforeunload");
  await question.dismiss();

  await page.getByRole("link", { name: "Settings" }).first().click();
  await page.getByRole("button", { name: "Keep editing" }).click();
  await expect(queue).toHaveValue("typed before the update");
  expect(await loadedAt()).toBe(before);
  await page.getByRole("link", { name: "Settings" }).first().click();
  const loaded = page.waitForEvent("load");
  await page.getByRole("button", { name: "Discard changes" }).click();
  await loaded;
  expect(await loadedAt()).not.toBe(before);
  await expect(page.getByRole("heading", { name: "Settings", level: 1 })).toBeVisible();
  await expect(news).toBeHidden();
});
