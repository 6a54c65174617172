// Tests a local storage whose disk is not mounted: its folder exists, but is empty.
import { mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { markerName } from "../storage/marker.ts";
import { recoveryName } from "./recovery/recovery-page.ts";
import { createBackupTestService, soon, type BackupTestService } from "./testing/backup-service.ts";

let service: BackupTestService;
let copies: string;
beforeAll(async () => {
  service = await createBackupTestService();
  copies = join(service.folder, "copies");
});
afterAll(() => service?.close());

const marker = () => join(copies, markerName);
const away = /is away: .*its disk is probably not mounted\. Nothing was written or removed\./;

/** Waits for the entry of the newest backup in RECOVERY.md, which is written after its run. */
const recoveryShows = (path: string) =>
  soon(async () => expect(await readFile(join(copies, recoveryName), "utf8")).toContain(path));

/** Unmounts the disk, which leaves the empty mount point. */
async function unmount(): Promise<void> {
  await rename(copies, `${copies}-disk`);
  await mkdir(copies);
}
async function mount(): Promise<void> {
  await rmdir(copies);
  await rename(`${copies}-disk`, copies);
}

const message = async (method: string, path: string) => {
  const answer = await service.json<{ message: string }>(method, path);
  expect(answer.status).toBe(409);
  return answer.body.message;
};

test("is not written to, its backups are neither marked as damaged nor removed, and later all is as before", async () => {
  const { id } = await service.installed({ hold: 1 });
  expect(await readFile(marker(), "utf8")).toContain("Quarterdeck keeps backups");
  const kept = await service.run(id);
  await recoveryShows(kept.path);
  await unmount();

  const failed = await service.run(id);
  expect(failed.status).toBe("failed");
  expect(failed.status_reason).toMatch(away);
  expect(failed.status_reason).toContain(`touch ${marker()}`);
  expect(await message("GET", `/api/backup/${kept.id}/file`)).toMatch(away);
  await service.call("PUT", `/api/backup/${kept.id}`);
  expect((await service.restored(kept.id, "failed")).restore_output).toMatch(away);
  await service.call("POST", `/api/backup/${kept.id}/drill`);
  await soon(async () => expect((await service.backup(kept.id)).drill_status).toBe("failed"));
  await service.call("DELETE", `/api/backup/${kept.id}`);
  const undeleted = await service.becomes(kept.id, "failed");
  expect(undeleted.status_reason).toMatch(away);
  expect(undeleted.damage).toBeNull();
  const { body: tried } = await service.json<{ ok: boolean; message: string }>(
    "POST",
    "/api/inventory/storage-providers/test",
    { name: "disk", type: "local", path: copies },
  );
  expect(tried).toMatchObject({ ok: false, message: expect.stringMatching(away) });
  const another = await service.configuration({ name: "Another" });
  await soon(async () => expect((await service.show(another.id)).status_reason).toMatch(away));
  expect(await readdir(copies)).toEqual([]);

  await mount();
  expect((await service.run(id)).status).toBe("finished");
});

test("allows restoring a table whose data another storage can save", async () => {
  const { id } = await service.installed();
  const { id: backupId } = await service.run(id);
  const other = join(service.folder, "not-there");
  await mkdir(other);
  const newest = await service.installed({ storage_provider_id: 2 });
  await rename(other, `${other}-disk`);
  expect((await service.run(newest.id)).status).toBe("failed");
  await service.json("POST", "/api/database/1/restore", {
    backup_id: backupId,
    tables: ["orders"],
  });
  const { restore_target: target } = await service.restored(backupId, "finished");
  expect((await service.backup(target?.safety_backup_id ?? 0)).configuration_id).toBe(id);
});

test("without a marker of an earlier version is recognized by its backups, and gets one at the next good run", async () => {
  const { id } = await service.installed();
  await recoveryShows((await service.run(id)).path);
  await rm(marker());
  // The state after an upgrade from a version without markers.
  const client = new pg.Client(service.connection);
  await client.connect();
  await client.query("update storage_providers set marked_path = null");
  await client.end();
  await unmount();
  expect((await service.run(id)).status_reason).toMatch(/is away: none of the backups/);
  expect(await readdir(copies)).toEqual([]);
  await mount();
  const second = await service.run(id);
  expect(second.status).toBe("finished");
  expect(await readdir(copies)).toContain(markerName);
  await recoveryShows(second.path);
  await unmount();
  expect((await service.run(id)).status_reason).toMatch(/is away: the file/);
  // The operator creates the marker to start with an empty storage.
  await writeFile(marker(), "");
  expect((await service.run(id)).status).toBe("finished");
});

test("a backup found damaged is good again once a drill has restored it", async () => {
  const { id } = await service.installed();
  const { id: backupId, path } = await service.run(id);
  const file = join(copies, path);
  const whole = await readFile(file);
  await writeFile(file, Buffer.alloc(whole.length));
  const drilled = async (status: string) => {
    await service.call("POST", `/api/backup/${backupId}/drill`);
    return soon(async () => {
      const found = await service.backup(backupId);
      expect(found.drill_status, found.drill_output ?? "").toBe(status);
      return found;
    });
  };
  expect((await drilled("failed")).damage).toMatch(/Checksum mismatch/);
  await writeFile(file, whole);
  const { damage, verified_at: verifiedAt } = await drilled("finished");
  expect(damage).toBeNull();
  expect(verifiedAt).not.toBeNull();
});
