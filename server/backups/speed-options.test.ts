import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  createBackupTestService,
  nightly,
  type BackupTestService,
} from "./testing/backup-service.ts";
import { compressCommand } from "./sources/compress-there.ts";

let service: BackupTestService;
beforeAll(async () => {
  service = await createBackupTestService();
});
afterAll(() => service?.close());

test("a higher compression level makes smaller backups, which are restored like any other", async () => {
  let state = 7;
  const next = (below: number) => (state = (state * 48_271) % 2_147_483_647) % below;
  const vocabulary = Array.from({ length: 2000 }, () => next(1e9).toString(36));
  const words = Array.from({ length: 30_000 }, () => vocabulary[next(next(2000) + 1)]);
  await writeFile(join(service.folder, "shop/words"), words.join(" "));
  const sizes: number[] = [];
  for (const level of [1, null, 19]) {
    const site = { backupable_type: "site", compression_level: level };
    const { id, compression_level: kept } = await service.installed(site);
    expect(kept).toBe(level);
    const backup = await service.run(id);
    expect(backup.status, backup.output).toBe("finished");
    sizes.push(backup.size);
    if (level !== 19) continue;
    await service.json("POST", `/api/backup/${backup.id}/drill`);
    await expect
      .poll(async () => (await service.backup(backup.id)).drill_status, { timeout: 60_000 })
      .toBe("finished");
  }
  expect(sizes).toEqual(sizes.toSorted((one, other) => other - one));
  expect(new Set(sizes).size).toBe(3);
});

test("another machine's zstd uses the level, too, and two threads", () => {
  expect(compressCommand({ compressionLevel: 12 })).toContain("-12");
  expect(compressCommand({})).toEqual(expect.arrayContaining(["-3", "--threads=2"]));
});

test("a level and a limit are stored, changed, cleared and refused at their fields", async () => {
  const made = await service.installed({ compression_level: 9, bytes_per_second: 2_500_000 });
  expect(made).toMatchObject({ compression_level: 9, bytes_per_second: 2_500_000 });
  const put = async (change: object) =>
    (
      await service.json<object>("PUT", `/api/backup-configuration/${made.id}`, {
        name: "Shop",
        frequency: "30 2 * * *",
        storage_provider_id: 1,
        ...change,
      })
    ).body;
  expect(await put({})).toMatchObject({ compression_level: 9, bytes_per_second: 2_500_000 });
  expect(await put({ compression_level: null, bytes_per_second: null })).toMatchObject({
    compression_level: null,
    bytes_per_second: null,
  });
  const wrong = { ...nightly, compression_level: 20, bytes_per_second: 9_999 };
  expect(
    Object.keys(await service.errorsOf("POST", "/api/server/1/backup-configuration", wrong)).sort(),
  ).toEqual(["bytes_per_second", "compression_level"]);
});
