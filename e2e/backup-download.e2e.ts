import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { basename } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { portOf } from "../server/testing/port-of.ts";
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

/** Starts a proxy that closes one connection, after so many bytes of responses. */
async function startBreakingLink(behind: number, bytes: number) {
  let hasBroken = false;
  const server = createServer((near) => {
    const far = connect(behind, "127.0.0.1");
    let passed = 0;
    far.on("data", ({ length }) => {
      passed += length;
      if (hasBroken || passed < bytes) return;
      hasBroken = true;
      near.destroySoon();
    });
    for (const socket of [near, far]) socket.on("error", () => undefined);
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroySoon());
    near.pipe(far).pipe(near);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, hasBroken: () => hasBroken };
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

  test("whose connection breaks is continued by the browser @long", async ({
    page,
    service,
    backups,
  }) => {
    const database = new DatabaseSync(backups.database.file);
    database.exec("create table noise (x blob); insert into noise values (randomblob(8000000))");
    database.close();
    const backup = await runOnce(backups);
    const link = await startBreakingLink(Number(new URL(service.url).port), 3_000_000);
    try {
      await page.goto(`${service.url}/connect`);
      await page.getByLabel("Token").fill(serviceToken);
      await page.getByLabel("Address").fill(`http://127.0.0.1:${portOf(link.server)}`);
      await page.getByRole("button", { name: "Connect" }).click();
      await expect(page.getByRole("navigation").first()).toBeVisible();
      await page.goto(`${service.url}/backups/${backup.id}`);
      const download = await startDownload(page, backup);
      expect(await download.failure()).toBeNull();
      expect(link.hasBroken()).toBe(true);
      const stored = await readFile(pathOf(backups, backup));
      expect((await readFile(await download.path())).equals(stored)).toBe(true);
    } finally {
      link.server.close();
    }
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
