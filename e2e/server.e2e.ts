import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./helpers.ts";

test("a server's row on the overview links to its page, which shows whether it responds and what was found on it @long", async ({
  connected: page,
  service,
}) => {
  await page.goto(service.url);
  const line = page
    .getByRole("listitem")
    .filter({ has: page.locator("summary") })
    .first();
  await line.locator("summary").click();
  await line.getByRole("link", { name: "Server", exact: true }).click();
  await expect(page).toHaveURL(`${service.url}/servers/1`);
  await expect(page.getByRole("heading", { name: "Server", exact: true })).toBeVisible();
  await expect(page.getByText("Reachable", { exact: true })).toBeVisible();
  await expect(page.getByText("The service's own machine")).toBeVisible();
  await expect(page.getByRole("heading", { name: "Found on it" })).toBeVisible();
  await expectAccessible(page);
});
