import { randomUUID } from "node:crypto";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import type {
  Backup,
  BackupConfiguration,
  BackupSchedule,
} from "../../../contract/backups/backup.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { oneOfMany } from "../../testing/instance.ts";
import { openDatabase } from "../../store/database.ts";
import { createScheduleStore } from "./schedule-store.ts";
import {
  createBackupTestService,
  nightly,
  type BackupTestService,
} from "../testing/backup-service.ts";
import { soon as inRealTime } from "../../testing/soon.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

let service: BackupTestService;
const clock = createFakeClock(Date.parse("2026-06-01T12:00:00Z"));
beforeAll(async () => {
  service = await createBackupTestService({ clock });
});
/** Each test begins at noon. */
beforeEach(async () => {
  await service.clear();
  clock.jump(dayMs - ((clock.now() + 12 * hourMs) % dayMs));
});
afterAll(() => service?.close());

/** Waits in real time, while the service's clock advances by seconds. */
const soon = <Result>(look: () => Promise<Result>): Promise<Result> =>
  inRealTime(() => {
    clock.advance(1000);
    return look();
  });
const expectFinished = (id: number, expected: number) =>
  soon(async () => {
    const { backups } = await service.show(id);
    expect(backups.filter(({ status }) => status === "finished")).toHaveLength(expected);
    return backups;
  });

/** Returns the id of the last event; 0 = none. */
async function lastEvent(): Promise<number> {
  const [found] = await service.query<{ last: number }>(
    "select coalesce(max(id), 0)::int as last from events",
  );
  return found?.last ?? 0;
}
const missedSince = (event: number) =>
  service.query(`select id from events where id > ${event} and type = 'backup.missed'`);

test("creates a run when it is due, once", async () => {
  const dayAfter = new Date(clock.now() + 2 * dayMs).toISOString().slice(0, 10);
  const { id } = await service.installed();
  clock.advance(14 * hourMs);
  expect((await service.show(id)).backups).toEqual([]);
  clock.advance(hourMs);
  const [backup] = await expectFinished(id, 1);
  expect(backup?.trigger).toBe("schedule");
  clock.advance(hourMs);
  clock.advance(hourMs);
  await expectFinished(id, 1);
  await soon(async () =>
    expect((await service.show(id)).next_run_at).toContain(`${dayAfter}T02:30`),
  );
});

test("creates no second run for a moment that another instance took meanwhile", async () => {
  const { id } = await service.installed();
  const { db, close } = await openDatabase(service.connection, () => undefined);
  try {
    const schedules = createScheduleStore(db);
    const [due] = await schedules.due(new Date(clock.now() + dayMs), []);
    expect(due?.configuration.id).toBe(id);
    if (due === undefined) return;
    const next = new Date(clock.now() + 2 * dayMs);
    const take = () => schedules.takeMoments(db, [{ ...due, next }]);
    expect(await take()).toMatchObject([{ id, next_run_at: next }]);
    // The rows were read before, as by another instance.
    expect(await take()).toEqual([]);
    expect(await schedules.nextMoment([])).toEqual(next);
  } finally {
    await close();
  }
});

test("creates one run for all that were due while nothing was checked", async () => {
  const { id } = await service.installed();
  clock.jump(5 * dayMs);
  clock.advance(60_000);
  await expectFinished(id, 1);
  clock.advance(60_000);
  await expectFinished(id, 1);
});

test("reports a missed run once, until the next one finishes", async () => {
  const { id } = await service.installed();
  const last = await lastEvent();
  clock.jump(2 * dayMs);
  clock.advance(60_000);
  await expectFinished(id, 1);
  await soon(async () => expect((await service.show(id)).missed_since).toBeNull());
  const events = await service.query<{ type: string }>(
    `select type from events where id > ${last} order by id`,
  );
  expect(events.map(({ type }) => type)).toEqual(["backup.missed", "backup.finished"]);
});

test("a run that was due during the installation is created right after it, and is not missed", async () => {
  clock.jump(14.5 * hourMs - 10_000);
  const last = await lastEvent();
  // Locks the database, so that the installation waits.
  const writer = new DatabaseSync(join(service.folder, "orders.sqlite"));
  writer.exec("begin exclusive");
  const { id } = await service.configuration();
  clock.advance(60_000);
  expect((await service.show(id)).status).toBe("installing");
  writer.close();
  const [run] = await expectFinished(id, 1);
  expect(run?.started_at).toMatch(/T02:3/);
  clock.jump(12 * hourMs);
  clock.advance(60_000);
  await soon(async () => expect((await service.show(id)).next_run_at).toMatch(/T02:30/));
  expect(await missedSince(last)).toEqual([]);
  await expectFinished(id, 1);
});

test("another time zone of the server, or another schedule, causes no missed run", async () => {
  const { id } = await service.installed();
  clock.jump(14 * hourMs + hourMs / 2);
  await expectFinished(id, 1);
  const last = await lastEvent();
  const expectNoneMissed = async () => {
    // Two checks of all configurations.
    for (let look = 0; look < 2; look++) {
      clock.advance(60_000);
      await soon(async () => expect((await service.show(id)).status).toBe("installed"));
    }
    expect((await service.show(id)).missed_since).toBe(null);
    expect(await missedSince(last)).toEqual([]);
  };
  const move = (zone: string) =>
    service.query(
      "update servers set entry = entry || jsonb_build_object('time_zone', $1::text) where id = 1",
      [zone],
    );
  clock.jump(10 * hourMs);
  // 02:30 there is 06:30 in UTC.
  await move("America/New_York");
  onTestFinished(async () => void (await move("UTC")));
  await expectNoneMissed();
  const change = { ...nightly, frequency: "30 * * * *" };
  expect(await service.statusOf("PUT", `/api/backup-configuration/${id}`, change)).toBe(200);
  await expectNoneMissed();
});

test("a clock that was ahead and is set back delays no run, drill or verification", async () => {
  const { id } = await service.installed({ drill: 3 });
  clock.jump(400 * dayMs);
  clock.advance(60_000);
  const [ahead] = await expectFinished(id, 1);
  await expectProven(id);
  clock.jump(-400 * dayMs);
  const setBackMs = clock.now();
  const soonMs = setBackMs + dayMs + hourMs;
  await soon(async () => {
    const { next_run_at: next } = await service.show(id);
    expect(Date.parse(next ?? "")).toBeLessThan(soonMs);
  });
  const isPast = (text: string | null | undefined) =>
    expect(Date.parse(text ?? "")).toBeLessThan(soonMs);
  await soon(async () => isPast((await service.backup(ahead?.id ?? 0)).verified_at));
  await soon(async () => isPast((await service.show(id)).last_proven_at));
  clock.jump(dayMs);
  clock.advance(60_000);
  const [newest] = await expectFinished(id, 2);
  isPast(newest?.started_at);
});

test("creates a drill when one is due", async () => {
  const { id } = await service.installed({ drill: 3 });
  await service.run(id);
  clock.advance(60_000);
  await expectProven(id);
});

async function expectProven(id: number): Promise<BackupConfiguration> {
  return soon(async () => {
    const found = await service.show(id);
    expect(found.last_proven_at).not.toBeNull();
    return found;
  });
}

test("verifies the newest backup every week", async () => {
  // A rare schedule, so that no new backup replaces it.
  const { id } = await service.installed({ frequency: "0 0 1 1 *" });
  const backup = await service.run(id);
  clock.advance(6 * dayMs);
  clock.advance(60_000);
  expect((await service.backup(backup.id)).verified_at).toBeNull();
  clock.advance(dayMs);
  clock.advance(60_000);
  await soon(async () => expect((await service.backup(backup.id)).verified_at).not.toBeNull());
});

/** Restores a backup and returns the safety backup that was made first. */
async function restore(id: number, configurationId: number): Promise<Backup> {
  await service.call("PUT", `/api/backup/${id}`);
  await service.restored(id, "finished");
  const safety = (await service.show(configurationId)).backups.find(
    ({ trigger }) => trigger === "safety",
  );
  if (safety === undefined) throw new Error("The restore made no safety backup.");
  return safety;
}

const isThere = async (id: number) => (await service.call("GET", `/api/backup/${id}`)).status;

test("removes a safety backup after seven days, even without another run", async () => {
  const { id } = await service.installed({ frequency: "0 0 1 1 *" });
  const backup = await service.run(id);
  const safety = await restore(backup.id, id);
  const { body } = await service.json<BackupSchedule>(
    "GET",
    `/api/backup-configuration/${id}/schedule`,
  );
  // The next run is due in seven months.
  expect(body.removes_next.map((removed) => removed.id)).toEqual([safety.id]);
  clock.advance(7 * dayMs - hourMs);
  clock.advance(60_000);
  expect(await isThere(safety.id)).toBe(200);
  clock.advance(2 * hourMs);
  await soon(async () => expect(await isThere(safety.id)).toBe(404));
  expect(await service.files()).toEqual([backup.path]);
});

test("keeps a safety backup that is the only backup left", async () => {
  const { id } = await service.installed({ frequency: "0 0 1 1 *" });
  const backup = await service.run(id);
  const safety = await restore(backup.id, id);
  await service.call("DELETE", `/api/backup/${backup.id}`);
  await soon(async () => expect(await isThere(backup.id)).toBe(404));
  clock.advance(8 * dayMs);
  // The tick that would remove the backup has ended once it has started the weekly verification of the file.
  await soon(async () => expect((await service.backup(safety.id)).verified_at).not.toBeNull());
  clock.advance(dayMs);
  expect(await isThere(safety.id)).toBe(200);
  const next = await service.run(id);
  await soon(async () => expect(await service.files()).toEqual([next.path]));
});

test("removes a file whose removal failed as soon as possible, and keeps its row until then", async () => {
  const { id } = await service.installed({ frequency: "0 0 1 1 *", hold: 1 });
  const backup = await service.run(id);
  // Replaces the file by a folder, which cannot be removed like a file.
  const file = join(service.folder, "copies", backup.path);
  await rename(file, `${file}.away`);
  await mkdir(join(file, "in the way"), { recursive: true });
  await service.call("DELETE", `/api/backup/${backup.id}`);
  const failed = await service.becomes(backup.id, "failed");
  expect(failed.status_reason).toMatch(/Couldn't delete the stored file.*retries within the hour/);
  const next = await service.run(id);
  expect(await isThere(backup.id)).toBe(200);
  await rm(file, { recursive: true });
  await rename(`${file}.away`, file);
  clock.advance(hourMs);
  await soon(async () => expect(await isThere(backup.id)).toBe(404));
  expect(await service.files()).toEqual([next.path]);
});

test("a configuration that couldn't be deleted, and that a run repairs, has its schedule again", async () => {
  const { id } = await service.installed();
  const backup = await service.run(id);
  // Replaces the file by a folder, which cannot be removed like a file.
  const file = join(service.folder, "copies", backup.path);
  await rm(file);
  await mkdir(join(file, "in the way"), { recursive: true });
  await service.call("DELETE", `/api/backup-configuration/${id}?files=remove`);
  await soon(async () =>
    expect(await service.show(id)).toMatchObject({ status: "failed", next_run_at: null }),
  );
  await service.run(id);
  await soon(async () => {
    const { status, next_run_at: next } = await service.show(id);
    expect(status).toBe("installed");
    expect(Date.parse(next ?? "")).toBeGreaterThan(clock.now());
  });
  await rm(file, { recursive: true });
});

// Must be the last test, because it replaces the service.
test("leaves a server that another instance has taken over to it, with its schedules", async () => {
  await service.close();
  service = await createBackupTestService({ clock, instance: oneOfMany });
  const elsewhere = new DatabaseSync(join(service.folder, "elsewhere.sqlite"));
  elsewhere.exec("create table one (n integer)");
  elsewhere.close();
  const lost = await service.installed();
  const own = await service.installed({ server: 2, backupable_id: 2 });
  const other = randomUUID();
  await service.query(
    `insert into instances (id, name, home, role, address, version, until)
     values ($1, 'other', $1, 'all', 'http://127.0.0.1:1', '0.0.0', now() + interval '1 hour')`,
    [other],
  );
  await service.query("update server_leases set instance_id = $1 where server_id = 1", [other]);
  clock.advance(15 * hourMs);
  const began = async ({ id }: BackupConfiguration) =>
    service.query("select trigger from backups where configuration_id = $1", [id]);
  await soon(async () => expect(await began(own)).toEqual([{ trigger: "schedule" }]));
  expect(await began(lost)).toEqual([]);
  expect((await service.show(lost.id)).next_run_at).toBe(lost.next_run_at);
});
