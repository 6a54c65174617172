import { readFile, rm } from "node:fs/promises";
import { basename } from "node:path";
import { serviceToken } from "../server/testing/service-process.ts";
import { expect, test } from "./fixtures.ts";
import { expectToast } from "./helpers.ts";
import { action, damage, pathOf, runOnce } from "./backup-helpers.ts";
import type { Page, Download } from "@playwright/test";
import type { Backup } from "../contract/backups/backup.ts";

async function startDownload(page: Page, { id }: Backup): Promise<Download> {
  const arriving = page.waitForEvent("download");
  await action(page, "Download", id).click();
  return arriving;
}

test.describe("a download", () => {
  test("is the stored file under its own name, from a URL without the token that works once", async ({
    connected: page,
    service,
    backups,
  }) => {
    const backup = await runOnce(backups);
    const addresses: string[] = [];
    page.on("request", (request) => addresses.push(request.url()));
    await page.goto(`${service.url}/backups/${backup.id}`);
    const download = await startDownload(page, backup);
    expect(download.suggestedFilename()).toBe(basename(backup.path));
    expect(await readFile(await download.path())).toEqual(await readFile(pathOf(backups, backup)));
    await expectToast(page, "status", `Download of backup ${backup.id} started.`);
    await expect(page).toHaveURL(`${service.url}/backups/${backup.id}`);
    expect(download.url()).toMatch(/\/file\?code=\w+$/);
    expect((await fetch(download.url())).status).toBe(401);
    for (const address of [...addresses, download.url()])
      expect(decodeURIComponent(address)).not.toContain(serviceToken);
  });

  test("comes from the service's own address when the dashboard has another origin @long", async ({
    page,
    service,
    backups,
  }) => {
    const backup = await runOnce(backups);
    const address = service.url.replace("localhost", "127.0.0.1");
    await page.goto(`${service.url}/connect`);
    await page.getByLabel("Token").fill(serviceToken);
    await page.getByLabel("Address").fill(address);
    await page.getByRole("button", { name: "Connect" }).click();
    await expect(page.getByRole("navigation").first()).toBeVisible();
    await page.goto(`${service.url}/backups/${backup.id}`);
    const download = await startDownload(page, backup);
    expect(new URL(download.url()).origin).toBe(address);
    expect(await readFile(await download.path())).toEqual(await readFile(pathOf(backups, backup)));
    await expect(page).toHaveURL(`${service.url}/backups/${backup.id}`);
  });

  test("fails in the browser when the backup is damaged @long", async ({
    connected: page,
    service,
    backups,
  }) => {
    const backup = await runOnce(backups);
    await damage(pathOf(backups, backup));
    await page.goto(`${service.url}/backups/${backup.id}`);
    const download = await startDownload(page, backup);
    expect(await download.failure()).not.toBeNull();
  });

  test("of a missing file shows an error, and does not start @long", async ({
    connected: page,
    service,
    backups,
    expected,
  }) => {
    expected.push(/409/);
    const backup = await runOnce(backups);
    await rm(pathOf(backups, backup));
    let hasBegun = false;
    page.on("download", () => (hasBegun = true));
    await page.goto(`${service.url}/backups/${backup.id}`);
    await action(page, "Download", backup.id).click();
    await expectToast(page, "alert", /The stored file is missing/);
    expect(hasBegun).toBe(false);
  });
});
