import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import pg from "pg";
import type { StorageForecast } from "../../../contract/backups/storage-forecast.ts";
import { createBackupTestService, type BackupTestService } from "../testing/backup-service.ts";

let service: BackupTestService;
beforeEach(async () => {
  service = await createBackupTestService();
});
afterEach(() => service.close());

const forecastOf = async (id: number) =>
  (await service.json<StorageForecast>("GET", `/api/backup-configuration/${id}/storage-forecast`))
    .body;

test("the forecast of a storage covers everything stored there", async () => {
  const { id } = await service.installed({ hold: 3 });
  const other = await service.installed({ backupable_type: "site", hold: 2 });
  const [first, second] = [await service.run(id), await service.run(other.id)];
  const found = await forecastOf(id);
  expect(found.stored_bytes).toBe(first.size + second.size);
  expect(found.later_bytes).toBe(3 * first.size + 2 * second.size);
  expect(found.free_bytes).toBeGreaterThan(0);
  expect(found).toMatchObject({ full_at: null, configurations: 2 });
});

test("excludes backups of a configuration that is being deleted", async () => {
  const { id } = await service.installed({ hold: 3 });
  const other = await service.installed({ backupable_type: "site", hold: 2 });
  const [first, second] = [await service.run(id), await service.run(other.id)];
  await service.query("update backup_configurations set status = 'removing' where id = $1", [
    other.id,
  ]);
  expect(await forecastOf(id)).toMatchObject({
    stored_bytes: first.size + second.size,
    later_bytes: 3 * first.size,
    configurations: 1,
  });
});

test("a file whose deletion failed is stored until it is deleted", async () => {
  const { id } = await service.installed({ hold: 2 });
  const [first, second] = [await service.run(id), await service.run(id)];
  // Replaces the file by a folder, which cannot be deleted like a file.
  const file = join(service.folder, "copies", first.path);
  await rm(file);
  await mkdir(join(file, "in the way"), { recursive: true });
  await service.call("DELETE", `/api/backup/${first.id}`);
  await service.becomes(first.id, "failed");
  expect(await forecastOf(id)).toMatchObject({
    stored_bytes: first.size + second.size,
    later_bytes: 3 * first.size,
  });
});

test("other keep rules and another schedule can be tried without saving them", async () => {
  const { id } = await service.installed({ hold: 3 });
  const { size } = await service.run(id);
  const tried = async (query: string) =>
    (
      await service.json<StorageForecast>(
        "GET",
        `/api/backup-configuration/${id}/storage-forecast?${query}`,
      )
    ).body.later_bytes;
  expect(await tried("hold=5")).toBe(5 * size);
  expect(await tried("hold=1&monthly=6")).toBe(6 * size);
  expect(await tried("frequency=0+0+1+1+*")).toBe(2 * size);
  expect((await forecastOf(id)).later_bytes).toBe(3 * size);
});

test("a plan that could not be saved is refused at its fields", async () => {
  const { id } = await service.installed();
  const { status, body } = await service.json<{ errors: Record<string, string[]> }>(
    "GET",
    `/api/backup-configuration/${id}/storage-forecast?hold=0&daily=x&frequency=0+0+31+2+*`,
  );
  expect(status).toBe(422);
  expect(Object.keys(body.errors)).toEqual(["frequency", "hold", "daily"]);
});

test("shows when a storage will be full", async () => {
  const { id } = await service.installed({ hold: 8760 });
  const { id: backupId } = await service.run(id);
  const client = new pg.Client(service.connection);
  await client.connect();
  // In a year, more than a number represents exactly.
  await client.query("update backups set size = 100000000000000 where id = $1", [backupId]);
  await client.end();
  const { full_at: fullAt } = await forecastOf(id);
  expect(Date.parse(fullAt ?? "")).toBeGreaterThan(Date.now());
  expect(Date.parse(fullAt ?? "")).toBeLessThan(Date.now() + 366 * 24 * 3_600_000);
});

test("the free space of an unavailable storage is unknown", async () => {
  const { id } = await service.configuration({ storage_provider_id: 2 });
  expect(await forecastOf(id)).toMatchObject({ free_bytes: null, full_at: null });
});
