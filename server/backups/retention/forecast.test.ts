import { assert, constantFrom, integer, option, property, record } from "fast-check";
import { expect, test } from "vitest";
import { forecast, storedAt, type ForecastConfiguration, type StoredBackup } from "./forecast.ts";
import { isLongForm } from "../../testing/long-form.ts";
import { removedAfterRun } from "./retention.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const now = new Date("2026-11-24T02:00:00Z");

const backup = (daysAgo: number, change: Partial<StoredBackup> = {}): StoredBackup => ({
  id: daysAgo,
  baseId: null,
  startedAt: new Date(now.getTime() - daysAgo * dayMs),
  sizeBytes: 100,
  isSafety: false,
  isPinned: false,
  lockedUntil: null,
  ...change,
});
const nightly = (change: Partial<ForecastConfiguration> = {}): ForecastConfiguration => ({
  hold: 7,
  keep: null,
  timeZone: "UTC",
  isBeingRemoved: false,
  gapMs: dayMs,
  incremental: false,
  lockDays: null,
  nextRunAt: new Date(now.getTime() + hourMs),
  stored: Array.from({ length: 7 }, (_, index) => backup(index + 1)),
  ...change,
});

const periods = option(integer({ min: 1, max: 6 }));

test("incremental backups have a full each week, which is kept as long as its dependents", () => {
  const full = backup(3, { sizeBytes: 1000 });
  const patch = (daysAgo: number) => backup(daysAgo, { baseId: full.id, sizeBytes: 10 });
  const stored = [patch(1), patch(2), full];
  const incremental = nightly({ incremental: true, hold: 3, stored });
  // A week after the next run, which makes a full: another full, and two incremental ones before it with the full that they need.
  expect(storedAt(incremental, now.getTime() + 7 * dayMs + 2 * hourMs)).toBe(1000 + 2 * 10 + 1000);
  expect(storedAt({ ...incremental, hold: 1 }, now.getTime() + 3 * dayMs)).toBe(10 + 1000);
  // An existing incremental backup keeps its full, too.
  expect(storedAt(incremental, now.getTime() + 2 * hourMs)).toBe(1000 + 2 * 10 + 1000);
});

test("a full is needed by as many incremental backups as retention leaves of them", () => {
  const full = backup(1, { sizeBytes: 1000 });
  const stored = [backup(0, { baseId: full.id, sizeBytes: 10 }), full];
  const hourly = nightly({ incremental: true, gapMs: hourMs, hold: 20, stored });
  // The twenty newest need the first full, however many there were before them.
  expect(storedAt(hourly, now.getTime() + 41 * hourMs + hourMs / 2)).toBe(1000 + 20 * 10);
  // Of forty, thirty fit below a full.
  expect(storedAt({ ...hourly, hold: 40 }, now.getTime() + 41 * hourMs + hourMs / 2)).toBe(
    2 * 1000 + (30 + 9) * 10,
  );
});

test("counts the last run of each kept hour for runs within an hour", () => {
  const often = nightly({ gapMs: hourMs / 6, hold: 3, keep: { hourly: 24 } });
  // Three in the newest hour, and one in each of the 23 before it.
  expect(storedAt(often, now.getTime() + 3 * dayMs + hourMs / 2)).toBe((3 + 23) * 100);
});

test("the forecast equals what retention keeps, run by run", () => {
  assert(
    property(
      record({
        gapMs: constantFrom(hourMs, 6 * hourMs, dayMs, 2 * dayMs, 7 * dayMs),
        hold: integer({ min: 1, max: 30 }),
        keep: record({ hourly: periods, daily: periods, weekly: periods, monthly: periods }),
        days: integer({ min: 1, max: 80 }),
        timeZone: constantFrom("UTC", "Asia/Kathmandu"),
      }),
      ({ gapMs, hold, keep, days, timeZone }) => {
        const nextRunAt = new Date(now.getTime() + hourMs);
        const configuration = nightly({
          gapMs,
          hold,
          keep,
          timeZone,
          nextRunAt,
          stored: [backup(3)],
        });
        const untilMs = now.getTime() + days * dayMs;
        type Copy = Parameters<typeof removedAfterRun>[0][number];
        const copyAt = (id: number, at: Date): Copy => ({
          id,
          base_id: null,
          damage: null,
          trigger: "schedule",
          started_at: at,
          ended_at: at,
          pinned_at: null,
        });
        let left: Copy[] = [copyAt(0, backup(3).startedAt)];
        let id = 0;
        for (let ms = nextRunAt.getTime(); ms <= untilMs; ms += gapMs) {
          const at = new Date(ms);
          left.unshift(copyAt((id += 1), at));
          const gone = new Set(removedAfterRun(left, { hold, keep, timeZone }, at));
          left = left.filter((copy) => !gone.has(copy));
        }
        const foreseen = storedAt(configuration, untilMs) / 100;
        // With hourly runs, the forecast keeps one run for each day, which may be another one than retention keeps.
        const sameEnough = gapMs < dayMs ? 3 : 0;
        expect(Math.abs(foreseen - left.length)).toBeLessThanOrEqual(sameEnough);
      },
    ),
    { numRuns: isLongForm ? 1000 : 40 },
  );
});

test("a storage is full on the day on which new backups exceed its space", async () => {
  // 14 more backups of 100 bytes until the hold of 21 is reached.
  const growing = nightly({ hold: 21 });
  const at = (free: number | null) => forecast([growing, nightly()], free, now);
  expect(await at(1400)).toEqual({ storedBytes: 1400, laterBytes: 2800, fullAt: null });
  expect((await at(null)).fullAt).toBe(null);
  expect((await at(1399)).fullAt).toEqual(new Date(now.getTime() + 14 * dayMs));
  expect((await at(350)).fullAt).toEqual(new Date(now.getTime() + 4 * dayMs));
  expect((await at(0)).fullAt).toEqual(new Date(now.getTime() + dayMs));
});

test("does not block other requests, however much one configuration keeps", async () => {
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const keep = { hourly: 8760, daily: 8760, weekly: 8760 };
  await forecast([nightly({ gapMs: 60_000, hold: 8760, keep })], 1e15, now);
  isDone = true;
  expect(turns).toBeGreaterThan(5);
});

test("backups that have grown continue to grow, and a single large one does not count as growth", async () => {
  const grown = Array.from({ length: 14 }, (_, index) =>
    backup(index + 1, { sizeBytes: 1000 - index * 10 }),
  );
  const { laterBytes } = await forecast([nightly({ stored: grown })], null, now);
  // Each backup is 10 bytes larger than that of the previous day.
  expect(laterBytes).toBeGreaterThan(7 * (1000 + 350 * 10));
  expect(laterBytes).toBeLessThan(7 * (1000 + 370 * 10));
  const odd = nightly().stored.map((one, index) =>
    index === 0 ? { ...one, sizeBytes: 9e9 } : one,
  );
  expect((await forecast([nightly({ stored: odd })], null, now)).laterBytes).toBe(700);
});

test("keeps current and future locked backups until their lock ends", () => {
  const lockedUntil = new Date(now.getTime() + 5 * dayMs);
  const stored = [backup(1), backup(2, { lockedUntil }), backup(3)];
  const at = (days: number, lockDays: number | null) =>
    storedAt(nightly({ hold: 1, stored, lockDays }), now.getTime() + days * dayMs + 2 * hourMs);
  expect(at(3, null)).toBe(200);
  expect(at(6, null)).toBe(100);
  expect(at(30, 10)).toBe(1000);
});

test("keeps pinned backups, removes those of a restore after a week, and changes nothing without a schedule", async () => {
  const stored = [backup(1, { isSafety: true }), backup(2), backup(400, { isPinned: true })];
  const at = (days: number, change: Partial<ForecastConfiguration> = {}) =>
    storedAt(nightly({ hold: 2, stored, ...change }), now.getTime() + days * dayMs);
  expect(at(1)).toBe(400);
  expect(at(30)).toBe(300);
  expect(at(30, { gapMs: null, nextRunAt: null })).toBe(300);
  expect(await forecast([nightly({ stored: [] })], 1000, now)).toEqual({
    storedBytes: 0,
    laterBytes: 0,
    fullAt: null,
  });
});
