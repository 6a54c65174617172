import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import type { Site } from "../../contract/servers.ts";
import type { AppOptions } from "../app-options.ts";
import { createTestService, type TestService } from "../testing/service.ts";
import { isRoot } from "../testing/machine.ts";
import { createSharedSshd, startSshd, type TestSshd } from "./testing/sshd.ts";
import { sshEntry } from "./testing/entry.ts";
import { soon } from "../testing/soon.ts";

const shared = createSharedSshd();

const makeService = (
  sshd: TestSshd,
  site = "",
  { entry = sshEntry(sshd), ...options }: Partial<AppOptions> & { entry?: string } = {},
): Promise<TestService> =>
  createTestService({
    ...options,
    inventory: (folder) => `
servers:
  - { id: 1, name: here, connection: local }
  - { id: 2, name: web-1, connection: ${entry} }
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
  const sshd = await shared();
  const service = await startService(sshd);
  expect(await showSite(service)).toMatchObject({ account: sshd.user, account_problem: null });
});

test("a key that only an agent has is used where the entry says so", async () => {
  const sshd = await startSshd();
  const socket = join(sshd.folder, "agent");
  const agent = spawn("ssh-agent", ["-D", "-a", socket], { stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void agent.kill());
  await once(agent.stdout, "data");
  const secrets = { SSH_AUTH_SOCK: socket };
  await promisify(execFile)("ssh-add", ["-q", sshd.keyFile], {
    env: { ...process.env, ...secrets },
  });
  await rm(sshd.keyFile);
  const entry = sshEntry(sshd).replace(`file:${sshd.keyFile}`, "agent");
  const service = await startService(sshd, "", { secrets, entry });
  expect(await showSite(service)).toMatchObject({ account: sshd.user, account_problem: null });
  const without = await startService(sshd, "", { entry });
  expect((await showSite(without)).account_problem).toContain("any key of the agent");
});

test.runIf(isRoot)("another account is used where sudo allows it, and else told how", async () => {
  const allowed = await startSshd({ sudoers: "deploy ALL=(shop) NOPASSWD: ALL" });
  expect(await showSite(await startService(allowed, ", user: shop"))).toMatchObject({
    account: "shop",
  });
  const sshd = await startSshd();
  const refused = await startService(sshd, ", user: shop");
  const line = "deploy ALL=(shop) NOPASSWD: ALL";
  expect(await showSite(refused)).toMatchObject({
    account: null,
    account_problem: expect.stringContaining(line),
  });
  // Does what it says, and nothing else.
  await appendFile(join(sshd.folder, "sudoers"), `${line}\n`);
  await refused.ahead(61_000);
  await soon(async () =>
    expect(await showSite(refused)).toMatchObject({ account: "shop", account_problem: null }),
  );
  const unknown = await startService(await shared(), ", user: nobody-knows");
  expect((await showSite(unknown)).account_problem).toContain("has no user “nobody-knows”");
});

test.runIf(isRoot)("root takes the owner of the folder there, as that server sees it", async () => {
  const sshd = await startSshd();
  sshd.user = "root";
  expect(await showSite(await startService(sshd))).toMatchObject({ account: "shop" });
});

test("a service can be closed while it asks the servers of its inventory", async () => {
  const service = await makeService(await shared());
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
  await soon(async () => expect((await showSite(service)).name).toBe("renamed"), 20_000);
  expect(await showSite(service)).toMatchObject({ account: sshd.user, account_problem: null });
});
