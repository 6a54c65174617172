// Measures the scheduler's queries over all schedules, and ten thousand schedules that are due in the same minute.
import { setTimeout as wait } from "node:timers/promises";
import { createScheduleStore } from "../server/backups/schedule/schedule-store.ts";
import { createDueStore } from "../server/backups/schedule/due-store.ts";
import { createOverdueFinder } from "../server/backups/schedule/overdue.ts";
import { createPostponedFinder } from "../server/backups/schedule/postponed.ts";
import { sql } from "../server/store/drizzle.ts";
import { openDatabase } from "../server/store/database.ts";
import { median, note, report } from "./report.ts";
import type { ScaleService } from "./scale-instances.ts";

const looks = 30;
const giveUpSeconds = 600;

/** Runs the queries that the scheduler of one of three instances runs each time, by the same stores. */
export async function measureLooks({ databaseUrl, query }: ScaleService): Promise<void> {
  const { db, close } = await openDatabase({ connectionString: databaseUrl }, () => undefined);
  try {
    const configurations = createScheduleStore(db);
    const dueStore = createDueStore(db);
    const findOverdue = createOverdueFinder();
    const findPostponed = createPostponedFinder();
    const others = await query<{ id: number }>("select id from servers where id % 3 > 0");
    const elsewhere = others.map(({ id }) => id);
    const due: number[] = [];
    const all: number[] = [];
    const bare: number[] = [];
    for (let count = 0; count < looks; count++) {
      const now = new Date();
      const startedMs = performance.now();
      await configurations.due(now, elsewhere);
      await configurations.nextMoment(elsewhere);
      const dueMs = performance.now();
      const watched = await configurations.watched();
      await findOverdue(watched, now);
      await findPostponed(watched, now);
      await dueStore.undrilled(now, now, elsewhere);
      const looked = { since: new Date(now.getTime() - 7 * 24 * 3600_000), until: now };
      await dueStore.unverified(looked, elsewhere);
      const allMs = performance.now();
      await db.execute(sql`select min(next_run_at) from backup_configurations`);
      due.push(dueMs - startedMs);
      all.push(allMs - dueMs);
      bare.push(performance.now() - allMs);
    }
    report("tick: what is due, and when the next one is (slowest of 30)", Math.max(...due), "ms", {
      atMost: 100,
    });
    note(`median ${median(due).toFixed(1)} ms; the bare query ${median(bare).toFixed(1)} ms`);
    report("every 30 s: what is overdue, to drill, to verify (median)", median(all), "ms", {
      atMost: 100,
    });
    note(`the first of them, which knows no schedule yet, ${all[0]?.toFixed(0)} ms`);
  } finally {
    await close();
  }
}

type Counts = { queued: number; begun: number; ended: number; at_once: number };

/**
 * Makes all schedules due in one minute. Their sources do not exist, so that each run ends as soon as it has begun. An
 * instance is killed meanwhile, and started again.
 */
export async function measureSameMinute(
  { query, usage, killAndStart }: ScaleService,
  many: number,
): Promise<void> {
  const [last] = await query<{ id: number }>("select max(id) as id from backups");
  // Long enough that each instance has computed the next due time by then.
  await query("update backup_configurations set next_run_at = now() + interval '40 seconds'");
  const before = await usage();
  await wait(40_000);
  const startedMs = performance.now();
  const elapsed = () => (performance.now() - startedMs) / 1000;
  const seconds = { queued: Number.NaN, begun: Number.NaN };
  let counts: Counts = { queued: 0, begun: 0, ended: 0, at_once: 0 };
  let maxAtOnce = 0;
  let isKilled = false;
  while (counts.ended < many && elapsed() < giveUpSeconds) {
    await wait(250);
    const [row] = await query<Counts>(
      `select count(*)::int as queued, count(*) filter (where status <> 'pending')::int as begun, count(ended_at)::int as ended,
         (select coalesce(max(many), 0)::int from (
           select count(*) as many from pgboss.job where name = 'backup.task' and state = 'active' group by singleton_key
         ) of_server) as at_once
       from backups where id > ${last?.id ?? 0}`,
    );
    counts = row ?? counts;
    maxAtOnce = Math.max(maxAtOnce, counts.at_once);
    for (const step of ["queued", "begun"] as const)
      if (Number.isNaN(seconds[step]) && counts[step] >= many) seconds[step] = elapsed();
    if (!isKilled && counts.begun > many / 10) {
      isKilled = true;
      await killAndStart(2);
    }
  }
  const after = await usage();
  const [twice] = await query<{ many: number }>(
    `select count(*)::int as many from (
       select from backups where id > ${last?.id ?? 0} group by configuration_id having count(*) > 1) of_one`,
  );
  report(`${many} due at once: all queued after`, seconds.queued, "s", { atMost: 60 });
  report("… all begun after, with an instance killed and started again", seconds.begun, "s", {
    atMost: 600,
  });
  report("… at once on a server", maxAtOnce, "", { atMost: 1 });
  report("… twice", twice?.many ?? Number.NaN, "", { atMost: 0 });
  note(
    `${counts.queued} queued, ${counts.begun} begun, ${counts.ended} ended in ${elapsed().toFixed(0)} s`,
  );
  const cpuMs = (from: number, to: number) => (((to - from) * 1000) / counts.ended).toFixed(1);
  note(
    `CPU of each run: the instances ${cpuMs(before.serviceCpuSeconds, after.serviceCpuSeconds)} ms (without the killed one's before its end), the database ${cpuMs(before.databaseCpuSeconds, after.databaseCpuSeconds)} ms`,
  );
}
