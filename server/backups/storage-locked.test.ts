// Tests backups in a bucket with object lock: Ceph's gateway, which only `npm run soak` starts. `npm test` uses a bucket without.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Adoption } from "../../contract/backups/adoption.ts";
import { rehearseStorage } from "../storage/rehearse.ts";
import { createS3Storage } from "../storage/s3.ts";
import { startRadosgw, type Radosgw } from "../storage/testing/radosgw.ts";
import { startS3, type Gate } from "../storage/testing/s3.ts";
import { isLongForm } from "../testing/long-form.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { lockStored } from "./run/lock-stored.ts";
import { createBackupTestService, soon, type BackupTestService } from "./testing/backup-service.ts";

const whole = { signal: new AbortController().signal };
const lock = { mode: "compliance", days: 1 } as const;

describe("a bucket without object lock", () => {
  let folder: string;
  let s3: Gate;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "quarterdeck-unlocked-"));
    s3 = await startS3(folder);
  });
  afterAll(async () => {
    await s3.close();
    await rm(folder, { recursive: true, force: true });
  });

  test("is refused if the inventory requires locks, and otherwise reported as having none", async () => {
    const wanting = createS3Storage({ ...s3.options, lock });
    await expect(wanting.locks?.check(whole)).rejects.toMatchObject({
      name: "StorageError",
      message: expect.stringMatching(/has no object lock, so backups can't be locked there/),
    });
    expect(await createS3Storage(s3.options).locks?.check(whole)).toEqual([
      "The bucket has no object lock: whoever has the key can delete backups",
    ]);
  });

  test("stores backups nevertheless, and reports that they aren't locked, and which permission its key lacks", async () => {
    const at = new Date();
    const stored = { path: "shop/1/a.dump.zst", base: null, at };
    const storage = createS3Storage({ ...s3.options, lock });
    await storage.put(stored.path, Readable.from([Buffer.from("x")]), whole);
    expect(await lockStored({ ...stored, storage }, whole.signal)).toEqual({
      until: null,
      warning: expect.stringMatching(/^Stored, but not locked: bucket copies /),
    });
    s3.rule((asked) => (/[?&]retention/.test(asked) ? 403 : "pass"));
    const denied =
      /^(?:Stored, but not locked: )?bucket copies at http:\S+ denies s3:PutObjectRetention\. Give the key that permission, or remove lock from the inventory\.$/;
    expect(await lockStored({ ...stored, storage }, whole.signal)).toEqual({
      until: null,
      warning: expect.stringMatching(denied),
    });
    await expect(storage.locks?.tryOn(stored.path, whole)).rejects.toThrow(denied);
    s3.rule(() => "pass");
    const usual = createS3Storage(s3.options);
    expect(await lockStored({ ...stored, storage: usual }, whole.signal)).toEqual({
      until: null,
      warning: null,
    });
  });
});

// An empty list instead of skipped tests where the gateway is not used.
describe.each(isLongForm ? ["a bucket with object lock"] : [])("%s", () => {
  const dayMs = 24 * 3_600_000;
  /** How long a lock of one day lasts by the bucket's clock, because the service's clock is behind it by the rest. */
  const lockedMs = 20_000;
  const clock = createFakeClock(Date.now());
  const [locked, byItself, denied] = [5, 6, 7];
  let ceph: Radosgw;
  let service: BackupTestService;

  beforeAll(async () => {
    ceph = await startRadosgw();
    await ceph.createBucket("locked");
    await ceph.createBucket("by-itself");
    await ceph.createBucket("denied");
    await ceph.lockByDefault("by-itself", { Mode: "GOVERNANCE", Days: 1 });
    const { endpoint, accessKey, secretKey } = ceph.options;
    const access = `type: s3, endpoint: "${endpoint}", access_key: env:LOCKED_ACCESS, secret_key: env:LOCKED_SECRET`;
    service = await createBackupTestService(
      { clock, secrets: { LOCKED_ACCESS: accessKey, LOCKED_SECRET: secretKey } },
      {
        providers: () =>
          [
            `  - { id: ${locked}, name: vault, bucket: locked, ${access}, lock: { mode: compliance, days: 1 } }`,
            `  - { id: ${byItself}, name: habit, bucket: by-itself, ${access} }`,
            `  - { id: ${denied}, name: denied, bucket: denied, ${access}, lock: { mode: governance, days: 1 } }`,
          ].join("\n"),
      },
    );
  }, 120_000);
  afterAll(async () => {
    await service?.close();
    await ceph?.close();
  });
  const filesIn = async (bucket: string) =>
    (await ceph.versions(bucket)).filter((key) => key.includes(".zst"));

  test("a full and its dependents are kept while the last one is locked, and then removed permanently", async () => {
    clock.jump(Date.now() - dayMs + lockedMs - clock.now());
    const { id } = await service.installed({
      storage_provider_id: locked,
      frequency: "0 0 1 1 *",
      hold: 1,
      incremental: true,
    });
    const full = await service.run(id);
    expect(full.output).toMatch(/Locked until/);
    clock.jump(2000);
    const patch = await service.run(id);
    expect(patch.warnings).toEqual([]);
    expect(patch.base_id).toBe(full.id);
    expect((await service.backup(full.id)).locked_until).toBe(patch.locked_until);
    const storage = createS3Storage({ ...ceph.options, bucket: "locked" });
    for (const path of [full.path, patch.path, `${full.path}.json`, `${patch.path}.json`])
      expect((await storage.locks?.until(path))?.toISOString()).toBe(
        new Date(patch.locked_until ?? 0).toISOString(),
      );

    expect(await service.messageOf("DELETE", `/api/backup/${patch.id}`)).toMatch(
      /^Locked in vault until .+ UTC\. It can be deleted after that\.$/,
    );
    expect(await service.statusOf("DELETE", `/api/backup/${patch.id}`)).toBe(409);
    expect(
      await service.messageOf("DELETE", `/api/backup-configuration/${id}?files=remove`),
    ).toMatch(/are locked in their storage, the last one until/);

    // By the service's clock the day is over, but the bucket refuses the deletion.
    clock.jump(dayMs);
    expect(await service.statusOf("DELETE", `/api/backup/${patch.id}`)).toBe(204);
    const kept = await service.becomes(patch.id, "finished");
    expect(kept.locked_until).toBe(patch.locked_until);
    expect(await filesIn("locked")).toHaveLength(4);

    await soon(
      () => expect(Date.now()).toBeGreaterThan(Date.parse(patch.locked_until ?? "")),
      2 * lockedMs,
    );
    expect(await service.statusOf("DELETE", `/api/backup/${patch.id}`)).toBe(204);
    await service.becomesGone(`/api/backup/${patch.id}`);
    expect(await service.statusOf("DELETE", `/api/backup/${full.id}`)).toBe(204);
    await service.becomesGone(`/api/backup/${full.id}`);
    expect(await filesIn("locked")).toEqual([]);
  }, 120_000);

  test("a bucket with a default retention reports how long it locks", async () => {
    clock.jump(Date.now() - clock.now());
    const { id } = await service.installed({
      storage_provider_id: byItself,
      frequency: "0 0 1 1 *",
    });
    const backup = await service.run(id);
    expect(Date.parse(backup.locked_until ?? "")).toBeGreaterThan(Date.now() + dayMs / 2);
    expect(await service.statusOf("DELETE", `/api/backup/${backup.id}`)).toBe(409);
    const storage = createS3Storage({ ...ceph.options, bucket: "by-itself" });
    expect(await storage.locks?.check(whole)).toEqual([
      "The bucket locks each new file for 1 day (governance): backups can't be deleted before, neither by retention nor on request",
    ]);
    await expect(storage.remove(backup.path)).rejects.toThrow(/is locked in bucket by-itself/);
    expect(await storage.size(backup.path)).toBe(backup.size);
  });

  test("a copy there is locked, its run elsewhere isn't, and an adoption detects the lock", async () => {
    clock.jump(Date.now() - clock.now());
    const { id } = await service.installed({
      copy_storage_provider_id: locked,
      frequency: "0 0 1 1 *",
    });
    const run = await service.run(id);
    expect(run).toMatchObject({ status: "finished", locked_until: null });
    const [{ id: copyId } = { id: 0 }] = run.copies ?? [];
    const copy = await service.backup(copyId);
    expect(copy.output).toMatch(/Locked until/);
    expect(Date.parse(copy.locked_until ?? "")).toBeGreaterThan(Date.now() + dayMs / 2);
    const until = /^Locked in vault until .+ UTC\. It can be deleted after that\.$/;
    expect(await service.messageOf("DELETE", `/api/backup/${copyId}`)).toMatch(until);
    expect(await service.statusOf("DELETE", `/api/backup/${run.id}`)).toBe(204);
    await service.becomesGone(`/api/backup/${run.id}`);

    expect(await service.statusOf("DELETE", `/api/backup-configuration/${id}`)).toBe(204);
    const { body: adoption } = await service.json<Adoption>(
      "POST",
      `/api/inventory/storage-providers/${locked}/adoption`,
    );
    expect(adoption).toMatchObject({ adopted: 1, left_out: [] });
    const [source] = adoption.sources;
    const [adopted] = (await service.show(source?.configuration_id ?? 0)).backups;
    expect(adopted).toMatchObject({ path: copy.path, locked_until: copy.locked_until });
    expect(await service.messageOf("DELETE", `/api/backup/${adopted?.id}`)).toMatch(until);
  });

  test("the storage's test refuses a key that may not lock, and a run's backup isn't shown as locked", async () => {
    clock.jump(Date.now() - clock.now());
    const lockedNever = /denies s3:PutObjectRetention\. Give the key that permission/;
    const { id } = await service.installed({
      storage_provider_id: denied,
      frequency: "0 0 1 1 *",
    });
    await ceph.deny("denied", "PutObjectRetention");
    const backup = await service.run(id);
    expect(backup).toMatchObject({ status: "finished", locked_until: null });
    expect(backup.warnings).toContainEqual(expect.stringMatching(lockedNever));
    expect(backup.output).not.toMatch(/Locked until/);
    const { id: next } = await service.configuration({ storage_provider_id: denied });
    await soon(async () =>
      expect(await service.show(next)).toMatchObject({
        status: "failed",
        status_reason: expect.stringMatching(lockedNever),
      }),
    );
    expect(await service.statusOf("DELETE", `/api/backup/${backup.id}`)).toBe(204);
    await service.becomesGone(`/api/backup/${backup.id}`);

    for (const [action, words] of [
      ["GetObjectRetention", /denies s3:GetObjectRetention/],
      ["ListBucketVersions", /denies s3:ListBucketVersions/],
      ["DeleteObjectVersion", /lacks s3:DeleteObjectVersion or/],
    ] as const) {
      await ceph.deny("denied", action);
      const storage = createS3Storage({ ...ceph.options, bucket: "denied", lock });
      await expect(
        rehearseStorage(storage, { folder: "test", attempt: 1 }, whole.signal),
      ).rejects.toThrow(words);
    }
  });

  test("a file that was uploaded in parts is locked as one, and removable after its lock", async () => {
    const storage = createS3Storage({ ...ceph.options, bucket: "locked", lock });
    const path = "parts/1.dump.zst";
    const at = new Date(Date.now() - dayMs + 3000);
    await storage.put(path, Readable.from([Buffer.alloc(20_000_000, "x")]), whole);
    const { until, warning } = await lockStored({ storage, path, base: null, at }, whole.signal);
    expect(warning).toBe(null);
    await expect(storage.remove(path)).rejects.toThrow(/is locked in bucket locked/);
    expect(await storage.size(path)).toBe(20_000_000);
    await soon(() => expect(Date.now()).toBeGreaterThan(until?.getTime() ?? Infinity), 10_000);
    await storage.remove(path);
    expect(await ceph.versions("locked")).not.toContain(path);
  });
});
