import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isLongForm } from "../testing/long-form.ts";
import type { Backup, BackupConfiguration, BackupSchedule } from "../../contract/backups/backup.ts";
import type { Page } from "../../contract/paging.ts";
import {
  createBackupTestService,
  nightly,
  soon,
  type BackupTestService,
} from "./testing/backup-service.ts";

let service: BackupTestService;
beforeEach(async () => {
  service = await createBackupTestService();
});
afterEach(() => service.close());

const status = async (method: string, path: string, body?: unknown) =>
  (await service.call(method, path, body)).status;
const message = async (method: string, path: string, body?: unknown) =>
  (await service.json<{ message: string }>(method, path, body)).body.message;
const errors = async (method: string, path: string, body: unknown) => {
  const answer = await service.json<{ errors: Record<string, string[]> }>(method, path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(422);
  return answer.body.errors;
};
const gone = (path: string) => soon(async () => expect(await status("GET", path)).toBe(404));

describe("a configuration", () => {
  test("is installing at first, with nothing in it, and installed once its parts were tried", async () => {
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
    expect(await service.files()).toEqual([]);
  });

  test("that cannot work says why, and keeps trying on its schedule", async () => {
    const { id } = await service.configuration({ storage_provider_id: 2 });
    const failed = await soon(async () => {
      const found = await service.show(id);
      expect(found.status).toBe("failed");
      return found;
    });
    expect(failed.status_reason).toMatch(/not-there is not there/);
    expect(failed.next_run_at).not.toBeNull();
  });

  test("says at its installation what backups will leave unchecked", async () => {
    service.sql("create index by_customer on orders (customer collate nocase)");
    // As an application's own: SQLite takes none from here.
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

  test("of a database that is not there fails with its path", async () => {
    const { id } = await service.configuration({ backupable_id: 3 });
    await soon(async () => {
      const found = await service.show(id);
      expect(found.status).toBe("failed");
      expect(found.status_reason).toContain("gone.sqlite");
    });
  });

  test("is changed in place; what is absent stays, and what is backed up cannot change", async () => {
    const { id } = await service.installed({ hold: 3, directory: "nights" });
    const { status: code, body } = await service.json<BackupConfiguration>(
      "PUT",
      `/api/backup-configuration/${id}`,
      {
        name: "Renamed",
        frequency: "0 4 * * *",
        storage_provider_id: 1,
        backupable_type: "site",
        backupable_id: 1,
      },
    );
    expect(code).toBe(200);
    expect(body).toMatchObject({
      name: "Renamed",
      hold: 3,
      directory: "nights",
      type: "database",
      backupable: { id: 1 },
    });
    await soon(async () => {
      const found = await service.show(id);
      expect(found.status).toBe("installed");
      expect(found.next_run_at).toMatch(/T04:00/);
    });
  });

  test("is listed with its newest backups", async () => {
    const { id } = await service.installed();
    await service.installed({ name: "Site", backupable_type: "site" });
    const { id: backupId } = await service.run(id);
    const { body } = await service.json<Page<BackupConfiguration>>("GET", "/api/server/1/backups");
    expect(body.data.map(({ name }) => name)).toEqual(["Site", "Shop"]);
    const shop = body.data[1];
    expect(shop?.last_backup?.id).toBe(backupId);
    expect(shop?.last_backup_at).toBe(shop?.last_backup?.started_at);
    expect(shop?.backups.map((backup) => backup.id)).toEqual([backupId]);
    expect(shop?.schedule_words).toMatch(/02:30/);
  });
});

test("what does not fit is refused at its field, and nothing is made", async () => {
  const refused: [string, object, Record<string, RegExp>][] = [
    [
      "nothing",
      { name: undefined, frequency: undefined },
      { name: /required/, frequency: /required/ },
    ],
    ["an impossible schedule", { frequency: "0 0 31 2 *" }, { frequency: /./ }],
    ["a macro", { frequency: "@daily" }, { frequency: /./ }],
    ["six fields", { frequency: "0 0 * * * *" }, { frequency: /five/ }],
    ["a minute that is none", { frequency: "75 0 * * *" }, { frequency: /75/ }],
    ["a directory above", { directory: "../etc" }, { directory: /relative path/ }],
    ["an absolute directory", { directory: "/etc" }, { directory: /relative path/ }],
    ["a control character", { directory: "a\u0001b" }, { directory: /Control/ }],
    ["an id that is a text", { backupable_id: "1" }, { backupable_id: /must be an integer/ }],
    ["a hold of 0", { hold: 0 }, { hold: /at least 1/ }],
    ["a hold beyond a year of hours", { hold: 8761 }, { hold: /greater than 8760/ }],
    ["a provider that is none", { storage_provider_id: 99 }, { storage_provider_id: /invalid/ }],
    ["a type that is none", { backupable_type: "disk" }, { backupable_type: /invalid/ }],
    ["a database that is none", { backupable_id: 99 }, { backupable_id: /invalid/ }],
    ["a database of another server", { backupable_id: 2 }, { backupable_id: /another server/ }],
  ];
  for (const [what, change, expected] of refused) {
    const found = await errors("POST", "/api/server/1/backup-configuration", {
      ...nightly,
      ...change,
    });
    for (const [field, text] of Object.entries(expected))
      expect(found[field]?.[0], what).toMatch(text);
  }
  const list = await service.json<Page<unknown>>("GET", "/api/server/1/backups");
  expect(list.body.meta.total).toBe(0);
});

describe("a run", () => {
  test("waits, runs, and is finished once its file was read back", async () => {
    const { id } = await service.installed();
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
    expect(await service.files()).toEqual([finished.path]);
  });

  test("of a site keeps its files", async () => {
    const { id } = await service.installed({ backupable_type: "site" });
    const finished = await service.run(id);
    expect(finished.status, finished.output).toBe("finished");
    expect(finished.path).toMatch(/\.tar\.zst$/);
  });

  test("is refused while the configuration runs or waits", async () => {
    const { id } = await service.installed({ backupable_type: "site" });
    // Something that takes its time.
    await writeFile(join(service.folder, "shop/large"), Buffer.alloc(200_000_000, "quarterdeck"));
    const first = await service.json<Backup>("POST", `/api/backup/${id}`);
    expect(await message("POST", `/api/backup/${id}`)).toMatch(/under way or waits/);
    expect(await status("POST", `/api/backup/${id}`)).toBe(409);
    expect(await status("DELETE", `/api/backup-configuration/${id}`)).toBe(409);
    expect(await status("DELETE", `/api/backup/${first.body.id}`)).toBe(409);
    expect(await status("PUT", `/api/backup/${first.body.id}`)).toBe(409);
    await service.becomes(first.body.id, "finished");
  });

  test("of another configuration waits for its turn, and says how many are before it", async () => {
    const site = await service.installed({ backupable_type: "site" });
    const database = await service.installed();
    await writeFile(join(service.folder, "shop/large"), Buffer.alloc(200_000_000, "quarterdeck"));
    await service.call("POST", `/api/backup/${site.id}`);
    const { body } = await service.json<Backup>("POST", `/api/backup/${database.id}`);
    expect(body).toMatchObject({ status: "pending", jobs_ahead: 1 });
    const finished = await service.becomes(body.id, "finished");
    const before = await service.show(site.id);
    expect(Date.parse(before.last_backup?.ended_at ?? "")).toBeLessThanOrEqual(
      Date.parse(finished.started_at),
    );
  });

  test("that fails says why, leaves nothing behind, and touches no backup before it", async () => {
    const { id } = await service.installed();
    const good = await service.run(id);
    await writeFile(
      join(service.folder, "orders.sqlite"),
      "this is no database, it is a text file",
    );
    const failed = await service.run(id);
    expect(failed).toMatchObject({ status: "failed", size: 0, path: "" });
    expect(failed.output).toMatch(/not a database/);
    expect(failed.status_reason).toMatch(/orders/);
    expect(await service.files()).toEqual([good.path]);
    expect((await service.show(id)).last_backup?.id).toBe(failed.id);
  });

  test("mends a configuration whose rehearsal had failed", async () => {
    const { id } = await service.configuration({ backupable_id: 3 });
    await soon(async () => expect((await service.show(id)).status).toBe("failed"));
    await writeFile(
      join(service.folder, "gone.sqlite"),
      await readFile(join(service.folder, "orders.sqlite")),
    );
    await service.run(id);
    expect(await service.show(id)).toMatchObject({ status: "installed", status_reason: null });
  });
});

describe("retention", () => {
  test("keeps the newest finished backups, and removes file and row of the others", async () => {
    const { id } = await service.installed({ hold: 2 });
    const runs: Backup[] = [];
    for (let count = 0; count < 4; count++) runs.push(await service.run(id));
    await soon(async () => expect(await service.files()).toHaveLength(2));
    // The file goes first, the row a moment later.
    await soon(async () =>
      expect((await service.show(id)).backups.map((backup) => backup.id)).toEqual([
        runs[3]?.id,
        runs[2]?.id,
      ]),
    );
    expect(await service.files()).toEqual([runs[2]?.path, runs[3]?.path]);
    expect(await status("GET", `/api/backup/${runs[0]?.id}`)).toBe(404);
    const { body } = await service.json<BackupSchedule>(
      "GET",
      `/api/backup-configuration/${id}/schedule`,
    );
    expect(body.removes_next.map((backup) => backup.id)).toEqual([runs[2]?.id]);
    expect(body.next_runs).toHaveLength(5);
  });

  test("counts no safety backup, and says beforehand what it will remove", async () => {
    const { id } = await service.installed({ hold: 3 });
    const runs = [await service.run(id), await service.run(id), await service.run(id)];
    const [first, second, third] = runs.map((run) => run.id);
    for (let count = 0; count < 3; count++) {
      await service.call("PUT", `/api/backup/${third}`);
      await service.restored(third ?? 0, "finished");
    }
    const safety = (await service.show(id)).backups.filter(({ trigger }) => trigger === "safety");
    expect(safety).toHaveLength(3);
    const { body } = await service.json<BackupSchedule>(
      "GET",
      `/api/backup-configuration/${id}/schedule`,
    );
    expect(body.removes_next.map((backup) => backup.id)).toEqual([first]);
    const fourth = await service.run(id);
    await gone(`/api/backup/${first}`);
    expect((await service.show(id)).backups.map((backup) => backup.id)).toEqual([
      fourth.id,
      ...safety.map((backup) => backup.id),
      third,
      second,
    ]);
    expect(await service.files()).toHaveLength(6);
  });

  test("loses nothing by runs that fail, however many", async () => {
    const { id } = await service.installed({ hold: 1 });
    const good = await service.run(id);
    await writeFile(
      join(service.folder, "orders.sqlite"),
      "this is no database, it is a text file",
    );
    for (let count = 0; count < (isLongForm ? 50 : 8); count++)
      expect((await service.run(id)).status).toBe("failed");
    expect(await service.files()).toEqual([good.path]);
    expect((await service.backup(good.id)).status).toBe("finished");
  });
});

describe("deleting", () => {
  test("a backup removes its file", async () => {
    const { id } = await service.installed();
    const backup = await service.run(id);
    expect(await status("DELETE", `/api/backup/${backup.id}`)).toBe(204);
    await gone(`/api/backup/${backup.id}`);
    expect(await service.files()).toEqual([]);
  });

  test("a configuration keeps its files, unless it is asked to remove them", async () => {
    const kept = await service.installed();
    const backup = await service.run(kept.id);
    expect(await status("DELETE", `/api/backup-configuration/${kept.id}`)).toBe(204);
    expect(await status("GET", `/api/backup-configuration/${kept.id}`)).toBe(404);
    expect(await service.files()).toEqual([backup.path]);

    const removed = await service.installed();
    await service.run(removed.id);
    expect(await service.files()).toHaveLength(2);
    expect(await status("DELETE", `/api/backup-configuration/${removed.id}?files=remove`)).toBe(
      204,
    );
    await gone(`/api/backup-configuration/${removed.id}`);
    expect(await service.files()).toEqual([backup.path]);
  });

  test("an inventory entry that a configuration uses is refused", async () => {
    await service.installed();
    const inventory = await readFile(service.inventoryFile, "utf8");
    await writeFile(
      service.inventoryFile,
      inventory.replace(/.*name: orders.*\n/, "").replace("databases: [1]", "databases: []"),
    );
    await soon(() =>
      expect(service.app.inventoryProblem()).toMatch(/Database 1 \(orders\) cannot be removed/),
    );
  });
});

describe("a restore over what is broken", () => {
  test("is made without saving it, when that is asked for", async () => {
    const { id } = await service.installed();
    const { id: backupId } = await service.run(id);
    await writeFile(join(service.folder, "orders.sqlite"), "no database any more");
    expect(await status("PUT", `/api/backup/${backupId}`)).toBe(202);
    const failed = await service.restored(backupId, "failed");
    expect(failed.restore_output).toMatch(/restore again without a backup/);
    expect(await readFile(join(service.folder, "orders.sqlite"), "utf8")).toContain("no database");

    await errors("PUT", `/api/backup/${backupId}`, { skip_safety_backup: "yes" });
    const unsaved = { skip_safety_backup: true };
    expect(await status("PUT", `/api/backup/${backupId}`, unsaved)).toBe(202);
    const restored = await service.restored(backupId, "finished");
    expect(restored.restore_output).toContain("Skipping the backup of current data, as requested.");
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
    expect(service.sql("select distinct customer from orders")).toEqual([{ customer: "mallory" }]);
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
    expect(service.sql("select distinct customer from orders")).toEqual([{ customer: "mallory" }]);
    expect((await service.show(id)).warnings?.join()).toMatch(/damaged/);
    const download = await service.call("GET", `/api/backup/${backup.id}/file`);
    await expect(download.arrayBuffer()).rejects.toThrow("Checksum mismatch");
  });

  test("is refused while the target is busy, and of what is not finished", async () => {
    const { id } = await service.installed({ backupable_type: "site" });
    await writeFile(join(service.folder, "shop/large"), Buffer.alloc(200_000_000, "quarterdeck"));
    const backup = await service.run(id);
    await service.call("POST", `/api/backup/${id}`);
    expect(await message("PUT", `/api/backup/${backup.id}`)).toMatch(/being backed up/);
    await soon(async () => expect((await service.show(id)).last_backup?.status).toBe("finished"));
    expect(await status("PUT", `/api/backup/${backup.id}`)).toBe(202);
    expect(await status("PUT", `/api/backup/${backup.id}`)).toBe(409);
    expect(await status("DELETE", `/api/backup/${backup.id}`)).toBe(409);
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
    await soon(async () => expect((await service.backup(backup.id)).drill_status).toBe("finished"));
    expect((await service.backup(backup.id)).drill_output).toMatch(/2 rows/);
    expect((await service.show(id)).last_proven_at).not.toBeNull();
    expect(service.sql("select count(*) as n from orders")).toEqual([{ n: 3 }]);
  });
});

test("a download is the stored file", async () => {
  const { id } = await service.installed();
  const backup = await service.run(id);
  const response = await service.call("GET", `/api/backup/${backup.id}/file`);
  expect(response.headers.get("Content-Disposition")).toContain(".sqlite.zst");
  expect(response.headers.get("Content-Length")).toBe(String(backup.size));
  const content = Buffer.from(await response.arrayBuffer());
  expect(createHash("sha256").update(content).digest("hex")).toBe(backup.checksum);
});

test("what is not there is 404, for every operation", async () => {
  for (const [method, path] of [
    ["GET", "/api/server/9/backups"],
    ["GET", "/api/backup-configuration/9"],
    ["POST", "/api/server/9/backup-configuration"],
    ["PUT", "/api/backup-configuration/9"],
    ["DELETE", "/api/backup-configuration/9"],
    ["GET", "/api/backup/9"],
    ["POST", "/api/backup/9"],
    ["PUT", "/api/backup/9"],
    ["DELETE", "/api/backup/9"],
    ["GET", "/api/backup/9/file"],
    ["POST", "/api/backup/9/drill"],
    ["GET", "/api/backup-configuration/9/schedule"],
  ] as const)
    expect(await status(method, path), `${method} ${path}`).toBe(404);
});
