// Tests many schedules that are due in the same minute.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createApp, type App } from "../../app.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import {
  countEach,
  noteStatements,
  withStatements,
  type Statement,
} from "../../testing/note-statements.ts";
import { createBackupTestService, type BackupTestService } from "../testing/backup-service.ts";
import { soon } from "../../testing/soon.ts";

const many = 200;
const minuteMs = 60_000;

let stopNoting: () => void;
beforeAll(() => {
  stopNoting = noteStatements();
});
afterAll(() => stopNoting());

let service: BackupTestService;
let other: App | null = null;
afterEach(async () => {
  await other?.close("stop");
  other = null;
  await service.close();
});

/** Creates many configurations whose next runs are all due in the same minute. */
async function begin() {
  const clock = createFakeClock(Date.parse("2026-06-01T12:00:30Z"));
  service = await createBackupTestService({ clock });
  await service.query(
    `insert into backup_configurations
       (server_id, name, frequency, hold, directory, storage_provider_id, type, site_id, status, next_run_at)
     select 1, 'Shop ' || n, '1 * * * *', 7, 'shop-' || n, 1, 'site', 1, 'installed', '2026-06-01T12:01:00Z'
     from generate_series(1, $1) n`,
    [many],
  );
  return clock;
}

/** Advances the clock until the runs are taken: the scheduler may be busy when they become due, and looks again after a second. */
const untilTaken = (clock: ReturnType<typeof createFakeClock>) =>
  soon(async () => {
    clock.advance(1000);
    const [left] = await service.query<{ many: number }>(
      "select count(*)::int as many from backup_configurations where next_run_at < '2026-06-01T13:01:00Z'",
    );
    expect(left?.many).toBe(0);
  });

/** Expects one run of each configuration, and one job for each run. */
async function expectOneEach(): Promise<void> {
  const runs = await service.query<{ runs: number; jobs: number }>(
    `select count(*)::int as runs, count(distinct job.id)::int as jobs
     from backups left join pgboss.job on job.name = 'backup.task' and (job.data ->> 'backup_id')::int = backups.id
     group by configuration_id`,
  );
  expect(runs).toEqual(Array.from({ length: many }, () => ({ runs: 1, jobs: 1 })));
}

test("creates the runs of a hundred schedules with the statements of one", async () => {
  const clock = await begin();
  const statements: Statement[] = [];
  await withStatements(statements, () => {
    clock.advance(minuteMs);
    return untilTaken(clock);
  });
  await expectOneEach();
  // Only writes, because other loops of the service read with the same clock.
  const writes = countEach(statements.filter(({ text }) => /insert into|update/i.test(text)));
  expect(Object.keys(writes)).toContainEqual(expect.stringContaining('insert into "backups"'));
  expect(Object.entries(writes).filter(([, count]) => count > many / 100)).toEqual([]);
});

test("creates each run once when two schedulers look at the same moment", async () => {
  const clock = await begin();
  other = await createApp(service.options);
  clock.advance(minuteMs);
  await untilTaken(clock);
  await expectOneEach();
});
