// Tests an rclone storage through the whole service: in the long form one that another rclone serves by SFTP.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Page } from "../../contract/paging.ts";
import type { StorageProvider } from "../../contract/servers.ts";
import { storedFilesIn } from "../storage/testing/stored-files.ts";
import { serveByRclone, type RcloneServer } from "../storage/testing/rclone-server.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { inLongForm, isLongForm } from "../testing/long-form.ts";
import { recoveryName } from "./recovery/recovery-page.ts";
import { createBackupTestService, soon, type BackupTestService } from "./testing/backup-service.ts";

const clock = createFakeClock(Date.parse("2026-06-01T12:00:00Z"));
const hourMs = 3_600_000;
let service: BackupTestService;
let folder: string;
let copies: string;
let box: Pick<RcloneServer, "config" | "close">;
const onBox = 5;
const yearly = { storage_provider_id: onBox, frequency: "0 0 1 1 *" };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "quarterdeck-boxed-"));
  copies = join(folder, "copies");
  await mkdir(copies);
  box = isLongForm
    ? await serveByRclone("sftp", folder)
    : { config: `[served]\ntype = alias\nremote = ${folder}\n`, close: async () => undefined };
  service = await createBackupTestService(
    { clock },
    {
      providers: () =>
        `  - { id: ${onBox}, name: box, type: rclone, remote: "served:copies", config: file:secrets/box.conf }`,
    },
  );
  await mkdir(join(service.folder, "secrets"), { recursive: true, mode: 0o700 });
  await writeConfig();
  // More than rclone keeps in memory before it begins to send.
  service.sql("create table noise as select randomblob(1000000) as bytes");
});
afterAll(async () => {
  await service?.close();
  await box?.close();
  await rm(folder, { recursive: true, force: true });
});

const writeConfig = () =>
  writeFile(join(service.folder, "secrets/box.conf"), box.config, { mode: 0o600 });

test("a backup is stored there and restored, and removed with its configuration", async () => {
  const { body } = await service.json<Page<StorageProvider>>("GET", "/api/storage-providers");
  expect(body.data.find(({ id }) => id === onBox)).toMatchObject({
    type: "rclone",
    place: "rclone remote served:copies",
  });
  const { id } = await service.installed(yearly);
  const backup = await service.run(id);
  expect(backup.status, backup.output).toBe("finished");
  expect(backup.output).toMatch(/verified by reading back/);
  expect(await storedFilesIn(copies)).toEqual([backup.path]);
  await soon(async () =>
    expect(await readFile(join(copies, recoveryName), "utf8")).toMatch(/rclone copy[^]*orders/),
  );

  // Downloads and drills read the file like the restore.
  if (isLongForm) {
    const stored = await readFile(join(copies, backup.path));
    const download = await service.call("GET", `/api/backup/${backup.id}/file`);
    expect(Buffer.from(await download.arrayBuffer()).equals(stored)).toBe(true);
    await service.call("POST", `/api/backup/${backup.id}/drill`);
    await soon(async () => {
      const found = await service.backup(backup.id);
      expect(found.drill_status, found.drill_output ?? "").toBe("finished");
    });
  }
  service.sql("delete from orders");
  await service.call("PUT", `/api/backup/${backup.id}`, { skip_safety_backup: true });
  await service.restored(backup.id, "finished");
  expect(service.sql("select count(*) as n from orders")).toEqual([{ n: 2 }]);

  if (isLongForm) {
    await writeFile(join(copies, backup.path), Buffer.alloc(backup.size));
    await service.call("POST", `/api/backup/${backup.id}/drill`);
    await soon(async () =>
      expect((await service.backup(backup.id)).damage).toMatch(/Checksum mismatch/),
    );
  }
  await service.call("DELETE", `/api/backup-configuration/${id}?files=remove`);
  await service.becomesGone(`/api/backup-configuration/${id}`);
  await soon(async () => expect(await readdir(copies)).toEqual([]));
  expect(await readdir(join(service.options.dataFolder, "scratch"))).toEqual([]);
});

// `npm run soak -- storages` only: all storages report that they are unavailable, and `storage-over-ssh.test.ts` tests another one.
inLongForm(() =>
  test("while it is unavailable no backup counts as damaged or missing, and removals happen later", async () => {
    const { id } = await service.installed(yearly);
    const kept = await service.run(id);
    const deleted = await service.run(id);
    await box.close();

    const away = /rclone remote served:copies refused the connection/;
    const failed = await service.run(id);
    expect(failed.status).toBe("failed");
    expect(failed.status_reason).toMatch(away);
    expect(await service.messageOf("GET", `/api/backup/${kept.id}/file`)).toMatch(away);
    expect(await service.statusOf("PUT", `/api/backup/${kept.id}`)).toBe(202);
    expect((await service.restored(kept.id, "failed")).restore_output).toMatch(
      /refused the connection\..* Nothing was changed\.$/m,
    );
    await service.call("DELETE", `/api/backup/${deleted.id}`);
    const undeleted = await service.becomes(deleted.id, "failed");
    expect(undeleted.status_reason).toMatch(
      /Couldn't delete the stored file: .*retries within the/,
    );
    expect((await service.backup(kept.id)).damage).toBeNull();

    box = await serveByRclone("sftp", folder);
    await writeConfig();
    await soon(async () => expect((await service.run(id)).status).toBe("finished"));
    clock.advance(hourMs);
    await service.becomesGone(`/api/backup/${deleted.id}`);
    expect(await storedFilesIn(copies)).toContain(kept.path);
    expect(await storedFilesIn(copies)).not.toContain(deleted.path);
  }),
);
