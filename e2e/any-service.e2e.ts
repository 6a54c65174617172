// Tests the dashboard with a service of another vendor: all operations of the interface work, whatever state words the
// service uses, and no extra of Quarterdeck is shown.
import { workerBody } from "../server/testing/worker-body.ts";
import { expect } from "./fixtures.ts";
import { configurationRow, expectAccessible, expectRow, workerRow, ofWorker } from "./helpers.ts";
import { serverId, siteId } from "./second-service/second-service.ts";
import {
  chooseChannels,
  createWorker,
  deleteWorker,
  expectWord,
  openPlace,
  pressAction,
  test,
} from "./second-service/steps.ts";

test.describe("another service, connected by its address:", () => {
  test("a worker is created after an error at its field, and followed until it is up @long", async ({
    page,
    second,
    open,
  }) => {
    await open("base address");
    await openPlace(page, "site");
    await expect(page.getByText("No workers yet")).toBeVisible();
    await page.getByRole("link", { name: "New worker" }).first().click();
    const id = await createWorker(page, second);
    await expect(page.getByText("This service doesn't provide worker logs")).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("button", { name: ofWorker(id, "Delete") }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete worker" }).click();
    await expect(page.getByText("No workers yet")).toBeVisible();
    // A missing operation is not requested again and again.
    expect(second.asked.filter((one) => one.endsWith(`/${id}/log`)).length).toBeLessThan(3);
  });

  test("workers are stopped, started, restarted and deleted @long", async ({
    page,
    second,
    open,
  }) => {
    await open("base address");
    const id = await second.make(`/api/site/${siteId}/worker`, workerBody);
    second.move();
    second.move();
    await openPlace(page, "site");
    const row = workerRow(page, id);
    await expectRow(row, "active", "default on database");
    // The service cannot edit workers, but a duplicate is an ordinary new worker.
    await expect(row.getByRole("link", { name: ofWorker(id, "Duplicate") })).toBeVisible();
    await expect(row.getByRole("link", { name: ofWorker(id, "Edit") })).toBeHidden();
    await pressAction(page, second, id, "Stop");
    second.move();
    await expectWord(row, "halted");
    await pressAction(page, second, id, "Start");
    second.move();
    await expectWord(row, "warming");
    second.move();
    await expectWord(row, "active");
    await pressAction(page, second, id, "Restart");
    second.move();
    await expectWord(row, "recycling");
    second.move();
    await expectWord(row, "active");
    await expectAccessible(page);
    await deleteWorker(page, id);
  });

  test("webhooks can be created and deleted, without claims about their deliveries @long", async ({
    page,
    open,
  }) => {
    await open("base address");
    await openPlace(page, "site");
    await page.getByRole("link", { name: "Webhooks" }).click();
    await expect(page.getByText("No webhooks yet")).toBeVisible();
    await page.getByRole("link", { name: "New webhook" }).first().click();
    const url = page.getByLabel("URL");
    await url.fill("http://example.com/hook");
    await expect(page.getByRole("heading", { name: "Events" })).toBeHidden();
    await page.getByRole("button", { name: "Create webhook" }).click();
    await expect(url).toHaveAccessibleDescription(/Only https is called/);
    await expectAccessible(page);
    await url.fill("https://example.com/hook");
    await page.getByRole("button", { name: "Create webhook" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(/Webhook \d{16}/);
    await expect(page.getByText("This service doesn't report deliveries")).toBeVisible();
    await expectWord(page, "live");
    await expectAccessible(page);
    await page.getByRole("link", { name: `Site ${siteId} webhooks` }).click();
    await expect(page.getByRole("link", { name: "https://example.com/hook" })).toBeVisible();
    await expect(page.getByRole("button", { name: /^(Ping|Rotate)/ })).toHaveCount(0);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Delete: https://example.com/hook" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete webhook" }).click();
    await expect(page.getByText("No webhooks yet")).toBeVisible();
  });

  test("channels are selected by their ids @long", async ({ page, open }) => {
    await open("base address");
    await expectAccessible(page);
    await openPlace(page, "site");
    await page.getByRole("link", { name: "Notifications" }).click();
    await chooseChannels(page);
    await expectAccessible(page);
  });

  test("backups are configured after an error at a field, changed and deleted @long", async ({
    page,
    second: { move },
    open,
  }) => {
    await open("base address");
    await openPlace(page, "server");
    await expect(page.getByText("No backups yet")).toBeVisible();
    await page.getByRole("link", { name: "New backup" }).first().click();
    await page.getByLabel("Name").fill("Orders");
    await page.getByLabel("Database").fill("9000000000123");
    const provider = page.getByLabel("Storage");
    await provider.fill("13");
    await expect(page.getByLabel("Restore drill")).toBeHidden();
    await page.getByRole("button", { name: "Create backup" }).click();
    await expect(provider).toHaveAccessibleDescription(/No such vault/);
    await expect(provider).toBeFocused();
    await expectAccessible(page);
    await provider.fill("5000000000");
    await page.getByRole("button", { name: "Create backup" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Orders");
    move();
    await expectWord(page, "provisioning");
    move();
    await expectWord(page, "active");

    await page.getByRole("link", { name: "Edit: Orders" }).click();
    await page.getByLabel("Name").fill("Orders, nightly");
    await page.getByRole("button", { name: "Save changes" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Orders, nightly");
    const place = page.getByRole("navigation", { name: "Breadcrumbs" });
    await place.getByRole("link", { name: `Server ${serverId} backups` }).click();
    await expectRow(configurationRow(page, "Orders, nightly"), "active", "Never");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Delete: Orders, nightly" }).click();
    const dialog = page.getByRole("alertdialog");
    await expect(dialog).toContainText("whether it keeps the stored files");
    await expect(dialog.getByRole("radio")).toHaveCount(0);
    await dialog.getByRole("textbox").fill("Orders, nightly");
    await dialog.getByRole("button", { name: "Delete" }).click();
    await expect(page.getByText("No backups yet")).toBeVisible();
  });

  test("backups are run, shown, restored and deleted", async ({ page, second, open }) => {
    const { move } = second;
    await open("base address");
    await second.make(`/api/server/${serverId}/backup-configuration`, {
      name: "Orders",
      frequency: "30 2 * * *",
      storage_provider_id: 5,
      backupable_type: "database",
      backupable_id: 12,
    });
    move();
    move();
    await openPlace(page, "server");
    await page.getByRole("link", { name: "Orders", exact: true }).click();
    await page.getByRole("button", { name: "Run now: Orders" }).click();
    const runs = page.getByRole("table", { name: "Backups" });
    await expectWord(runs, "queued");
    move();
    await expectWord(runs, "copying");
    move();
    await expectWord(runs, "finished");
    await expect(runs).toContainText("48.2 MB");
    await expect(runs.getByRole("button", { name: /^(Download|Restore drill) / })).toHaveCount(0);
    await expectAccessible(page);

    await runs.getByRole("link", { name: /^Backup \d+/ }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(/^Backup \d{16}/);
    const main = page.getByRole("main");
    await expect(main).toContainText("copied 12 files");
    await expect(main).not.toContainText("Last verified");
    await page.getByRole("button", { name: /^Restore backup/ }).click();
    const dialog = page.getByRole("alertdialog");
    await expect(dialog).toContainText("doesn't say whether it saves current data");
    await dialog.getByRole("textbox").fill("database-12");
    await dialog.getByRole("button", { name: "Restore" }).click();
    await expect(main).toContainText("Restore restoring");
    move();
    await expect(main).toContainText("Restore finished");
    await expectAccessible(page);
    await page.getByRole("button", { name: /^Delete backup/ }).click();
    await dialog.getByRole("button", { name: "Delete backup" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Orders");
    await expect(page.getByText("No backups yet")).toBeVisible();
  });

  test("the page of a deleted object is left without a “Not found”, however late the next page arrives", async ({
    page,
    second,
    open,
  }) => {
    // Refetches everything at the moment the deletion is answered.
    await page.addInitScript(() => {
      const ask = globalThis.fetch;
      globalThis.fetch = async (...request) => {
        const response = await ask(...request);
        if (request[1]?.method === "DELETE") dispatchEvent(new Event("online"));
        return response;
      };
    });
    await open("base address");
    const id = await second.make(`/api/server/${serverId}/backup-configuration`, {
      name: "Orders",
      frequency: "30 2 * * *",
      storage_provider_id: 5,
      backupable_type: "database",
      backupable_id: 12,
    });
    second.move();
    second.move();
    await page.goto(new URL(`/backup-configurations/${id}`, page.url()).href);
    const title = page.getByRole("heading", { level: 1 });
    await expect(title).toHaveText("Orders");
    const held = Promise.withResolvers<void>();
    await page.route(`${second.url}/api/server/${serverId}/backups*`, async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.getByRole("button", { name: "Delete: Orders" }).click();
    const dialog = page.getByRole("alertdialog");
    await dialog.getByRole("textbox").fill("Orders");
    const isMissing = page.waitForResponse(
      (response) => response.status() === 404 && response.url().endsWith(`configuration/${id}`),
    );
    await dialog.getByRole("button", { name: "Delete" }).click();
    await isMissing;
    await expect(dialog).toBeHidden();
    await expect(title).toHaveText("Orders");
    held.resolve();
    await expect(page.getByText("No backups yet")).toBeVisible();
  });

  test("the refusal of a token is shown at its field, and missing operations have no links @long", async ({
    page,
    service,
    second,
    open,
    expected,
  }) => {
    expected.push(/401/);
    await page.goto(`${service.url}/connect`);
    await page.getByLabel("Token").fill("another");
    await page.getByLabel("Address").fill(second.url);
    await page.getByRole("button", { name: "Connect" }).click();
    await expect(page.getByLabel("Token")).toHaveAccessibleDescription(/The token isn't valid/);
    await open("base address");
    await expect(page.getByRole("link", { name: "Activity" })).toHaveCount(0);
    await page.goto(`${service.url}/activity`);
    await expect(page.getByText("This service doesn't keep a timeline.")).toBeVisible();
  });
});

// The service passes all requests on, unnoticed by the dashboard. Only paths, methods, bodies, errors and rate limits
// take another way here, and this test covers all of them.
test("another service's pages work the same through QUARTERDECK_UPSTREAM @long", async ({
  page,
  second,
  open,
}) => {
  await open("upstream");
  await openPlace(page, "site");
  await page.getByRole("link", { name: "New worker" }).first().click();
  const id = await createWorker(page, second);
  await page.getByRole("link", { name: `Site ${siteId} workers` }).click();
  await pressAction(page, second, id, "Stop");
  second.move();
  await expectWord(workerRow(page, id), "halted");
  await deleteWorker(page, id);
  await page.getByRole("link", { name: "Notifications" }).click();
  await chooseChannels(page);
  // The help pages belong to the dashboard, whatever service it uses.
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Help" }).click();
  // The previous page has a link of the same name.
  await expect(page.getByRole("heading", { level: 1, name: "Help" })).toBeVisible();
  await page.getByRole("main").getByRole("link", { name: "Workers", exact: true }).click();
  await expect(page.getByRole("heading", { level: 2, name: /^Crash loops/ })).toBeVisible();
});
