// Tests backups of a server over SSH, through the whole service.
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ServerStatus } from "../../contract/servers.ts";
import { ownUser } from "../testing/own-user.ts";
import { createBackupTestService, soon, type BackupTestService } from "./testing/backup-service.ts";
import { createRemoteServer } from "../ssh/testing/remote-server.ts";

const remote = createRemoteServer();
/** A folder with a fake zstd, before the real one in PATH. */
const bare = mkdtempSync(join(tmpdir(), "quarterdeck-bare-"));
chmodSync(bare, 0o755);
writeFileSync(join(bare, "zstd"), "#!/bin/sh\nexit 127\n", { mode: 0o755 });
const bareRemote = createRemoteServer({ config: `SetEnv PATH=${bare}:/usr/bin:/bin` });
let service: BackupTestService;
/** Id of the configuration of a site on the server. */
let configured: number;
const far = 3;
const withoutZstd = 4;

beforeAll(async () => {
  const connection = await remote.connection();
  service = await createBackupTestService(
    {},
    {
      servers: `  - { id: ${far}, name: far, connection: ${connection} }
  - { id: ${withoutZstd}, name: bare, connection: ${await bareRemote.connection()} }`,
      sites: (folder) =>
        [far, withoutZstd]
          .map(
            (server, index) =>
              `  - { id: ${9 + index}, server: ${server}, name: far-${server}, root: ${folder}/shop, user: ${ownUser} }`,
          )
          .join("\n"),
    },
  );
  configured = await configure(9, far);
});
afterAll(async () => {
  await service?.close();
  await rm(bare, { recursive: true });
});

async function configure(siteId: number, server: number): Promise<number> {
  const site = { backupable_type: "site", backupable_id: siteId };
  return (await service.installed({ server, name: "Far", ...site })).id;
}

test.each([
  { promise: "its server's own tar and zstd", server: far, siteId: 9 },
  { promise: "tar alone where its server has no zstd", server: withoutZstd, siteId: 10 },
])("a site is backed up by $promise, and restored", async ({ server, siteId }) => {
  await soon(async () => {
    const path = `/api/server/${server}/status`;
    const { facts } = (await service.json<ServerStatus>("GET", path)).body;
    const { version } = facts?.tools.find(({ name }) => name === "zstd") ?? {};
    expect(version).toEqual(server === far ? expect.any(String) : null);
  });
  const id = server === far ? configured : await configure(siteId, server);
  const page = join(service.folder, "shop/index.php");
  const before = await readFile(page, "utf8");
  const backup = await service.run(id);
  expect(backup.status, backup.output).toBe("finished");
  expect(backup.plain_size).toBeGreaterThan(before.length);
  const stored = await readFile(join(service.folder, "copies", backup.path));
  expect(zstdDecompressSync(stored).includes(before)).toBe(true);
  await writeFile(page, "changed");
  await service.call("PUT", `/api/backup/${backup.id}`, { skip_safety_backup: true });
  await service.restored(backup.id, "finished");
  expect(await readFile(page, "utf8")).toBe(before);
});

test("an unavailable server fails the run with a message, and nothing is stored", async () => {
  const sshd = await remote.sshd();
  const before = await service.files();
  await sshd.stop();
  const failed = await service.run(configured);
  expect(failed.status).toBe("failed");
  expect(failed.status_reason).toMatch(
    /127\.0\.0\.1:\d+ (?:refused the connection|was lost)|connection to .* was lost/,
  );
  expect(await service.files()).toEqual(before);
  await sshd.start();
  await soon(async () => expect((await service.run(configured)).status).toBe("finished"));
});

test("the inventory can be changed while backups of the server are configured, and a source can move there", async () => {
  const moving = await service.installed();
  const text = await readFile(service.inventoryFile, "utf8");
  await writeFile(
    service.inventoryFile,
    text.replace("name: far, connection", "name: farther, connection"),
  );
  const nameOf = async () =>
    (await service.json<{ name: string }>("GET", `/api/server/${far}`)).body.name;
  await soon(async () => expect(await nameOf()).toBe("farther"));

  const entry = text.split("\n").find((line) => line.includes("{ id: 1, server: 1, name: orders,"));
  await writeFile(
    service.inventoryFile,
    text.replace(String(entry), String(entry).replace("server: 1,", `server: ${far},`)),
  );
  const databases = async () => {
    const path = `/api/server/${far}/databases`;
    return (await service.json<{ data: { id: number }[] }>("GET", path)).body.data;
  };
  await soon(async () => expect((await databases()).map(({ id }) => id)).toEqual([1]));
  expect((await service.run(moving.id)).status).toBe("finished");
});
