// The documentation as pages of the dashboard.
import { expect, test } from "./fixtures.ts";
import { expectAccessible, expectAccessibleInBoth, expectNoSidewaysScroll } from "./helpers.ts";

test("shows the help as pages, with contents, linkable sections, and links between them", async ({
  connected: page,
  service,
}) => {
  await page.goto(`${service.url}/activity`);
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Help" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Help" })).toBeFocused();
  await expectAccessibleInBoth(page);
  await page.getByRole("main").getByRole("link", { name: "Workers", exact: true }).click();
  await expect(page).toHaveURL(`${service.url}/help/workers`);
  await expect(page.getByRole("heading", { level: 1, name: "Workers" })).toBeFocused();
  await expect(page).toHaveTitle(/Workers · Help · Quarterdeck$/);
  await expectAccessible(page);

  const section = page.getByRole("heading", { level: 2, name: /^Crash loops/ });
  const contents = page.getByRole("navigation", { name: "On this page" });
  await contents.getByRole("link", { name: "Crash loops" }).click();
  await expect(page).toHaveURL(/#crash-loops$/);
  await expect(section).toBeFocused();
  await expect(section).toBeInViewport();
  // The URL leads to the section, too.
  await page.reload();
  await expect(section).toBeFocused();

  await page.getByRole("main").getByRole("link", { name: "the inventory" }).first().click();
  await expect(page).toHaveURL(/\/help\/inventory#accounts$/);
  await expect(page.getByRole("heading", { name: /^Accounts/ })).toBeFocused();
  await page.goBack();
  await expect(page.getByRole("heading", { level: 1, name: "Workers" })).toBeVisible();
});

test("copies code of the help unchanged @long", async ({ connected: page, service }) => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(`${service.url}/help/backups`);
  const code = page.getByRole("region", { name: /^Code/ }).first();
  await page
    .getByRole("button", { name: /^Copy code/ })
    .first()
    .click();
  await expect(page.getByText("Copied", { exact: true })).toBeAttached();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await code.innerText());
});

test("copies code even if the browser denies its clipboard, and keeps the focus on the button", async ({
  connected: page,
  service,
}) => {
  // Granting one permission denies all others.
  await page.context().grantPermissions(["clipboard-read"]);
  await page.goto(`${service.url}/help/backups`);
  const code = page.getByRole("region", { name: /^Code/ }).first();
  const copy = page.getByRole("button", { name: /^Copy code/ }).first();
  await copy.focus();
  await page.keyboard.press("Enter");
  await expect(page.getByText("Copied", { exact: true })).toBeAttached();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await code.innerText());
  await expect(copy).toBeFocused();
});

test("every page of the help exists, fits a phone, and complies with the content security policy @long", async ({
  connected: page,
  service,
}) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(`${service.url}/help`);
  const links = page.getByRole("main").getByRole("link");
  await expect(links.first()).toBeVisible();
  const names = await links.allInnerTexts();
  expect(names.length).toBeGreaterThan(10);
  for (const name of names) {
    await page.getByRole("main").getByRole("link", { name, exact: true }).click();
    await expect(page.getByRole("heading", { level: 1, name, exact: true })).toBeVisible();
    await expectNoSidewaysScroll(page);
    await page.goBack();
    await expect(page.getByRole("heading", { level: 1, name: "Help" })).toBeVisible();
  }
  await page.goto(`${service.url}/help/webhooks`);
  await page.getByText("On this page").filter({ visible: true }).click();
  await expect(
    page.getByRole("navigation", { name: "On this page" }).getByRole("link").first(),
  ).toBeVisible();
  await expectAccessibleInBoth(page);
});

test("shows “Not found” for an unknown help page @long", async ({ connected: page, service }) => {
  for (const name of ["nothing", "constructor", "..%2Fbackups"]) {
    await page.goto(`${service.url}/help/${name}`);
    await expect(page.getByRole("heading", { level: 1, name: "Not found" })).toBeVisible();
  }
});

test("a form's help link opens in a new tab @long", async ({ connected: page, service, site }) => {
  await page.goto(`${service.url}/sites/${site.id}/workers/new`);
  await page.getByLabel("Queue", { exact: true }).fill("mail");
  const [tab] = await Promise.all([
    page.waitForEvent("popup"),
    page.getByRole("link", { name: "How workers run" }).click(),
  ]);
  await expect(tab).toHaveURL(`${service.url}/help/workers`);
  await expect(tab.getByRole("heading", { level: 1, name: "Workers", exact: true })).toBeVisible();
  await expect(page.getByLabel("Queue", { exact: true })).toHaveValue("mail");
});
