// Tests a token that can only read: every page shows its actions disabled with the reason, and never sends a change.
import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import {
  connectAs,
  createReadingToken,
  expectAccessible,
  expectToast,
  openWithin,
  workerRow,
} from "./helpers.ts";

const reason = "This token can only read.";

/** Names of controls that change nothing at the service. */
const harmless =
  /^(Copy|Dismiss|Show|Pause|Resume|Follow|Search|Filter|Sort|Previous|Next|Clear|Reload|Refresh|Close|Older|Newer|Try again|Remember on this device|Forget device|Disconnect|Not now|Expand|Collapse|Menu|Hide|Load|Earlier|Advanced|More|All|Whole|Live)/;

/** Returns the names of enabled controls that are not known to be harmless. */
const enabledChanges = (page: Page) =>
  page
    .locator(
      "main button:not([aria-disabled=true]), main a[href$='/new'], main a[href*='/new?'], main a[href$='/edit']",
    )
    .evaluateAll(
      (elements, pattern) =>
        elements
          .map((element) => (element.getAttribute("aria-label") ?? element.textContent).trim())
          .filter((name) => !new RegExp(pattern).test(name)),
      harmless.source,
    );

test("every page shows its actions disabled with the reason to a read-only token", async ({
  page,
  service,
  site,
  backups,
  expected,
}) => {
  // The settings request the list of tokens, which this token may not read.
  expected.push(/403 \(Forbidden\)/);
  const worker = await site.createWorker();
  const configuration = await backups.createConfiguration();
  const { last_backup: backup } = await backups.run(configuration.id);
  const ofSite = await backups.createConfiguration({
    backupable_type: "site",
    backupable_id: backups.site.id,
  });
  const { last_backup: files } = await backups.run(ofSite.id);
  const made = await service.call("POST", `/api/site/${site.id}/webhook`, {
    url: "http://127.0.0.1:59998/hook",
  });
  const { id: webhookId }: { id: number } = await made.json();
  await service.changeInventory(({ notification_channels: channels }) =>
    channels.push('{ id: 77, name: on-call, type: email, email: "oncall@example.com" }'),
  );
  await connectAs(page, service.url, await createReadingToken(service));
  const changes: string[] = [];
  page.on("request", (request) => {
    if (request.method() !== "GET") changes.push(`${request.method()} ${request.url()}`);
  });

  await page.goto(`${service.url}/help`);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  const expectNoChanges = async (path: string) => {
    await expect.poll(() => enabledChanges(page), { message: path }).toEqual([]);
  };
  const open = async (path: string) => {
    await openWithin(page, path);
    await expectNoChanges(path);
  };
  for (const path of [
    "/",
    `/servers/${backups.server.id}/backups`,
    `/servers/${backups.server.id}/backups/new`,
    `/servers/${backups.server.id}/notifications`,
    `/backup-configurations/${configuration.id}`,
    `/backup-configurations/${configuration.id}/edit`,
    `/backups/${backup?.id}`,
    `/backups/${backup?.id}/contents`,
    `/backups/${backup?.id}/restore`,
    `/backups/${files?.id}/contents`,
    "/import",
    `/workers/${worker.id}`,
    `/workers/${worker.id}/edit`,
    `/sites/${site.id}/webhooks`,
    `/sites/${site.id}/webhooks/new`,
    `/webhooks/${webhookId}`,
    "/activity",
    "/settings",
  ])
    await open(path);

  // Pages that need other permissions say “Not allowed”, not “Not found”.
  for (const path of ["/settings/inventory", "/settings/inventory/servers/new"]) {
    await page.goto(service.url + path);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Not allowed");
    await expectNoChanges(path);
  }

  // Content that needs a request this token may not make is replaced by the reason.
  await open(`/backups/${files?.id}/contents`);
  await expect(page.getByRole("main")).toContainText(
    "This token can only read. To list the files of a backup",
  );
  await expectAccessible(page);

  // A form shows why it cannot be saved, also to screen readers.
  await open(`/sites/${site.id}/workers/new`);
  const create = page.getByRole("button", { name: "Create worker" });
  await expect(create).toHaveAccessibleDescription(reason);
  await page.getByLabel("Queue").press("Enter");
  await expect(page).toHaveURL(/new$/);
  await expectAccessible(page);

  // Checkboxes, shortcuts, bulk actions and the palette are disabled, too.
  await open(`/sites/${site.id}/notifications`);
  const channel = page.getByRole("checkbox", { name: "on-call" });
  await expect(channel).toHaveAttribute("aria-disabled", "true");
  await channel.click({ force: true });
  await expect(channel).not.toBeChecked();
  await expect(channel).toHaveAccessibleDescription(new RegExp(reason));

  await open(`/sites/${site.id}/workers`);
  const stop = page.getByRole("button", { name: new RegExp(`^Stop`) }).first();
  await expect(stop).toHaveAccessibleDescription(reason);
  await page.keyboard.press("n");
  await expectToast(page, "alert", reason);
  await expect(page).toHaveURL(/workers$/);
  await workerRow(page, worker.id).getByRole("checkbox").check();
  const bar = page.getByRole("region", { name: "Selection" });
  await expect(bar.getByRole("button", { name: /^Stop/ })).toHaveAccessibleDescription(reason);
  await expect(bar.getByRole("button", { name: "Clear selection" })).toBeEnabled();
  await page.keyboard.press("ControlOrMeta+k");
  await page.getByRole("dialog").getByRole("combobox").fill("new webhook");
  await expect(page.getByRole("option", { name: /New webhook/ }).first()).toBeDisabled();
  expect(changes).toEqual([]);
});

test("disables nothing for a token with all permissions @long", async ({
  connected: page,
  service,
  site,
}) => {
  await site.createWorker();
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await expect(page.getByRole("button", { name: /^Stop/ }).first()).toBeEnabled();
  await page.getByRole("link", { name: "New worker" }).click();
  await expect(page.getByRole("button", { name: "Create worker" })).toBeEnabled();
});
