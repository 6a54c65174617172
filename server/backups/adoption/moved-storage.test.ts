// Tests that a storage provider does not get a place back whose backups another one has adopted.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { InventoryFile } from "../../../contract/inventory/inventory.ts";
import {
  createBackupTestService,
  soon,
  type BackupTestService,
} from "../testing/backup-service.ts";

let service: BackupTestService;
beforeAll(async () => {
  service = await createBackupTestService();
});
afterAll(() => service.close());

const send = async (method: "POST" | "PUT", path: string, body: object) => {
  const { version } = (await service.json<InventoryFile>("GET", "/api/inventory")).body;
  return service.json<{ id: number; errors?: unknown }>(
    method,
    `/api/inventory/storage-providers${path}?version=${version}`,
    body,
  );
};

test("a storage provider does not get a path back whose backups another one has adopted", async () => {
  const { id } = await service.installed();
  const backup = await service.run(id);
  const at = (name: string) => ({ name: "disk", type: "local", path: join(service.folder, name) });
  await mkdir(join(service.folder, "new"));
  expect((await send("PUT", "/1", at("new"))).status).toBe(200);
  // Nobody lists them twice as long as nobody has adopted them.
  expect((await send("PUT", "/1", at("copies"))).status).toBe(200);
  expect((await send("PUT", "/1", at("new"))).status).toBe(200);

  const { body: old } = await send("POST", "", { ...at("copies"), name: "old" });
  const adoption = `/api/inventory/storage-providers/${old.id}/adoption`;
  expect((await service.call("POST", adoption)).status).toBe(200);
  const refused = await send("PUT", "/1", at("copies"));
  expect(refused).toMatchObject({
    status: 422,
    body: {
      errors: {
        path: [
          `Storage provider 1 (disk) can't be moved here: storage provider ${old.id} (old) already lists the files of its backups ${backup.id}, and deleting one would delete the other. Delete these backups first. That deletes no file here.`,
        ],
      },
    },
  });
  // A change of something else is none.
  expect((await send("PUT", "/1", { ...at("new"), name: "disk 2" })).status).toBe(200);

  await service.call("DELETE", `/api/backup/${backup.id}`);
  await soon(async () =>
    expect((await service.call("GET", `/api/backup/${backup.id}`)).status).toBe(404),
  );
  expect((await send("PUT", "/1", at("copies"))).status).toBe(200);
  expect(await service.files()).toEqual([backup.path]);
});
