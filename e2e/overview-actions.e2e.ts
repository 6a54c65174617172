// Tests the actions of the overview that fix problems in place, and their permissions.
import { copyFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { patientArtisan } from "../server/testing/artisan.ts";
import { breakDatabase, fillDatabase } from "./backup-helpers.ts";
import { expect } from "./fixtures.ts";
import {
  connectAs,
  createReadingToken,
  expectAccessibleInBoth,
  expectNoSidewaysScroll,
  expectToast,
} from "./helpers.ts";
import { test } from "./webhook-receiver.ts";

const problem = (page: Page, name: string) =>
  page.getByRole("main").getByRole("listitem").filter({ hasText: name });

test("runs a failed backup again from its row, which disappears once the run is good @long", async ({
  connected: page,
  service,
  backups,
}) => {
  const { database } = backups;
  fillDatabase(backups);
  const good = `${database.file}.good`;
  await copyFile(database.file, good);
  const { id, name } = await backups.createConfiguration();
  await backups.run(id);
  await breakDatabase(backups);
  await backups.run(id);
  await page.goto(`${service.url}/?show=unprotected`);
  const row = problem(page, database.name);
  await expect(row).toContainText("The last run failed.");
  await expectAccessibleInBoth(page);
  await page.setViewportSize({ width: 360, height: 740 });
  await expectNoSidewaysScroll(page);
  await copyFile(good, database.file);
  const button = row.getByRole("button", { name: `Run backup now: ${database.name}` });
  await button.focus();
  await page.keyboard.press("Enter");
  await expect(row).toBeHidden();
  await expect(page.getByRole("heading", { level: 1 })).toBeFocused();
  await expect
    .poll(async () => (await backups.configuration(id)).last_backup?.status)
    .toBe("finished");

  // The name still links to the configuration.
  await breakDatabase(backups);
  await backups.run(id);
  await page.reload();
  await row.getByRole("link", { name: database.name }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(name);
});

test("starts a failed worker from its row @long", async ({ connected: page, service, site }) => {
  await site.artisan("exit 3\n");
  const { id } = await site.createWorker({ queue: "exports", startsecs: 1, startretries: 0 });
  await expect.poll(async () => (await site.worker(id)).status).toBe("failed");
  await page.goto(`${service.url}/?show=down`);
  const row = problem(page, site.name);
  await site.artisan(patientArtisan);
  await row
    .getByRole("button", { name: `Start exports on database (worker ${id})`, exact: true })
    .click();
  await expectToast(page, "status", `Starting exports on database (worker ${id}).`);
  await expect(row).toBeHidden();
  await expect.poll(async () => (await site.worker(id)).status).toBe("installed");
});

test("enables a disabled webhook from its row @long", async ({
  connected: page,
  service,
  site,
  receiver,
  createWebhook,
}) => {
  receiver.answer = { status: 410 };
  const { id } = await createWebhook();
  await service.call("POST", `/api/site-webhook/${id}/ping`);
  await expect
    .poll(async () => (await service.call("GET", `/api/site-webhook/${id}`)).json())
    .toMatchObject({ status: "disabled" });
  await page.goto(`${service.url}/?show=undelivered`);
  const row = problem(page, site.name);
  await expect(row).toContainText("is disabled");
  receiver.answer = { status: 200 };
  await row.getByRole("button", { name: /^Enable webhook to 127\.0\.0\.1/ }).click();
  await expectToast(page, "status", /^Webhook to .* enabled\.$/);
  await expect(row).toBeHidden();
});

test("offers no action to a read-only token, and reports an object deleted meanwhile @long", async ({
  connected: page,
  service,
  site,
  expected,
}) => {
  await site.artisan("exit 3\n");
  const { id } = await site.createWorker({ queue: "exports", startsecs: 1, startretries: 0 });
  await expect.poll(async () => (await site.worker(id)).status).toBe("failed");
  const row = problem(page, site.name);
  const start = row.getByRole("button", { name: /^Start exports/ });
  await page.goto(`${service.url}/?show=down`);
  await expect(start).toBeVisible();
  expected.push(/404 \(Not Found\)/);
  await service.call("DELETE", `/api/worker/${id}`);
  await expect
    .poll(async () => (await service.call("GET", `/api/worker/${id}`)).status, { intervals: [20] })
    .toBe(404);
  await start.click();
  await expectToast(page, "alert", `Couldn't start exports on database (worker ${id}).`);
  await expect(row).toBeHidden();

  const other = await site.createWorker({ queue: "exports", startsecs: 1, startretries: 0 });
  await expect.poll(async () => (await site.worker(other.id)).status).toBe("failed");
  await connectAs(page, service.url, await createReadingToken(service));
  await page.goto(`${service.url}/?show=down`);
  await expect(start).toHaveAttribute("aria-disabled", "true");
  await expect(start).toHaveAccessibleDescription("This token can only read.");
  await start.press("Enter");
  expect((await site.worker(other.id)).status).toBe("failed");
  await row.getByRole("link", { name: /^Worker exports/ }).click();
  await expect(page).toHaveURL(`${service.url}/workers/${other.id}`);
});
