import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Backup } from "../../contract/backups/backup.ts";
import { createBackupTestService, soon, type BackupTestService } from "./testing/backup-service.ts";
import { eachMachine } from "../ssh/testing/remote-server.ts";

let service: BackupTestService;

describe.each(eachMachine())("on $machine", ({ connectionOf }) => {
  beforeAll(async () => {
    service = await createBackupTestService({}, { connection: await connectionOf() });
  });
  afterAll(() => service?.close());

  describe("a restore over what is broken", () => {
    test("is made without saving it, when that is asked for", async () => {
      const { id } = await service.installed();
      const { id: backupId } = await service.run(id);
      await writeFile(join(service.folder, "orders.sqlite"), "no database any more");
      expect(await service.statusOf("PUT", `/api/backup/${backupId}`)).toBe(202);
      const failed = await service.restored(backupId, "failed");
      expect(failed.restore_output).toMatch(/restore again without a backup/);
      expect(await readFile(join(service.folder, "orders.sqlite"), "utf8")).toContain(
        "no database",
      );

      await service.errorsOf("PUT", `/api/backup/${backupId}`, { skip_safety_backup: "yes" });
      const unsaved = { skip_safety_backup: true };
      expect(await service.statusOf("PUT", `/api/backup/${backupId}`, unsaved)).toBe(202);
      const restored = await service.restored(backupId, "finished");
      expect(restored.restore_output).toContain(
        "Skipping the backup of current data, as requested.",
      );
      expect(service.sql("select count(*) as n from orders")).toEqual([{ n: 2 }]);
      const { backups } = await service.show(id);
      expect(backups.map(({ trigger, status: its }) => [trigger, its])).toEqual([
        ["safety", "failed"],
        ["manual", "finished"],
      ]);
    });
  });

  describe("a restore", () => {
    test("brings the old rows back, and saves what was there first", async () => {
      const { id } = await service.installed();
      const backup = await service.run(id);
      service.sql("update orders set customer = 'mallory'");
      const response = await service.call("PUT", `/api/backup/${backup.id}`);
      expect(response.status).toBe(202);
      expect(await response.json()).toMatchObject({ id: backup.id, restore_status: "running" });
      const restored = await service.restored(backup.id, "finished");
      expect(restored.restored_at).not.toBeNull();
      expect(service.sql("select customer from orders")).toEqual([
        { customer: "ada" },
        { customer: "grace" },
      ]);
      const safety = (await service.show(id)).backups[0];
      expect(safety).toMatchObject({ trigger: "safety", status: "finished" });
      await service.call("PUT", `/api/backup/${safety?.id}`);
      await service.restored(safety?.id ?? 0, "finished");
      expect(service.sql("select distinct customer from orders")).toEqual([
        { customer: "mallory" },
      ]);
    });

    test("of a damaged file changes nothing, says so, and marks the copy", async () => {
      const { id } = await service.installed();
      const backup = await service.run(id);
      const path = join(service.folder, "copies", backup.path);
      const file = await readFile(path);
      file[file.length >> 1] = (file[file.length >> 1] ?? 0) ^ 1;
      await writeFile(path, file);
      service.sql("update orders set customer = 'mallory'");
      await service.call("PUT", `/api/backup/${backup.id}`);
      const failed = await service.restored(backup.id, "failed");
      expect(failed.restore_output).toMatch(/Checksum mismatch/);
      expect(failed.damage).toMatch(/Checksum mismatch/);
      expect(service.sql("select distinct customer from orders")).toEqual([
        { customer: "mallory" },
      ]);
      expect((await service.show(id)).warnings?.join()).toMatch(/damaged/);
      const download = await service.call("GET", `/api/backup/${backup.id}/file`);
      await expect(download.arrayBuffer()).rejects.toThrow("Checksum mismatch");
    });

    test("is refused while the target is busy, and of what is not finished", async () => {
      const { id } = await service.installed({ backupable_type: "site" });
      await writeFile(join(service.folder, "shop/large"), Buffer.alloc(40_000_000, "quarterdeck"));
      const backup = await service.run(id);
      await service.call("POST", `/api/backup/${id}`);
      expect(await service.messageOf("PUT", `/api/backup/${backup.id}`)).toMatch(/being backed up/);
      await soon(async () => expect((await service.show(id)).last_backup?.status).toBe("finished"));
      expect(await service.statusOf("PUT", `/api/backup/${backup.id}`)).toBe(202);
      expect(await service.statusOf("PUT", `/api/backup/${backup.id}`)).toBe(409);
      expect(await service.statusOf("DELETE", `/api/backup/${backup.id}`)).toBe(409);
      await service.restored(backup.id, "finished");
    });
  });

  describe("a drill", () => {
    test("proves a backup without touching anything", async () => {
      const { id } = await service.installed();
      const backup = await service.run(id);
      service.sql("insert into orders (customer) values ('later')");
      const asked = await service.json<Backup>("POST", `/api/backup/${backup.id}/drill`);
      expect(asked).toMatchObject({ status: 202, body: { drill_status: "running" } });
      await soon(async () =>
        expect((await service.backup(backup.id)).drill_status).toBe("finished"),
      );
      expect((await service.backup(backup.id)).drill_output).toMatch(/2 rows/);
      expect((await service.show(id)).last_proven_at).not.toBeNull();
      expect(service.sql("select count(*) as n from orders")).toEqual([{ n: 3 }]);
    });
  });
});
