import { readFile, writeFile } from "node:fs/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Site } from "../../contract/servers.ts";
import { createTestService, type TestService } from "../testing/service.ts";
import { isRoot } from "../testing/machine.ts";
import { startSshd, type TestSshd } from "./testing/sshd.ts";
import { sshEntry } from "./testing/entry.ts";

const makeService = (sshd: TestSshd, site = ""): Promise<TestService> =>
  createTestService({
    inventory: (folder) => `
servers:
  - { id: 1, name: here, connection: local }
  - { id: 2, name: web-1, connection: ${sshEntry(sshd)} }
sites:
  - { id: 1, server: 2, name: shop, root: ${sshd.folder}/shop${site} }
storage_providers:
  - { id: 1, name: disk, type: local, path: ${folder} }
`,
  });

async function startService(...args: Parameters<typeof makeService>): Promise<TestService> {
  const service = await makeService(...args);
  onTestFinished(() => service.close());
  return service;
}

const showSite = async (service: TestService) =>
  (await service.json<Site>("GET", "/api/site/1")).body;

test("a site on a server over SSH belongs to the account that logs in there", async () => {
  const sshd = await startSshd();
  const service = await startService(sshd);
  expect(await showSite(service)).toMatchObject({ account: sshd.user, account_problem: null });
});

test.runIf(isRoot)("another account is used where sudo allows it, and else told how", async () => {
  const allowed = await startSshd({ sudoers: "deploy ALL=(shop) NOPASSWD: ALL" });
  expect(await showSite(await startService(allowed, ", user: shop"))).toMatchObject({
    account: "shop",
  });
  const refused = await startService(await startSshd(), ", user: shop");
  expect(await showSite(refused)).toMatchObject({
    account: null,
    account_problem: expect.stringContaining("deploy ALL=(shop) NOPASSWD: ALL"),
  });
  const unknown = await startService(await startSshd(), ", user: nobody-knows");
  expect((await showSite(unknown)).account_problem).toContain("has no user “nobody-knows”");
});

test.runIf(isRoot)("root takes the owner of the folder there, as that server sees it", async () => {
  const sshd = await startSshd();
  sshd.user = "root";
  expect(await showSite(await startService(sshd))).toMatchObject({ account: "shop" });
});

test("a service can be closed while it asks the servers of its inventory", async () => {
  const service = await makeService(await startSshd());
  service.app.readInventory();
  service.app.readInventory();
  await expect(service.close()).resolves.toBeUndefined();
});

test("an account that was known stays while its server is away", async () => {
  const sshd = await startSshd();
  const service = await startService(sshd);
  await sshd.stop();
  const text = await readFile(service.inventoryFile, "utf8");
  await writeFile(service.inventoryFile, text.replace("name: shop", "name: renamed"));
  await vi.waitFor(async () => expect((await showSite(service)).name).toBe("renamed"), {
    timeout: 20_000,
  });
  expect(await showSite(service)).toMatchObject({ account: sshd.user, account_problem: null });
});
