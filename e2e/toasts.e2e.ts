// Tests toasts: one for each action, which stays until it is read, and none if the page shows the same.
import { expect, test } from "./fixtures.ts";
import { configurationRow, expectAccessible, expectRow } from "./helpers.ts";

// With animations, like most users.
test.use({ contextOptions: { reducedMotion: "no-preference" } });

const press = "Run now: Orders, nightly";

test("a run that ends while the user is on another page replaces its toast", async ({
  connected: page,
  service,
  backups,
}) => {
  await backups.createConfiguration();
  await page.goto(`${service.url}/servers/${backups.server.id}/backups`);
  await page.getByRole("button", { name: press }).click();
  await page.getByRole("link", { name: "Activity" }).first().click();
  await expect(page.getByRole("heading", { name: "Activity", level: 1 })).toBeVisible();
  const message = page
    .getByRole("status")
    .getByText(/^Backup of “Orders, nightly” (finished|running)/);
  await expect(message).toHaveText("Backup of “Orders, nightly” finished.", { timeout: 20_000 });
  await expect(message).toHaveCount(1);
  await expectAccessible(page);
});

test("shows no toast for a run that the page shows @long", async ({
  connected: page,
  service,
  backups,
}) => {
  const { id } = await backups.createConfiguration();
  await page.goto(`${service.url}/servers/${backups.server.id}/backups`);
  await page.getByRole("button", { name: press }).click();
  await expect
    .poll(async () => (await backups.configuration(id)).last_backup?.status, { timeout: 20_000 })
    .toBe("finished");
  await expectRow(configurationRow(page, "Orders, nightly"), "finished");
  await expect(page.getByRole("status").getByText(/^Backup of/)).toHaveCount(0);
});

test("a toast stays while it has the pointer or the focus, and Escape closes it @long", async ({
  connected: page,
  service,
  site,
}) => {
  await page.clock.install();
  await site.createWorker({ startsecs: 0 });
  await service.call("POST", "/api/tokens", { name: "old pipeline", abilities: ["read"] });
  await page.goto(`${service.url}/settings`);
  await page.getByRole("button", { name: "Revoke old pipeline" }).first().click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Revoke token" }).click();
  const message = page.getByRole("status").getByText("old pipeline revoked.");
  await expect(message).toBeVisible();
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.clock.runFor(60_000);
  await page.keyboard.press("Escape");
  await message.hover();
  await page.clock.runFor(60_000);
  await expect(message).toBeVisible();
  const dismiss = page.getByRole("button", { name: "Dismiss" });
  await dismiss.focus();
  await page.mouse.move(0, 0);
  await page.clock.runFor(60_000);
  await expect(message).toBeVisible();
  await dismiss.press("Escape");
  await expect(message).toBeHidden();
});
