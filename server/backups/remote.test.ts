// Backups of a server over SSH, through the whole service.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ownUser } from "../testing/own-user.ts";
import { createBackupTestService, soon, type BackupTestService } from "./testing/backup-service.ts";
import { createRemoteServer } from "../ssh/testing/remote-server.ts";

const remote = createRemoteServer();
let service: BackupTestService;
const far = 3;

beforeAll(async () => {
  const connection = await remote.connection();
  service = await createBackupTestService(
    {},
    {
      servers: `  - { id: ${far}, name: far, connection: ${connection} }`,
      sites: (folder) =>
        `  - { id: 9, server: ${far}, name: far, root: ${folder}/shop, user: ${ownUser} }`,
    },
  );
});
afterAll(() => service?.close());

const create = async (body: object) => {
  const answer = await service.json<{ id: number }>(
    "POST",
    `/api/server/${far}/backup-configuration`,
    {
      name: "Far",
      frequency: "30 2 * * *",
      storage_provider_id: 1,
      ...body,
    },
  );
  return answer;
};

test("a site is backed up by its server's own tar and zstd, and restored", async () => {
  const { body } = await create({ backupable_type: "site", backupable_id: 9 });
  await soon(async () => expect((await service.show(body.id)).status).toBe("installed"));
  const page = join(service.folder, "shop/index.php");
  const before = await readFile(page, "utf8");
  const backup = await service.run(body.id);
  expect(backup.status, backup.output).toBe("finished");
  expect(backup.plain_size).toBeGreaterThan(before.length);
  const file = (await service.files()).find((name) => name.endsWith(".tar.zst")) ?? "";
  const stored = await readFile(join(service.folder, "copies", file));
  expect(zstdDecompressSync(stored).includes(before)).toBe(true);
  await writeFile(page, "changed");
  await service.call("PUT", `/api/backup/${backup.id}`);
  await service.restored(backup.id, "finished");
  expect(await readFile(page, "utf8")).toBe(before);
});

test("a server that is away fails the run with words, and nothing is stored", async () => {
  const { body } = await create({ backupable_type: "site", backupable_id: 9 });
  await soon(async () => expect((await service.show(body.id)).status).toBe("installed"));
  const sshd = await remote.sshd();
  const before = await service.files();
  await sshd.stop();
  const failed = await service.run(body.id);
  expect(failed.status).toBe("failed");
  expect(failed.status_reason).toMatch(
    /127\.0\.0\.1:\d+ (?:refused the connection|was lost)|connection to .* was lost/,
  );
  expect(await service.files()).toEqual(before);
  await sshd.start();
  await soon(async () => expect((await service.run(body.id)).status).toBe("finished"));
});

test("the inventory is changed while backups of the server are configured, and what is backed up moves there", async () => {
  const { body } = await create({ backupable_type: "site", backupable_id: 9 });
  await soon(async () => expect((await service.show(body.id)).status).toBe("installed"));
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
