// Tests what works differently on a remote server than on this machine. What follows in the database and in the storage
// is tested on this machine only.
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Backup, BackupConfiguration } from "../../contract/backups/backup.ts";
import {
  createBackupTestService,
  createHold,
  heldSite,
  nightly,
  soon,
  type BackupTestService,
} from "./testing/backup-service.ts";
import { eachMachine } from "../ssh/testing/remote-server.ts";

/** Id of a site in the inventory. */
const heldId = 2;
let service: BackupTestService;

describe.each(eachMachine())("on $machine", ({ connectionOf, isWhole }) => {
  /** A configuration of the database, and a backup that no test damages. */
  let id: number;
  let good: Backup;
  beforeAll(async () => {
    service = await createBackupTestService(
      {},
      { connection: await connectionOf(), sites: (folder) => heldSite(folder, heldId) },
    );
    ({ id } = await service.installed({ hold: 100 }));
    good = await service.run(id);
  });
  afterAll(() => service?.close());

  const filesOf = async (id: number) =>
    (await service.files()).filter((path) => path.includes(`/${id}/`));

  describe("a configuration", () => {
    test("is installing and empty at first, and installed once its parts were tested", async () => {
      const response = await service.call("POST", "/api/server/1/backup-configuration", nightly);
      const made: BackupConfiguration = await response.json();
      expect(response.status).toBe(201);
      expect(response.headers.get("Location")).toBe(`/api/backup-configuration/${made.id}`);
      expect(made).toMatchObject({
        name: "Shop",
        frequency: "30 2 * * *",
        hold: 7,
        directory: "shop",
        status: "installing",
        storage_provider_id: 1,
        type: "database",
        backupable: { id: 1, name: "orders", status: "installed" },
        last_backup: null,
        last_backup_at: null,
        backups: [],
      });
      await soon(async () => expect((await service.show(made.id)).status).toBe("installed"));
      expect((await service.show(made.id)).next_run_at).toMatch(/T02:30:00\.000000Z$/);
      expect(await filesOf(made.id)).toEqual([]);
    });

    test("of a missing database fails with its path", async () => {
      const { id } = await service.configuration({ backupable_id: 3 });
      await soon(async () => {
        const found = await service.show(id);
        expect(found.status).toBe("failed");
        expect(found.status_reason).toContain("gone.sqlite");
      });
    });
  });

  describe("a run", () => {
    test("waits, runs, and is finished once its file was read back", async () => {
      const before = await filesOf(id);
      const response = await service.call("POST", `/api/backup/${id}`);
      const asked: Backup = await response.json();
      expect(response.status).toBe(202);
      expect(response.headers.get("Location")).toBe(`/api/backup/${asked.id}`);
      expect(asked).toMatchObject({ size: 0, ended_at: null, restore_status: null });
      const finished = await service.becomes(asked.id, "finished");
      expect(finished.path).toMatch(
        new RegExp(`^shop/${id}/${asked.id}-\\d{8}T\\d{6}Z-0\\.sqlite\\.zst$`),
      );
      const file = await readFile(join(service.folder, "copies", finished.path));
      expect(finished.size).toBe(file.length);
      expect(finished.checksum).toBe(createHash("sha256").update(file).digest("hex"));
      expect(finished.plain_size).toBeGreaterThan(finished.size);
      expect(finished.duration).toMatch(/^\d+ seconds?$/);
      expect(finished.ended_at).not.toBeNull();
      expect((await filesOf(id)).filter((one) => !before.includes(one))).toEqual([finished.path]);
    });

    test("that fails shows why, leaves nothing behind, and does not affect earlier backups", async () => {
      const before = await filesOf(id);
      expect(before, good.output).toContain(good.path);
      const path = join(service.folder, "orders.sqlite");
      const database = await readFile(path);
      await writeFile(path, "this is no database, it is a text file");
      const failed = await service.run(id);
      await writeFile(path, database);
      expect(failed).toMatchObject({ status: "failed", size: 0, path: "" });
      expect(failed.output).toMatch(/not a database/);
      expect(failed.status_reason).toMatch(/orders/);
      expect(await filesOf(id)).toEqual(before);
      expect((await service.show(id)).last_backup?.id).toBe(failed.id);
    });
  });

  describe("a restore", () => {
    test("restores the old rows, and saves the previous state first", async () => {
      service.sql("update orders set customer = 'mallory'");
      const response = await service.call("PUT", `/api/backup/${good.id}`);
      expect(response.status).toBe(202);
      expect(await response.json()).toMatchObject({ id: good.id, restore_status: "running" });
      const restored = await service.restored(good.id, "finished");
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

    test("of a damaged file changes nothing, shows why, and marks the backup as damaged", async () => {
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
  });

  describe("a drill", () => {
    test("verifies a backup without changing anything", async () => {
      service.sql("insert into orders (customer) values ('later')");
      const before = service.sql("select * from orders order by id");
      const asked = await service.json<Backup>("POST", `/api/backup/${good.id}/drill`);
      expect(asked).toMatchObject({ status: 202, body: { drill_status: "running" } });
      await soon(async () => expect((await service.backup(good.id)).drill_status).toBe("finished"));
      expect((await service.backup(good.id)).drill_output).toMatch(/2 rows/);
      expect((await service.show(id)).last_proven_at).not.toBeNull();
      expect(service.sql("select * from orders order by id")).toEqual(before);
    });
  });

  // The rest does not depend on the machine, or the tests of the sources cover it over SSH.
  if (!isWhole) return;

  describe("a configuration", () => {
    test("reports at its installation what backups will leave unchecked", async () => {
      service.sql("create index by_customer on orders (customer collate nocase)");
      // Edits the schema to have a collation like an application's, which node:sqlite cannot register.
      const connection = new DatabaseSync(join(service.folder, "orders.sqlite"));
      connection.enableDefensive(false);
      connection.exec(`pragma writable_schema = on;
      update sqlite_schema set sql = replace(sql, 'nocase', 'german') where name = 'by_customer';
      pragma writable_schema = reset`);
      connection.close();
      const { id, warnings } = await service.installed();
      const warning = expect.stringMatching(/^Table orders uses the collation german/);
      expect(warnings).toEqual([warning]);
      const backup = await service.run(id);
      expect(backup.status, backup.output).toBe("finished");
      expect(backup.output.split("\n")).toContainEqual(warning);
      service.sql("drop index by_customer");
      await service.run(id);
      expect((await service.show(id)).warnings).not.toContainEqual(warning);
    });
  });

  describe("a run", () => {
    test("repairs a configuration whose rehearsal had failed", async () => {
      const { id: failedId } = await service.configuration({ backupable_id: 3 });
      await soon(async () => expect((await service.show(failedId)).status).toBe("failed"));
      await writeFile(
        join(service.folder, "gone.sqlite"),
        await readFile(join(service.folder, "orders.sqlite")),
      );
      await service.run(failedId);
      const mended = { status: "installed", status_reason: null };
      expect(await service.show(failedId)).toMatchObject(mended);
    });
  });

  describe("a restore over a broken database", () => {
    test("skips the safety backup on request", async () => {
      const { id } = await service.installed();
      const { id: backupId } = await service.run(id);
      const count = () => service.sql("select count(*) as n from orders");
      const before = count();
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
      expect(count()).toEqual(before);
      const { backups } = await service.show(id);
      expect(backups.map(({ trigger, status: its }) => [trigger, its])).toEqual([
        ["safety", "failed"],
        ["manual", "finished"],
      ]);
    });
  });

  describe("a restore", () => {
    test("is refused while the target is busy, and of an unfinished backup", async () => {
      const { id } = await service.installed({ backupable_type: "site" });
      const backup = await service.run(id);
      expect(backup.path, backup.output).toMatch(/\.tar\.zst$/);
      const hold = await createHold(service, heldId);
      await hold.begin();
      await service.call("POST", `/api/backup/${id}`);
      expect(await service.messageOf("PUT", `/api/backup/${backup.id}`)).toMatch(/being backed up/);
      await hold.letGo();
      await soon(async () => expect((await service.show(id)).last_backup?.status).toBe("finished"));
      await hold.begin();
      expect(await service.statusOf("PUT", `/api/backup/${backup.id}`)).toBe(202);
      expect(await service.statusOf("PUT", `/api/backup/${backup.id}`)).toBe(409);
      expect(await service.statusOf("DELETE", `/api/backup/${backup.id}`)).toBe(409);
      await hold.letGo();
      await service.restored(backup.id, "finished");
    });
  });
});
