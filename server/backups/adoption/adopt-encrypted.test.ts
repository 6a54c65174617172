// Tests adoption of a storage whose backups an earlier installation encrypted.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Adoption } from "../../../contract/backups/adoption.ts";
import { copyStorage, storedFilesIn } from "../../storage/testing/stored-files.ts";
import { manifestKeyOf } from "../stored-file.ts";
import { createBackupTestService, type BackupTestService } from "../testing/backup-service.ts";

const identity = await generateX25519Identity();
const recipient = await identityToRecipient(identity);

let first: BackupTestService;
let second: BackupTestService;
beforeAll(async () => {
  first = await createBackupTestService(
    {},
    {
      providers: (folder) =>
        `  - { id: 7, name: sealed, type: local, path: ${folder}/sealed, recipients: [${recipient}] }`,
    },
  );
  await mkdir(join(first.folder, "sealed"));
  second = await createBackupTestService(
    {},
    { providers: (folder) => `  - { id: 7, name: old, type: local, path: ${folder}/old }` },
  );
});
afterAll(async () => {
  await first?.close();
  await second?.close();
});

const adopt = async (method: "GET" | "POST"): Promise<Adoption> => {
  const at = "/api/inventory/storage-providers/7/adoption";
  const { status, body } = await second.json<Adoption>(method, at);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};

test("lists encrypted backups, and restores them with only their key", async () => {
  for (const change of [{ backupable_id: 1 }, { backupable_type: "site" }]) {
    const { id } = await first.installed({ storage_provider_id: 7, ...change });
    expect((await first.run(id)).status).toBe("finished");
  }
  const folder = join(second.folder, "old");
  await copyStorage(join(first.folder, "sealed"), folder);
  const orders = second.sql("select * from orders order by id");
  second.sql("delete from orders");

  const [site = "", database = ""] = (await storedFilesIn(folder)).toSorted((one) =>
    one.endsWith(".tar.zst.age") ? -1 : 1,
  );
  expect(database).toMatch(/\.sqlite\.zst\.age$/);
  // A manifest without the encryption that the file's name implies does not belong to the file.
  const written = manifestKeyOf(join(folder, site));
  const manifest = JSON.parse(await readFile(written, "utf8"));
  const plain = join(folder, "plain.tar.zst");
  await writeFile(plain, "x".repeat(manifest.size));
  await writeFile(manifestKeyOf(plain), JSON.stringify({ ...manifest, name: "plain.tar.zst" }));
  const bare = join(folder, "bare.tar.zst.age");
  await writeFile(bare, "x".repeat(manifest.size));
  const { encryption: _, ...unencrypted } = { ...manifest, name: "bare.tar.zst.age" };
  await writeFile(manifestKeyOf(bare), JSON.stringify(unencrypted));
  await writeFile(join(folder, "lone.dump.zst.age"), "x");

  const found = await adopt("GET");
  expect(found).toMatchObject({ adoptable: 2, self_backups: 0, left_out_total: 3 });
  const reasons = found.left_out.map(({ path, reason }) => `${path}: ${reason}`).toSorted();
  expect(reasons).toEqual([
    "bare.tar.zst.age: Only one of its name and its manifest says that it is encrypted.",
    expect.stringMatching(/^lone\.dump\.zst\.age: It has no manifest/),
    "plain.tar.zst: Only one of its name and its manifest says that it is encrypted.",
  ]);

  const { sources, adopted } = await adopt("POST");
  expect(adopted).toBe(2);
  const configuration = sources.find(({ type }) => type === "database")?.configuration_id ?? 0;
  const [backup] = (await second.show(configuration)).backups;
  expect(backup).toMatchObject({ encrypted: true, path: database });
  const restore = `/api/backup/${backup?.id}`;
  expect((await second.errorsOf("PUT", restore, {}))["identity"]?.[0]).toMatch(/encrypted/);
  const body = { identity, skip_safety_backup: true };
  expect((await second.call("PUT", restore, body)).status).toBe(202);
  await second.restored(backup?.id ?? 0, "finished");
  expect(second.sql("select * from orders order by id")).toEqual(orders);
  expect(await adopt("GET")).toMatchObject({ adoptable: 0, known: 2 });
});
