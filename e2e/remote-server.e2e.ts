// Tests a server over SSH with a real sshd and supervisord: from its entry in the inventory to its recovery after an outage.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sshEntry } from "../server/ssh/testing/entry.ts";
import { startSshd } from "../server/ssh/testing/sshd.ts";
import { patientArtisan } from "../server/testing/artisan.ts";
import { ownUser } from "../server/testing/own-user.ts";
import { isAlive } from "../server/testing/signals.ts";
import { startSupervisord } from "../server/workers/supervisord/testing/supervisord.ts";
import { expect, test as base } from "./fixtures.ts";
import { expectAccessible, expectNoSidewaysScroll } from "./helpers.ts";

type Remote = {
  sshd: Awaited<ReturnType<typeof startSshd>>;
  /** The server's entry in the inventory; null = no host key is pinned. */
  entry(hostKey: string | null): string;
  serverId: number;
  siteId: number;
};

const test = base.extend<{ remote: Remote }>({
  remote: async ({ service }, provide) => {
    const cleanUps: (() => Promise<void>)[] = [];
    const sshd = await startSshd({ cleanUp: (work) => void cleanUps.push(work) });
    const supervisord = await startSupervisord();
    const siteId = service.nextSiteId();
    const serverId = siteId + 2000;
    const root = join(service.folder, `remote-${siteId}`);
    await mkdir(root);
    await writeFile(join(root, "artisan"), patientArtisan);
    const entry = (hostKey: string | null) =>
      `{ id: ${serverId}, name: web-far, connection: ${sshEntry(sshd, hostKey, ownUser)}, supervisord_config: ${supervisord.config} }`;
    await service.changeInventory(({ servers, sites }) => {
      servers.push(entry(null));
      sites.push(
        `{ id: ${siteId}, server: ${serverId}, name: far-${siteId}.example.com, root: ${root}, user: ${ownUser}, artisan: [sh, artisan] }`,
      );
    });
    await provide({ sshd, entry, serverId, siteId });
    // The overview of other tests would list the server as unreachable.
    await service.changeInventory((inventory) => {
      const isOthers = (line: string) => !line.includes(`: ${serverId},`);
      inventory.servers = inventory.servers.filter(isOthers);
      inventory.sites = inventory.sites.filter(isOthers);
    });
    await supervisord.close();
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  },
});

/** An unreachable server is shown within 30 s, later on a busy machine. */
const shown = { timeout: 60_000 };

test("a server over SSH: its key is confirmed, a worker runs there, and an outage is shown until it ends", async ({
  connected: page,
  service,
  remote: { sshd, entry, serverId, siteId },
}) => {
  test.setTimeout(240_000);
  const serverPage = `${service.url}/servers/${serverId}`;
  await expect
    .poll(async () => (await service.call("GET", `/api/server/${serverId}`)).status)
    .toBe(200);
  await page.goto(serverPage);
  const notice = page.getByRole("main");
  await expect(notice.getByRole("heading", { name: "Confirm the host key" })).toBeVisible(shown);
  const line = notice.getByText(/^host_key: /);
  await expect(line).toHaveText(`host_key: "${sshd.fingerprint}" # ssh-ed25519`);
  await expectAccessible(page);

  const [, fingerprint = ""] = /"(.+)"/.exec((await line.textContent()) ?? "") ?? [];
  await service.changeInventory(({ servers }) => {
    servers.splice(servers.indexOf(entry(null)), 1, entry(fingerprint));
  });
  await expect(page.getByText("Reachable", { exact: true })).toBeVisible(shown);
  await expect(page.getByRole("heading", { name: "Confirm the host key" })).toBeHidden();
  await expect(page.getByText(fingerprint)).toBeVisible();
  await expect(page.getByRole("heading", { name: "Found on it" })).toBeVisible(shown);

  // The site's owner is looked up once the server responds.
  const account = async () =>
    (await (await service.call("GET", `/api/site/${siteId}`)).json()).account;
  await expect.poll(account, shown).toBe(ownUser);
  await page.goto(`${service.url}/sites/${siteId}/workers/new`);
  await page.getByLabel("Queue", { exact: true }).fill("far");
  await page.getByRole("button", { name: "Create worker" }).click();
  await expect(page.getByRole("heading", { name: "far on database", level: 1 })).toBeVisible();
  await page.getByRole("link", { name: `far-${siteId}.example.com workers` }).click();
  const row = page.getByRole("row").filter({ hasText: "far on database" });
  await expect(row).toContainText(/installed/i, shown);
  const worker = async () => {
    const { data } = await (await service.call("GET", `/api/site/${siteId}/workers`)).json();
    return data[0];
  };
  const [{ pid }] = (await worker()).process_list;
  expect(isAlive(pid)).toBe(true);

  await sshd.stop();
  await expect(row).toContainText(/unreachable/i, shown);
  await expect(row).toContainText(/installed/i);
  const banner = page.getByRole("status", { name: "Service status" });
  for (const path of [`/sites/${siteId}/workers`, `/servers/${serverId}/backups`]) {
    await page.goto(service.url + path);
    // The banner's data is polled twice a minute.
    const away = /web-far unreachable for .+, showing the last/;
    await expect(banner).toContainText(away, shown);
    await expect(page.locator("main[data-last-known]")).toBeVisible();
  }
  await banner.getByRole("link", { name: "View server" }).click();
  await expect(page).toHaveURL(serverPage);
  await expect(banner).toBeEmpty();
  await expect(page.getByText("Unreachable", { exact: true })).toBeVisible(shown);
  await expect(page.getByText(/refused the connection/)).toBeVisible(shown);
  await expect(page.getByRole("heading", { name: "Last found on it" })).toBeVisible();
  await page.setViewportSize({ width: 360, height: 740 });
  await expectNoSidewaysScroll(page);
  await expectAccessible(page);
  expect(isAlive(pid)).toBe(true);
  // The server is one problem; its worker is not listed separately.
  await page.goto(service.url);
  const problem = page.getByRole("listitem").filter({ hasText: "web-far is unreachable" });
  await expect(problem).toContainText("refused the connection");
  await expect(page.getByText(/1 server unreachable with 1 worker/)).toBeVisible();
  await problem.getByRole("link", { name: "View server" }).click();

  await sshd.start();
  await expect(page.getByText("Reachable", { exact: true })).toBeVisible(shown);
  await page.goto(`${service.url}/sites/${siteId}/workers`);
  await expect(row).not.toContainText(/unreachable/i, shown);
  await expect(page.locator("main[data-last-known]")).toHaveCount(0, shown);
  expect((await worker()).process_list[0].pid).toBe(pid);

  const { id } = await worker();
  expect((await service.call("DELETE", `/api/worker/${id}`)).status).toBe(204);
  await expect.poll(async () => worker(), shown).toBeUndefined();
  expect(isAlive(pid)).toBe(false);
});

test("shows a changed host key as an alarm on the server's page until it is pinned @long", async ({
  connected: page,
  service,
  remote: { sshd, entry, serverId },
}) => {
  test.setTimeout(240_000);
  const pin = (from: string | null, to: string) =>
    service.changeInventory(({ servers }) => {
      servers.splice(servers.indexOf(entry(from)), 1, entry(to));
    });
  const fingerprint = sshd.fingerprint;
  await pin(null, fingerprint);
  await expect
    .poll(async () => (await service.call("GET", `/api/server/${serverId}`)).status)
    .toBe(200);
  await page.goto(`${service.url}/servers/${serverId}`);
  await expect(page.getByText("Reachable", { exact: true })).toBeVisible(shown);

  await sshd.rekey();
  const alarm = page.getByRole("alert").filter({ hasText: "The host key has changed" });
  await expect(alarm).toContainText(sshd.fingerprint, shown);
  // After an intended change of the host key, the operator pins the new one.
  await pin(fingerprint, sshd.fingerprint);
  await expect(page.getByText("Reachable", { exact: true })).toBeVisible(shown);
});
