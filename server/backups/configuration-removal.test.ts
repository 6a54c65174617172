import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startS3, type Gate } from "../storage/testing/s3.ts";
import { createBackupTestService, soon, type BackupTestService } from "./testing/backup-service.ts";

let bucket: string;
let s3: Gate;
let service: BackupTestService;
beforeAll(async () => {
  bucket = await mkdtemp(join(tmpdir(), "quarterdeck-bucket-"));
  s3 = await startS3(bucket);
  const { endpoint } = s3.options;
  service = await createBackupTestService(
    { secrets: { S3_KEY: "S3RVER" } },
    {
      providers: () =>
        `  - { id: 3, name: bucket, type: s3, bucket: copies, endpoint: "${endpoint}", access_key: env:S3_KEY, secret_key: env:S3_KEY }`,
    },
  );
});
beforeEach(() => service.clear());
afterAll(async () => {
  await service?.close();
  await s3.close();
  await rm(bucket, { recursive: true, force: true });
});

const remove = (id: number) =>
  service.statusOf("DELETE", `/api/backup-configuration/${id}?files=remove`);

test("deletes a backup whose file is removed, even if another file can't be removed", async () => {
  const { id } = await service.installed();
  const oldest = await service.run(id);
  await service.run(id);
  // Replaces the file by a folder, which cannot be removed like a file.
  const file = join(service.folder, "copies", oldest.path);
  await rename(file, `${file}.away`);
  await mkdir(join(file, "in the way"), { recursive: true });
  expect(await remove(id)).toBe(204);
  const failed = await soon(async () => {
    const found = await service.show(id);
    expect(found.status).toBe("failed");
    return found;
  });
  expect(failed.status_reason).toMatch(/Couldn't delete all stored files/);
  expect(failed.backups.map((backup) => backup.id)).toEqual([oldest.id]);
  await rm(file, { recursive: true });
  await rename(`${file}.away`, file);
  expect(await remove(id)).toBe(204);
  await service.becomesGone(`/api/backup-configuration/${id}`);
  expect(await service.files()).toEqual([]);
});

test("starts no action on the backups of a configuration that is being deleted with its files", async () => {
  const { id } = await service.installed({ storage_provider_id: 3, copy_storage_provider_id: 1 });
  const backup = await service.run(id);
  const held = Promise.withResolvers<void>();
  const pass = () => "pass" as const;
  s3.rule((asked) => (asked.startsWith("DELETE") ? held.promise.then(pass) : pass()));
  expect(await remove(id)).toBe(204);
  await soon(() => expect(s3.asked().join("\n")).toContain("DELETE"));
  const path = `/api/backup/${backup.id}`;
  for (const [method, url] of [
    ["PUT", `${path}/pin`],
    ["PUT", path],
    ["POST", `${path}/drill`],
    ["POST", `${path}/copy`],
  ] as const)
    expect(await service.messageOf(method, url)).toMatch(/is being deleted, with its backups/);
  held.resolve();
  await service.becomesGone(`/api/backup-configuration/${id}`);
  expect(await service.files()).toEqual([]);
});
