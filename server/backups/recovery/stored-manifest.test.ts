// Tests the manifest beside each stored file: created and deleted with its file, and required for a successful run.
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Backup } from "../../../contract/backups/backup.ts";
import { startS3, type Gate } from "../../storage/testing/s3.ts";
import { manifestKeyOf, removeStored } from "../stored-file.ts";
import { storedManifestSchema, type StoredManifest } from "./stored-manifest.ts";
import {
  createBackupTestService,
  soon,
  type BackupTestService,
} from "../testing/backup-service.ts";

let folder: string;
let s3: Gate;
let service: BackupTestService;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "quarterdeck-manifests-"));
  s3 = await startS3(folder);
  service = await createBackupTestService(
    { secrets: { S3_ACCESS: s3.options.accessKey, S3_SECRET: s3.options.secretKey } },
    {
      providers: () =>
        `  - { id: 3, name: offsite, type: s3, bucket: copies, endpoint: "${s3.options.endpoint}", access_key: env:S3_ACCESS, secret_key: env:S3_SECRET }`,
    },
  );
});
afterAll(async () => {
  await service.close();
  await s3.close();
  await rm(folder, { recursive: true, force: true });
});

const copies = () => join(service.folder, "copies");
const manifestOf = async ({ path }: Backup): Promise<StoredManifest> =>
  storedManifestSchema.parse(
    JSON.parse(await readFile(join(copies(), manifestKeyOf(path)), "utf8")),
  );
/** Returns the keys of a configuration's objects in the bucket. */
const objectsOf = async (id: number) =>
  (await readdir(folder, { recursive: true })).filter(
    (name) => name.includes(`/${id}/`) && name.endsWith("._S3rver_object"),
  );

test("describes the file, its checksum, and how to restore it", async () => {
  const { id } = await service.installed({ name: "Nightly" });
  const backup = await service.run(id);
  const bytes = await readFile(join(copies(), backup.path));
  const manifest = await manifestOf(backup);
  expect(manifest).toEqual({
    format: "quarterdeck-backup",
    version: 1,
    name: backup.path.split("/").at(-1),
    size: bytes.length,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    compression: "zstd",
    uncompressed_size: 8192,
    source: {
      type: "database",
      engine: "sqlite",
      id: 1,
      name: "orders",
      path: join(service.folder, "orders.sqlite"),
      server: { id: 1, name: "here" },
    },
    configuration: { id, name: "Nightly" },
    backup: { id: backup.id, trigger: "manual" },
    started_at: expect.stringMatching(/Z$/),
    stored_at: expect.stringMatching(/Z$/),
    tools: { SQLite: expect.stringMatching(/^3\./) },
    quarterdeck: service.options.version,
    counts: {
      kind: "database",
      tables: { orders: 2 },
      file: { mode: expect.any(Number), uid: expect.any(Number), gid: expect.any(Number) },
    },
    restore: expect.arrayContaining([
      expect.stringMatching(/^zstd -d --no-progress \S+\.sqlite\.zst -o \/.*orders\.sqlite$/),
    ]),
  });
  // The page shows the size of the file itself.
  expect(backup.size).toBe(bytes.length);
});

test("of a safety backup is stored, too, and each is removed with its file", async () => {
  const { id } = await service.installed({ hold: 1 });
  const first = await service.run(id);
  await service.call("PUT", `/api/backup/${first.id}`);
  await service.restored(first.id, "finished");
  const all = async () => (await service.show(id)).backups;
  const safety = (await all()).find(({ trigger }) => trigger === "safety");
  if (safety === undefined) return expect.unreachable();
  expect((await manifestOf(safety)).backup).toEqual({ id: safety.id, trigger: "safety" });
  await service.run(id);
  await service.becomesGone(`/api/backup/${first.id}`);
  await service.call("DELETE", `/api/backup/${safety.id}`);
  await service.becomesGone(`/api/backup/${safety.id}`);
  const names = async () =>
    (await readdir(copies(), { recursive: true })).filter((name) => name.includes(`/${id}/`));
  expect(await names()).toHaveLength(2);
  await service.call("DELETE", `/api/backup-configuration/${id}?files=remove`);
  await soon(async () => expect(await names()).toEqual([]));
});

test("that cannot be written fails the run with the storage's message, and the file is removed", async () => {
  const { id } = await service.installed({ storage_provider_id: 3 });
  s3.rule((asked) => (asked.startsWith("PUT") && asked.includes(".zst.json") ? 500 : "pass"));
  onTestFinished(() => s3.rule(() => "pass"));
  const failed = await service.run(id);
  expect(failed.status).toBe("failed");
  expect(failed.status_reason).toMatch(/bucket copies .* returned 500, 3 times/);
  await soon(async () => expect(await objectsOf(id)).toEqual([]));
});

test("that is being written when the run is canceled is removed with the file", async () => {
  const { id } = await service.installed({ storage_provider_id: 3 });
  const begun = Promise.withResolvers<void>();
  s3.rule((asked) => {
    if (!asked.startsWith("PUT") || !asked.includes(".zst.json")) return "pass";
    begun.resolve();
    return "hang";
  });
  onTestFinished(() => s3.rule(() => "pass"));
  const { body } = await service.json<Backup>("POST", `/api/backup/${id}`);
  await begun.promise;
  await service.call("POST", `/api/backup/${body.id}/cancel`);
  const failed = await service.becomes(body.id, "failed");
  expect(failed.status_reason).toMatch(/^Canceled by/);
  await soon(async () => expect(await objectsOf(id)).toEqual([]));
});

test("is optional: a backup of an older version is drilled, restored and removed without one", async () => {
  const { id } = await service.installed();
  const backup = await service.run(id);
  await rm(join(copies(), manifestKeyOf(backup.path)));
  await service.call("POST", `/api/backup/${backup.id}/drill`);
  await soon(async () => expect((await service.backup(backup.id)).drill_status).toBe("finished"));
  await service.call("PUT", `/api/backup/${backup.id}`);
  await service.restored(backup.id, "finished");
  await service.call("DELETE", `/api/backup/${backup.id}`);
  await service.becomesGone(`/api/backup/${backup.id}`);
  expect((await service.files()).includes(backup.path)).toBe(false);
});

test("whose file cannot be removed is removed nevertheless, and the file on the next attempt", async () => {
  const { id } = await service.installed({ storage_provider_id: 3 });
  const { path } = await service.run(id);
  s3.rule((asked) => (asked.startsWith("DELETE") && !asked.includes(".json") ? 403 : "pass"));
  const { createS3Storage } = await import("../../storage/s3.ts");
  const storage = createS3Storage(s3.options);
  await expect(removeStored(storage, path)).rejects.toMatchObject({ name: "StorageError" });
  s3.rule(() => "pass");
  expect(await storage.size(manifestKeyOf(path))).toBeNull();
  expect(await storage.size(path)).not.toBeNull();
  await removeStored(storage, path);
  expect(await storage.size(path)).toBeNull();
});
