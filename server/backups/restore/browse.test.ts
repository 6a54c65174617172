import { randomBytes } from "node:crypto";
import { appendFile, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Backup } from "../../../contract/backups/backup.ts";
import type { ArchiveFiles, BackupContents } from "../../../contract/backups/contents.ts";
import {
  createBackupTestService,
  soon,
  type BackupTestService,
} from "../testing/backup-service.ts";

const identity = await generateX25519Identity();
const recipient = await identityToRecipient(identity);
const encrypted = 3;

let service: BackupTestService;
let backupId: number;
beforeAll(async () => {
  service = await createBackupTestService(
    {},
    {
      providers: (folder) =>
        `  - { id: ${encrypted}, name: sealed, type: local, path: ${folder}/sealed, recipients: ["${recipient}"] }`,
    },
  );
  const shop = join(service.folder, "shop");
  await mkdir(join(service.folder, "sealed"));
  await mkdir(join(shop, "public/images"), { recursive: true });
  await writeFile(join(shop, "public/index.php"), "12345");
  await writeFile(join(shop, "public/images/ä logo.png"), "1234567");
  await writeFile(Buffer.from(`${shop}/public/not-utf8-\xff`, "latin1"), "1");
  await symlink("public/index.php", join(shop, "start"));
  await mkdir(join(shop, "empty"));
  await mkdir(join(shop, "many"));
  for (let n = 100; n < 350; n++) await writeFile(join(shop, `many/${n}.txt`), "");
  const { id } = await service.installed({ backupable_type: "site" });
  backupId = (await service.run(id)).id;
});
afterAll(() => service?.close());

const look = async (body: object = {}, id = backupId) =>
  service.json<ArchiveFiles>("POST", `/api/backup/${id}/files`, body);

test("lists the content of a folder, folders first, with the total size of each", async () => {
  const { status, body } = await look();
  expect(status).toBe(200);
  expect(body).toMatchObject({ state: "ready", is_complete: true });
  expect(body.files.map(({ name, kind }) => [name, kind])).toEqual([
    ["empty", "folder"],
    ["many", "folder"],
    ["public", "folder"],
    ["artisan", "file"],
    ["index.php", "file"],
    ["start", "link"],
  ]);
  expect(body.files[2]).toMatchObject({ path: "public", bytes: 13 });
  expect(body.files[5]).toMatchObject({ target: "public/index.php", bytes: 0 });
  const inside = await look({ folder: "public", listing: body.listing });
  expect(inside.body.listing).toBe(body.listing);
  expect(inside.body.files.map(({ path }) => path)).toEqual([
    "public/images",
    "public/index.php",
    "public/not-utf8-\ufffd",
  ]);
  expect((await look({ folder: "public/images" })).body.files).toMatchObject([
    { path: "public/images/ä logo.png", bytes: 7, modified_at: expect.stringMatching(/^20/) },
  ]);
  expect((await look({ folder: "public/" })).body).toEqual((await look({ folder: "public" })).body);
});

test("distinguishes an empty folder from a missing one", async () => {
  const empty = { total: 0, files: [], has_folder: true };
  expect((await look({ folder: "empty" })).body).toMatchObject(empty);
  for (const folder of ["not there", "public/index.php", "publi", "Public"])
    expect((await look({ folder })).body).toMatchObject({ ...empty, has_folder: false });
  expect((await look({ folder: "public", search: "nothing" })).body).toMatchObject(empty);
  expect((await look()).body.has_folder).toBe(true);
});

test("pages through a long folder, and finds deeper entries by a search", async () => {
  const { body: first } = await look({ folder: "many" });
  expect(first).toMatchObject({ total: 250, per_page: 200 });
  const { body: second } = await look({ folder: "many", page: 2 });
  expect(first.files).toHaveLength(200);
  expect(second.files.map(({ name }) => name)).toEqual(
    Array.from({ length: 50 }, (_, n) => `${n + 300}.txt`),
  );
  const { body: found } = await look({ search: "LOGO" });
  expect(found.files.map(({ path }) => path)).toEqual(["public/images/ä logo.png"]);
});

test("lists tables instead of files for a database", async () => {
  const { id } = await service.installed();
  const backup = await service.run(id);
  const refused = await look({}, backup.id);
  expect(refused.status).toBe(409);
  const contents = await service.json<BackupContents>("GET", `/api/backup/${backup.id}/contents`);
  expect(contents.body).toEqual({
    engine: "sqlite",
    tables: [{ name: "orders", rows: 2 }],
    entries: null,
    bytes: null,
  });
});

test("an encrypted backup needs the identity, or a listing that was created with it", async () => {
  const { id } = await service.installed({
    backupable_type: "site",
    storage_provider_id: encrypted,
  });
  const backup = await service.run(id);
  expect(backup.encrypted).toBe(true);
  const path = `/api/backup/${backup.id}/files`;
  expect(await service.errorsOf("POST", path, {})).toHaveProperty("identity");
  const other = await generateX25519Identity();
  expect(await service.errorsOf("POST", path, { identity: other })).toHaveProperty("identity");
  const { body } = await look({ identity }, backup.id);
  expect(body.files.map(({ name }) => name)).toContain("public");
  const again = await look({ listing: body.listing, folder: "public" }, backup.id);
  expect(again.body.files.map(({ name }) => name)).toContain("index.php");
  // Other requests still need the identity, and a listing belongs to one backup.
  expect(await service.errorsOf("POST", path, {})).toHaveProperty("identity");
  expect((await look({ listing: body.listing })).body.listing).not.toBe(body.listing);
});

test("one file of an encrypted backup is restored with the identity, and with no other", async () => {
  const { id } = await service.installed({
    backupable_type: "site",
    storage_provider_id: encrypted,
  });
  const backup = await service.run(id);
  const page = join(service.folder, "shop/public/index.php");
  await writeFile(page, "later");
  const body = { backup_id: backup.id, path: "public/index.php" };
  const path = "/api/site/1/restore";
  expect(await service.errorsOf("POST", path, body)).toHaveProperty("identity");
  const other = await generateX25519Identity();
  expect(await service.errorsOf("POST", path, { ...body, identity: other })).toHaveProperty(
    "identity",
  );
  expect(await service.statusOf("POST", path, { ...body, identity })).toBe(202);
  await service.restored(backup.id, "finished");
  expect(await readFile(page, "utf8")).toBe("12345");
});

test("reports a damaged or missing file, and has it recorded", async () => {
  const { id } = await service.installed({ backupable_type: "site" });
  const damaged = await service.run(id);
  const path = fileOf(damaged);
  const file = await readFile(path);
  file[file.length >> 1] = (file[file.length >> 1] ?? 0) ^ 1;
  await writeFile(path, file);
  const refused = await look({}, damaged.id);
  expect(refused.status).toBe(409);
  expect(JSON.stringify(refused.body)).toMatch(/Checksum mismatch|damaged|zlib|zstd/i);
  await becomesDamaged(damaged, "Checksum mismatch");

  const missing = await service.run(id);
  await rm(fileOf(missing));
  expect((await look({}, missing.id)).status).toBe(409);
  await becomesDamaged(missing, "is missing.");
});

test.each(["changes", "full"])(
  "has damage of the %s of an incremental backup recorded",
  async (which) => {
    const { id } = await service.installed({ backupable_type: "site", incremental: true });
    const noise = join(service.folder, "shop/noise");
    await writeFile(noise, randomBytes(100_000));
    const full = await service.run(id);
    await appendFile(noise, randomBytes(3_000_000));
    const patch = await service.run(id);
    expect(patch.base_id).toBe(full.id);
    const path = fileOf(which === "full" ? full : patch);
    const file = await readFile(path);
    file.fill(0, 0, 100);
    await writeFile(path, file);
    expect((await look({}, patch.id)).status).toBe(409);
    await becomesDamaged(patch, "Checksum mismatch");
  },
);

test("a restore that finds the file of an encrypted backup missing has that recorded", async () => {
  const { id } = await service.installed({
    backupable_type: "site",
    storage_provider_id: encrypted,
  });
  const backup = await service.run(id);
  await rm(join(service.folder, "sealed", backup.path));
  expect(await service.statusOf("PUT", `/api/backup/${backup.id}`, { identity })).toBe(409);
  await becomesDamaged(backup, "is missing.");
});

const fileOf = ({ path }: Backup) => join(service.folder, "copies", path);
const becomesDamaged = ({ id }: Backup, damage: string) =>
  soon(async () => expect((await service.backup(id)).damage).toContain(damage));
