// Tests the second storage: chosen in the form, shown with each backup, and a missing copy made by hand.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "./fixtures.ts";
import { expectAccessible, expectNoSidewaysScroll, openWithin } from "./helpers.ts";
import { fillDatabase, newestOf, removeProvider } from "./backup-helpers.ts";

/** A public key whose bytes are all zero: valid in form, but nothing can be encrypted to it (RFC 7748, 6.1). */
const unusable = "age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq5cu47z";

test("stores a run in both storages, and copies a missing one by hand", async ({
  connected: page,
  service,
  backups,
}) => {
  fillDatabase(backups);
  const folder = join(service.folder, "second");
  await mkdir(folder);
  const setProvider = async (name: string, more = "") => {
    await service.changeInventory((inventory) => {
      inventory.storage_providers = [
        ...inventory.storage_providers.filter((line) => !line.includes("id: 71,")),
        `{ id: 71, name: ${name}, type: local, path: ${folder}${more} }`,
      ];
    });
    await expect
      .poll(async () => await (await service.call("GET", "/api/storage-providers")).text())
      .toContain(`"${name}"`);
  };
  await setProvider("second");
  const { id } = await backups.createConfiguration();

  await page.goto(`${service.url}/backup-configurations/${id}/edit`);
  await page.getByRole("group").getByText("Advanced").click();
  const copyTo = page.getByLabel("Copy to");
  await expect(copyTo.getByRole("option", { name: /^disk/ })).toHaveCount(0);
  await copyTo.selectOption("71");
  await expect(page.getByText("Copies each run to a second storage.")).toBeAttached();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("term").filter({ hasText: "Copy to" })).toBeVisible();
  await expect.poll(async () => (await backups.configuration(id)).status).toBe("installed");

  const first = newestOf(await backups.run(id));
  await openWithin(page, `/backups/${first.id}`);
  const panel = page.getByRole("region", { name: "Copies" });
  await expect(panel).toContainText("Stored (this backup)");
  await expect(panel.getByRole("link", { name: /^backup \d+$/ })).toBeVisible();
  await expect(panel.getByRole("button")).toHaveCount(0);

  // The open page refetches the storage's name.
  await page.clock.install();
  await page.reload();
  await expect(panel).toContainText("second");
  await setProvider("renamed");
  await expect(async () => {
    await page.clock.runFor(60_000);
    await expect(panel).toContainText("renamed", { timeout: 1000 });
  }).toPass();

  await setProvider("second-broken", `, recipients: [${unusable}]`);
  const run = newestOf(await backups.run(id));
  // A reload fetches the storage's name again.
  await page.goto(`${service.url}/backup-configurations/${id}`);
  await expect(page.getByText(/^Missing in second-broken for/)).toBeVisible();
  await expect(page.getByText("needs attention", { exact: true })).toBeVisible();
  await expect(page.getByRole("table", { name: "Backups" })).toContainText("copy missing");
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);

  await setProvider("second");
  await page.goto(`${service.url}/backups/${run.id}`);
  // The reason is shown once: beside the copies, with the action that fixes it.
  await expect(panel.getByText(/^Stored in disk, missing in second-broken: /)).toBeVisible();
  await expect(page.getByText("missing in second-broken")).toHaveCount(1);
  await expect(page.getByRole("log", { name: "Output" })).toContainText(
    "Not copied to second-broken: ",
  );
  await expectAccessible(page);
  await panel.getByText("Failed").getByRole("link").click();
  await expect(panel).toContainText("Failed (this backup)");
  await expect(panel.getByRole("button", { name: /^Copy again/ })).toBeVisible();
  await panel.getByRole("link", { name: `backup ${run.id}` }).click();
  await panel.getByRole("button", { name: `Copy again: backup ${run.id}` }).click();
  await expect(panel).toContainText(/secondStored \(backup \d+\)/);
  await expect(page.getByRole("heading", { level: 1 })).toBeFocused();
  await expect(page.getByText(/^Stored in disk, missing in/)).toHaveCount(0);
  await panel.getByRole("link", { name: /^backup \d+$/ }).click();
  await expect(panel.getByRole("link", { name: `backup ${run.id}` })).toBeVisible();
  await expect(page.getByText("Trigger").locator("..")).toContainText("Copy");
  await openWithin(page, `/backup-configurations/${id}`);
  await expect(page.getByText("protected", { exact: true })).toBeVisible();
  await page.goto("about:blank");
  await removeProvider(service, backups, { id: 71, name: "second" });
});
