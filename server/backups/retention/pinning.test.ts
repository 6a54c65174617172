import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Activity } from "../../../contract/activity.ts";
import type { Backup, BackupSchedule } from "../../../contract/backups/backup.ts";
import type { Page } from "../../../contract/paging.ts";
import {
  createBackupTestService,
  soon,
  type BackupTestService,
} from "../testing/backup-service.ts";

let service: BackupTestService;
beforeAll(async () => {
  service = await createBackupTestService();
});
afterAll(() => service?.close());

const filesOf = async (id: number) =>
  (await service.files()).filter((path) => path.includes(`/${id}/`));
const pin = async (id: number): Promise<Backup> => {
  const { status, body } = await service.json<Backup>("PUT", `/api/backup/${id}/pin`);
  expect(status).toBe(200);
  return body;
};
const unpin = async (id: number): Promise<Backup> =>
  (await service.json<Backup>("DELETE", `/api/backup/${id}/pin`)).body;
const idsOf = async (configurationId: number) =>
  (await service.show(configurationId)).backups.map(({ id }) => id);

test("a pinned backup outlives the hold until it is unpinned, and the preview shows that", async () => {
  const { id } = await service.installed({ hold: 1 });
  const first = await service.run(id);
  const pinned = await pin(first.id);
  expect(pinned.pinned_at).toMatch(/^\d{4}-/);
  // Pinning again changes nothing, and adds no second entry to the timeline.
  expect((await pin(first.id)).pinned_at).toBe(pinned.pinned_at);
  const second = await service.run(id);
  const third = await service.run(id);
  await soon(async () => expect(await idsOf(id)).toEqual([third.id, first.id]));
  expect(await filesOf(id)).toEqual([first.path, third.path]);
  expect(await service.statusOf("GET", `/api/backup/${second.id}`)).toBe(404);
  const removesNext = async () =>
    (
      await service.json<BackupSchedule>("GET", `/api/backup-configuration/${id}/schedule`)
    ).body.removes_next.map((one) => one.id);
  expect(await removesNext()).toEqual([third.id]);
  const found = await service.json<Page<Backup>>(
    "GET",
    `/api/backup-configuration/${id}/backups?search=pinned`,
  );
  expect(found.body.data.map((one) => one.id)).toEqual([first.id]);

  expect((await unpin(first.id)).pinned_at).toBe(null);
  expect((await unpin(first.id)).pinned_at).toBe(null);
  expect(await removesNext()).toEqual([first.id, third.id]);
  const fourth = await service.run(id);
  await soon(async () => expect(await idsOf(id)).toEqual([fourth.id]));
  const { body } = await service.json<Activity>("GET", "/api/activity");
  expect(
    body.data.filter(({ action }) => /pinned/.test(action)).map(({ action }) => action),
  ).toEqual(["unpinned", "pinned"]);
});

test("a pinned backup can be deleted neither alone nor with its configuration's files", async () => {
  const { id } = await service.installed();
  const backup = await service.run(id);
  await pin(backup.id);
  expect(await service.statusOf("DELETE", `/api/backup/${backup.id}`)).toBe(409);
  expect(await service.messageOf("DELETE", `/api/backup/${backup.id}`)).toMatch(/Unpin it/);
  const withFiles = `/api/backup-configuration/${id}?files=remove`;
  expect(await service.messageOf("DELETE", withFiles)).toMatch(/^1 of its backups is pinned\./);
  expect(await service.statusOf("DELETE", withFiles)).toBe(409);
  expect(await filesOf(id)).toEqual([backup.path]);
  await unpin(backup.id);
  expect(await service.statusOf("DELETE", `/api/backup/${backup.id}`)).toBe(204);
  await service.becomesGone(`/api/backup/${backup.id}`);

  // A deletion that keeps the files is allowed despite a pin.
  const kept = await service.run(id);
  await pin(kept.id);
  expect(await service.statusOf("DELETE", `/api/backup-configuration/${id}`)).toBe(204);
  expect(await filesOf(id)).toEqual([kept.path]);
  // Removes the files, so that they are not adopted.
  for (const path of [kept.path, `${kept.path}.json`])
    await rm(join(service.folder, "copies", path));
});

test("a safety backup can be pinned, and is then kept beyond its time", async () => {
  const { id } = await service.installed();
  const backup = await service.run(id);
  expect(await service.statusOf("PUT", `/api/backup/${backup.id}`)).toBe(202);
  await service.restored(backup.id, "finished");
  const safety = (await service.show(id)).backups.find(({ trigger }) => trigger === "safety");
  await pin(safety?.id ?? 0);
  const client = new pg.Client(service.connection);
  await client.connect();
  await client.query(
    "update backups set started_at = now() - interval '9 days', ended_at = now() - interval '9 days' where id = $1",
    [safety?.id],
  );
  await client.end();
  const next = await service.run(id);
  expect(await idsOf(id)).toEqual([next.id, safety?.id, backup.id]);
  await unpin(safety?.id ?? 0);
  const last = await service.run(id);
  await soon(async () => expect(await idsOf(id)).toEqual([last.id, next.id, backup.id]));
});

test("only a finished backup can be pinned", async () => {
  const { id } = await service.installed();
  const file = join(service.folder, "orders.sqlite");
  const content = await readFile(file);
  await writeFile(file, "no database at all\n".repeat(500));
  const failed = await service.run(id);
  await writeFile(file, content);
  expect(failed.status).toBe("failed");
  expect(await service.messageOf("PUT", `/api/backup/${failed.id}/pin`)).toBe(
    "Only a finished backup can be pinned. The backup is failed.",
  );
  expect(await service.statusOf("PUT", `/api/backup/${failed.id}/pin`)).toBe(409);
  expect(await service.statusOf("PUT", "/api/backup/999999/pin")).toBe(404);
});

test("an adopted backup can be pinned before the hold is configured", async () => {
  const { id } = await service.installed();
  const backup = await service.run(id);
  expect(await service.statusOf("DELETE", `/api/backup-configuration/${id}`)).toBe(204);
  const adopted = await service.json<{ sources: { configuration_id: number }[] }>(
    "POST",
    "/api/inventory/storage-providers/1/adoption",
  );
  const configurationId = adopted.body.sources[0]?.configuration_id ?? 0;
  const [one] = (await service.show(configurationId)).backups;
  expect(one?.path).toBe(backup.path);
  await pin(one?.id ?? 0);
  const change = { name: "Shop", frequency: "30 2 * * *", storage_provider_id: 1, hold: 1 };
  const put = `/api/backup-configuration/${configurationId}`;
  expect(await service.statusOf("PUT", put, change)).toBe(200);
  await soon(async () => expect((await service.show(configurationId)).status).toBe("installed"));
  await service.run(configurationId);
  const last = await service.run(configurationId);
  await soon(async () => expect(await idsOf(configurationId)).toEqual([last.id, one?.id]));
});
