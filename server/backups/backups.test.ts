import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isLongForm } from "../testing/long-form.ts";
import type { Backup, BackupSchedule } from "../../contract/backups/backup.ts";
import {
  createBackupTestService,
  createHold,
  heldSite,
  soon,
  type BackupTestService,
} from "./testing/backup-service.ts";

let service: BackupTestService;
beforeAll(async () => {
  service = await createBackupTestService({}, { sites: (folder) => heldSite(folder, 2) });
});
afterAll(() => service?.close());

const filesOf = async (id: number) =>
  (await service.files()).filter((path) => path.includes(`/${id}/`));

describe("a run", () => {
  test("is refused while the configuration runs or waits; waiting runs of others show their place in the queue", async () => {
    const hold = await createHold(service, 2);
    const other = await service.installed();
    const first = await hold.begin();
    expect(await service.messageOf("POST", `/api/backup/${hold.id}`)).toMatch(
      /already queued or running/,
    );
    expect(await service.statusOf("POST", `/api/backup/${hold.id}`)).toBe(409);
    expect(await service.statusOf("DELETE", `/api/backup-configuration/${hold.id}`)).toBe(409);
    expect(await service.statusOf("DELETE", `/api/backup/${first.id}`)).toBe(409);
    expect(await service.statusOf("PUT", `/api/backup/${first.id}`)).toBe(409);
    const { body } = await service.json<Backup>("POST", `/api/backup/${other.id}`);
    expect(body).toMatchObject({ status: "pending", jobs_ahead: 1 });
    await hold.letGo();
    const finished = await service.becomes(body.id, "finished");
    const before = await service.backup(first.id);
    expect(before.status).toBe("finished");
    expect(Date.parse(before.ended_at ?? "")).toBeLessThanOrEqual(Date.parse(finished.started_at));
  });
});

describe("retention", () => {
  test("keeps the newest finished backups, and removes file and row of the others", async () => {
    const { id } = await service.installed({ hold: 2 });
    const runs: Backup[] = [];
    for (let count = 0; count < 4; count++) runs.push(await service.run(id));
    await soon(async () => expect(await filesOf(id)).toHaveLength(2));
    // The file is deleted first, the row a moment later.
    await soon(async () =>
      expect((await service.show(id)).backups.map((backup) => backup.id)).toEqual([
        runs[3]?.id,
        runs[2]?.id,
      ]),
    );
    expect(await filesOf(id)).toEqual([runs[2]?.path, runs[3]?.path]);
    expect(await service.statusOf("GET", `/api/backup/${runs[0]?.id}`)).toBe(404);
    const { body } = await service.json<BackupSchedule>(
      "GET",
      `/api/backup-configuration/${id}/schedule`,
    );
    expect(body.removes_next.map((backup) => backup.id)).toEqual([runs[2]?.id]);
    expect(body.next_runs).toHaveLength(5);
  });

  test("does not count safety backups, and previews what it will remove", async () => {
    const { id } = await service.installed({ hold: 3 });
    const runs = [await service.run(id), await service.run(id), await service.run(id)];
    const [first, second, third] = runs.map((run) => run.id);
    for (let count = 0; count < 2; count++) {
      await service.call("PUT", `/api/backup/${third}`);
      await service.restored(third ?? 0, "finished");
    }
    const safety = (await service.show(id)).backups.filter(({ trigger }) => trigger === "safety");
    expect(safety).toHaveLength(2);
    const { body } = await service.json<BackupSchedule>(
      "GET",
      `/api/backup-configuration/${id}/schedule`,
    );
    expect(body.removes_next.map((backup) => backup.id)).toEqual([first]);
    const fourth = await service.run(id);
    await service.becomesGone(`/api/backup/${first}`);
    expect((await service.show(id)).backups.map((backup) => backup.id)).toEqual([
      fourth.id,
      ...safety.map((backup) => backup.id),
      third,
      second,
    ]);
    expect(await filesOf(id)).toHaveLength(5);
  });

  test("loses no backup through failed runs, however many", async () => {
    const { id } = await service.installed({ hold: 1 });
    const good = await service.run(id);
    const path = join(service.folder, "orders.sqlite");
    const database = await readFile(path);
    await writeFile(path, "this is no database, it is a text file");
    for (let count = 0; count < (isLongForm ? 50 : 2); count++)
      expect((await service.run(id)).status).toBe("failed");
    expect(await filesOf(id)).toEqual([good.path]);
    expect((await service.backup(good.id)).status).toBe("finished");
    await writeFile(path, database);
  });
});

describe("deleting", () => {
  test("a backup removes its file", async () => {
    const { id } = await service.installed();
    const backup = await service.run(id);
    expect(await service.statusOf("DELETE", `/api/backup/${backup.id}`)).toBe(204);
    await service.becomesGone(`/api/backup/${backup.id}`);
    expect(await filesOf(id)).toEqual([]);
  });

  test("a configuration keeps its files, unless their removal is requested", async () => {
    const kept = await service.installed();
    const backup = await service.run(kept.id);
    expect(await service.statusOf("DELETE", `/api/backup-configuration/${kept.id}`)).toBe(204);
    expect(await service.statusOf("GET", `/api/backup-configuration/${kept.id}`)).toBe(404);
    expect(await filesOf(kept.id)).toEqual([backup.path]);

    const removed = await service.installed();
    await service.run(removed.id);
    expect(await filesOf(removed.id)).toHaveLength(1);
    expect(
      await service.statusOf("DELETE", `/api/backup-configuration/${removed.id}?files=remove`),
    ).toBe(204);
    await service.becomesGone(`/api/backup-configuration/${removed.id}`);
    expect(await filesOf(removed.id)).toEqual([]);
    expect(await filesOf(kept.id)).toEqual([backup.path]);
  });

  test("an inventory entry in use is refused", async () => {
    await service.installed();
    const inventory = await readFile(service.inventoryFile, "utf8");
    await writeFile(
      service.inventoryFile,
      inventory.replace(/.*name: orders.*\n/, "").replace("databases: [1]", "databases: []"),
    );
    await soon(() =>
      expect(service.app.inventoryProblem()).toMatch(/Database 1 \(orders\) cannot be removed/),
    );
    await writeFile(service.inventoryFile, inventory);
    await soon(() => expect(service.app.inventoryProblem()).toBeNull());
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

test("answers 404 for an unknown id, in every operation", async () => {
  for (const [method, path] of [
    ["GET", "/api/server/9/backups"],
    ["GET", "/api/backup-configuration/999"],
    ["POST", "/api/server/9/backup-configuration"],
    ["PUT", "/api/backup-configuration/999"],
    ["DELETE", "/api/backup-configuration/999"],
    ["GET", "/api/backup/999"],
    ["POST", "/api/backup/999"],
    ["PUT", "/api/backup/999"],
    ["DELETE", "/api/backup/999"],
    ["GET", "/api/backup/999/file"],
    ["POST", "/api/backup/999/drill"],
    ["GET", "/api/backup-configuration/999/schedule"],
  ] as const)
    expect(await service.statusOf(method, path), `${method} ${path}`).toBe(404);
});
