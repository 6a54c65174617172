// Tests actions on many selected rows.
import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import {
  configurationRow,
  connectAs,
  createReadingToken,
  expectAccessible,
  expectNoSidewaysScroll,
  expectRow,
  expectToast,
  workerRow,
} from "./helpers.ts";
import { bar, box, openList } from "./list-helpers.ts";

/** Returns the result of one row in the dialog that reports the outcome. */
const result = (page: Page, name: string) =>
  page
    .getByRole("alertdialog")
    .getByRole("listitem")
    .filter({ has: page.getByText(name, { exact: true }) });

test("stops many workers after one confirmation, and shows the outcome of each row @long", async ({
  connected: page,
  service,
  site,
  expected,
}) => {
  expected.push(/404 \(Not Found\)/);
  await site.artisan("trap '' TERM; sleep 300");
  const ids = [];
  for (let count = 0; count < 3; count++)
    ids.push((await site.createWorker({ stopwaitsecs: 4 })).id);
  const [one = 0, two = 0, gone = 0] = ids;
  const { id: busy } = await site.createWorker({ startsecs: 60, stopwaitsecs: 4 });
  await openList(page, `${service.url}/sites/${site.id}/workers`);
  for (const id of ids) await expectRow(workerRow(page, id), "installed");
  await page.getByRole("checkbox", { name: "Select all on this page" }).check();
  await expect(bar(page)).toContainText("4 selected");

  await page.keyboard.press("t");
  const dialog = page.getByRole("alertdialog");
  await expect(dialog).toContainText("Stop 3 workers?");
  await expect(dialog).toContainText("Stops 3 processes");
  await expect(dialog.getByRole("list", { name: "Excluded" })).toContainText(`Worker ${busy}`);
  await expect(dialog.getByRole("list", { name: "Excluded" })).toContainText(
    "Can't stop while the status is installing.",
  );
  await service.call("DELETE", `/api/worker/${gone}`);
  await expect
    .poll(async () => (await service.call("GET", `/api/worker/${gone}`)).status)
    .toBe(404);
  await dialog.getByRole("button", { name: "Stop 3 workers" }).click();
  await expect(dialog.getByRole("status")).toHaveText("2 done, 1 refused.");
  await expect(result(page, `Worker ${one}`)).toContainText("stopped");
  await expect(result(page, `Worker ${two}`)).toContainText("stopped");
  await expect(result(page, `Worker ${gone}`)).toContainText("refused");
  await expect(result(page, `Worker ${gone}`)).toContainText("It may have been deleted meanwhile");
  await expect(dialog.getByRole("button", { name: "Close" })).toBeFocused();
  const again = page.waitForResponse((response) => response.url().endsWith(`/${gone}/stop`));
  await dialog.getByRole("button", { name: "Retry failed" }).click();
  await again;
  await expect(dialog.getByRole("status")).toHaveText("2 done, 1 refused.");
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(page.getByRole("checkbox", { name: "Select all on this page" })).toBeFocused();
  // Rows that succeeded are deselected; the others stay selected.
  await expect(box(page, one)).not.toBeChecked();
  await expect(box(page, busy)).toBeChecked();
  expect((await site.worker(one)).status).toMatch(/^stopp/);
  await service.call("DELETE", `/api/worker/${busy}`);
});

test("names the backups to delete and what is lost; it fits 360 px and is accessible in dark and light", async ({
  connected: page,
  service,
  backups,
}) => {
  const { name } = await backups.createConfiguration();
  await backups.createConfiguration({ name: "By the hour", frequency: "0 * * * *" });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 360, height: 740 });
  await openList(page, `${service.url}/servers/${backups.server.id}/backups`);
  await page.getByRole("checkbox", { name: `Select ${name}` }).check();
  await page.getByRole("checkbox", { name: "Select By the hour" }).check();
  await expectNoSidewaysScroll(page);
  await bar(page).getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("alertdialog");
  await expect(dialog.getByRole("heading", { name: "Delete 2 backups?" })).toBeFocused();
  await expectAccessible(page);

  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1440, height: 900 });
  await expectAccessible(page);
  for (const text of [name, "By the hour", `database ${backups.database.name}`])
    await expect(dialog).toContainText(text);
  await expect(dialog.getByRole("radio", { name: "Keep stored files" })).toBeChecked();
  const confirm = dialog.getByRole("button", { name: "Delete 2 backups" });
  await expect(confirm).toBeDisabled();
  const typed = dialog.getByLabel("Type “delete 2” to confirm");
  // Otherwise a phone's keyboard would write “Delete 2”, which does not match.
  await expect(typed).toHaveAttribute("autocapitalize", "none");
  await typed.fill("delete 2");
  await confirm.click();
  await expect(dialog.getByRole("status")).toHaveText("2 done.");
  await expect(configurationRow(page, name)).toBeHidden();
  await page.keyboard.press("Enter");
  await expect(dialog).toBeHidden();
  await expect(page.getByText("No backups yet")).toBeVisible();
  await expect(page.getByRole("heading", { level: 1 })).toBeFocused();
});

test("pings and deletes a whole page of webhooks, and turns pages with bracket keys @long", async ({
  connected: page,
  service,
  site,
}) => {
  for (let count = 0; count < 21; count++)
    await service.call("POST", `/api/site/${site.id}/webhook`, {
      // The port of the `discard` service, on which nothing listens.
      url: `http://127.0.0.1:9/${count}`,
    });
  // Sorted by age, which an undelivered ping does not change.
  await openList(page, `${service.url}/sites/${site.id}/webhooks?sort=-id`);
  await page.keyboard.press("]");
  await expect(page.getByRole("row")).toHaveCount(2);
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await expect(bar(page)).toContainText("1 selected");
  await page.keyboard.press("p");
  const dialog = page.getByRole("alertdialog");
  await expect(dialog.getByRole("status")).toHaveText("1 failed.");
  await page.keyboard.press("Enter");
  await expect(dialog).toBeHidden();
  await page.keyboard.press("x");
  await page.keyboard.press("[");
  await expect(page.getByRole("row")).toHaveCount(21);
  await expect(bar(page)).toBeHidden();

  await page.getByRole("checkbox", { name: "Select all on this page" }).check();
  await page.keyboard.press("#");
  await dialog.getByRole("button", { name: "Delete 20 webhooks" }).click();
  await expect(dialog.getByRole("status")).toHaveText("20 done.");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("row")).toHaveCount(2);
});

test("pauses and enables webhooks together, and skips those already in that state @long", async ({
  connected: page,
  service,
  site,
  expected,
}) => {
  const ids: number[] = [];
  for (const path of ["one", "two", "three"]) {
    const url = `http://127.0.0.1:9/${path}`;
    const made = await service.call("POST", `/api/site/${site.id}/webhook`, { url });
    ids.push((await made.json()).id);
  }
  const [first = 0, ...others] = ids;
  const change = { enabled: false };
  await service.call("PUT", `/api/site-webhook/${first}`, change);
  const statuses = () =>
    Promise.all(
      ids.map(
        async (id) => (await (await service.call("GET", `/api/site-webhook/${id}`)).json()).status,
      ),
    );
  await openList(page, `${service.url}/sites/${site.id}/webhooks`);
  await page.getByRole("checkbox", { name: "Select all on this page" }).check();
  await bar(page).getByRole("button", { name: "Pause: 3 selected" }).click();
  const dialog = page.getByRole("alertdialog");
  await expect(dialog).toContainText("Can't pause while the status is paused.");
  await dialog.getByRole("button", { name: "Pause 2 webhooks" }).click();
  await expect(dialog.getByRole("status")).toHaveText("2 done.");
  await expect(result(page, "http://127.0.0.1:9/two")).toContainText("paused");
  expect(await statuses()).toEqual(["paused", "paused", "paused"]);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("row").filter({ hasText: "paused" })).toHaveCount(3);

  await page.getByRole("checkbox", { name: "Select all on this page" }).check();
  await expect(
    bar(page).getByRole("button", { name: "Pause: 3 selected" }),
  ).toHaveAccessibleDescription("Pause is not available for the selected items.");
  await bar(page).getByRole("button", { name: "Enable: 3 selected" }).click();
  await expect(dialog.getByRole("status")).toHaveText("3 done.");
  expect(await statuses()).toEqual(["enabled", "enabled", "enabled"]);
  await page.keyboard.press("Enter");

  // Failures are reported, and what succeeded stays done.
  await page.getByRole("checkbox", { name: "Select all on this page" }).check();
  expected.push(/404 \(Not Found\)/);
  // Never answers, so that the page still lists the deleted webhook.
  await page.route(/\/api\/site\/\d+\/webhooks/, () => {});
  await service.call("DELETE", `/api/site-webhook/${others[0]}`);
  await bar(page).getByRole("button", { name: "Pause: 3 selected" }).click();
  await expect(dialog.getByRole("status")).toHaveText("2 done, 1 refused.");
});

test("a read-only token can select webhooks, but neither pause nor enable them @long", async ({
  page,
  service,
  site,
}) => {
  const url = "http://127.0.0.1:9/hook";
  await service.call("POST", `/api/site/${site.id}/webhook`, { url });
  await connectAs(page, service.url, await createReadingToken(service));
  const changes: string[] = [];
  page.on("request", (request) => {
    if (request.method() !== "GET") changes.push(request.url());
  });
  await openList(page, `${service.url}/sites/${site.id}/webhooks`);
  await page.getByRole("checkbox", { name: "Select all on this page" }).check();
  for (const name of ["Pause: 1 selected", "Enable: 1 selected"]) {
    const button = bar(page).getByRole("button", { name });
    await expect(button).toHaveAccessibleDescription("This token can only read.");
    await button.click({ force: true });
  }
  await expect(page.getByRole("alertdialog")).toHaveCount(0);
  expect(changes).toEqual([]);
});

test("selects all matches across pages, follows them to their end, and shows which failed", async ({
  connected: page,
  service,
  site,
}) => {
  const mails = [];
  for (const queue of ["mail-1", "mail-2", "mail-3"])
    mails.push((await site.createWorker({ queue, startsecs: 1, startretries: 0 })).id);
  const { id: other } = await site.createWorker({ queue: "other" });
  const { id: leaving } = await site.createWorker({ queue: "mail-4" });
  for (const id of [...mails, other, leaving])
    await expect.poll(async () => (await site.worker(id)).status).toBe("installed");
  await openList(page, `${service.url}/sites/${site.id}/workers?q=mail&per_page=2&sort=id`);
  await page.getByRole("checkbox", { name: "Select all on this page" }).check();
  await bar(page).getByRole("button", { name: "Select all 4 that match" }).click();
  await expect(bar(page)).toContainText("4 selected");
  // The button no longer exists.
  await expect(bar(page).getByText("4 selected", { exact: true }).first()).toBeFocused();
  await expectAccessible(page);
  // No longer matches, and is not on this page.
  const change = await service.call("PUT", `/api/worker/${leaving}`, { queue: "reports" });
  expect(change.status).toBe(200);

  await site.artisan(
    `case "$*" in *mail-2*) exit 1;; esac; trap "exit 0" TERM; while :; do sleep 0.1; done`,
  );
  await page.keyboard.press("r");
  const dialog = page.getByRole("alertdialog");
  await dialog.getByRole("button", { name: "Restart 3 workers" }).click();
  await expect(dialog.getByText("2 done, 1 failed", { exact: true })).toBeVisible();
  await expect(result(page, "mail-1 on database")).toContainText("installed");
  await expect(result(page, "mail-2 on database")).toContainText("Exited with code 1");
  await dialog.getByRole("button", { name: "Show failed" }).click();
  await expect(dialog).toBeHidden();
  await expect(page).toHaveURL(/\/workers\?status=failed%2Ccrash_looping$/);
  await expectRow(workerRow(page, mails[1] ?? 0), "failed");
  await expect(page.getByRole("main").locator("tbody").getByRole("row")).toHaveCount(1);
  // The action did not run on rows that the filter hides.
  expect((await site.worker(other)).status_reason).toBeNull();
});

test("shows a toast with a link to the failures if the dialog was closed early @long", async ({
  connected: page,
  service,
  site,
}) => {
  const { id } = await site.createWorker({ queue: "emails", startsecs: 3, startretries: 0 });
  await expect.poll(async () => (await site.worker(id)).status).toBe("installed");
  await openList(page, `${service.url}/sites/${site.id}/workers`);
  await site.artisan("sleep 1; exit 1");
  await box(page, id).check();
  await expect(bar(page)).toContainText("1 selected");
  await page.keyboard.press("r");
  const dialog = page.getByRole("alertdialog");
  await dialog.getByRole("button", { name: "Restart 1 worker" }).click();
  await expect(dialog.getByText("1 running", { exact: true })).toBeVisible();
  await dialog.getByRole("button", { name: "Close" }).click();
  await expectToast(page, "alert", "Restart 1 worker: 1 failed.");
  await page.getByRole("alert").getByRole("button", { name: "Show" }).click();
  await expect(page).toHaveURL(/\/workers\?status=failed%2Ccrash_looping$/);
});
