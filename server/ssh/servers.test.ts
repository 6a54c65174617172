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

const siteOn = (id: number, server: number, sshd: TestSshd, more = "") =>
  `  - { id: ${id}, server: ${server}, name: shop-${id}, root: ${sshd.folder}/shop${more} }`;

/**
 * @param entries of servers, from id 2 on
 * @param sites as lines of the inventory
 */
const makeService = (
  entries: readonly string[],
  sites: readonly string[],
  options: Partial<AppOptions> = {},
): Promise<TestService> =>
  createTestService({
    ...options,
    inventory: (folder) => `
servers:
  - { id: 1, name: here, connection: local }
${entries.map((entry, index) => `  - { id: ${index + 2}, name: web-${index + 1}, connection: ${entry} }`).join("\n")}
sites:
${sites.join("\n")}
storage_providers:
  - { id: 1, name: disk, type: local, path: ${folder} }
`,
  });

async function startService(...args: Parameters<typeof makeService>): Promise<TestService> {
  const service = await makeService(...args);
  onTestFinished(() => service.close());
  return service;
}

const showSite = async (service: TestService, id = 1) =>
  (await service.json<Site>("GET", `/api/site/${id}`)).body;

test("uses a key that only an agent has if the entry says so", async () => {
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
  const service = await startService([entry], [siteOn(1, 2, sshd)], { secrets });
  expect(await showSite(service)).toMatchObject({ account: sshd.user, account_problem: null });
  const without = await startService([entry], [siteOn(1, 2, sshd)]);
  expect((await showSite(without)).account_problem).toContain("any key of the agent");
});

test("a site on a server over SSH belongs to the account that logs in there, even while its server is unreachable", async () => {
  const sshd = await shared();
  const service = await startService([sshEntry(sshd)], [siteOn(1, 2, sshd)]);
  expect(await showSite(service)).toMatchObject({ account: sshd.user, account_problem: null });

  // The account stays while its server is unreachable.
  await sshd.stop();
  try {
    const text = await readFile(service.inventoryFile, "utf8");
    await writeFile(service.inventoryFile, text.replace("name: shop-1", "name: renamed"));
    await soon(async () => expect((await showSite(service)).name).toBe("renamed"), 20_000);
    expect(await showSite(service)).toMatchObject({ account: sshd.user, account_problem: null });
  } finally {
    await sshd.start();
  }
});

test.runIf(isRoot)(
  "another account is used if sudo allows it, or else reported with the fix; root uses the owner of the folder on that server",
  async () => {
    const line = "deploy ALL=(shop) NOPASSWD: ALL";
    const [allowed, sshd] = await Promise.all([startSshd({ sudoers: line }), startSshd()]);
    const service = await startService(
      [sshEntry(allowed), sshEntry(sshd), sshEntry(sshd, undefined, "root")],
      [
        siteOn(1, 2, allowed, ", user: shop"),
        siteOn(2, 3, sshd, ", user: shop"),
        siteOn(3, 3, sshd, ", user: nobody-knows"),
        siteOn(4, 4, sshd),
      ],
    );
    expect(await showSite(service, 1)).toMatchObject({ account: "shop" });
    expect(await showSite(service, 2)).toMatchObject({
      account: null,
      account_problem: expect.stringContaining(line),
    });
    expect((await showSite(service, 3)).account_problem).toContain("has no user “nobody-knows”");
    expect(await showSite(service, 4)).toMatchObject({ account: "shop" });
    // The line grants what the message says, and nothing else.
    await appendFile(join(sshd.folder, "sudoers"), `${line}\n`);
    await service.ahead(61_000);
    await soon(async () =>
      expect(await showSite(service, 2)).toMatchObject({ account: "shop", account_problem: null }),
    );
  },
);

test("a service can be closed while it connects to the servers of its inventory", async () => {
  const sshd = await shared();
  const service = await makeService([sshEntry(sshd)], [siteOn(1, 2, sshd)]);
  service.app.readInventory();
  service.app.readInventory();
  await expect(service.close()).resolves.toBeUndefined();
});
