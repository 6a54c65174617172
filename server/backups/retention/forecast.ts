// Forecasts the size of backups in a storage. Coming backups are assumed to be as large as the last ones and to grow at the same rate,
// and retention is applied to them.
import { setImmediate as turn } from "node:timers/promises";
import { safetyKeptDays } from "../../../contract/backups/backup.ts";
import { fullKeptDays, fullsOf } from "../../../contract/backups/incremental.ts";
import { keptBy, type KeepRules } from "../../../contract/backups/keep-rules.ts";
import { forecastDays } from "../../../contract/backups/storage-forecast.ts";
import { median } from "../run/median.ts";

const hourMs = 3_600_000;
const dayMs = 24 * 3_600_000;

/** A finished backup. */
export type StoredBackup = {
  id: number;
  /** Id of the full that it needs; null = it is a full. */
  baseId: number | null;
  startedAt: Date;
  sizeBytes: number;
  isSafety: boolean;
  isPinned: boolean;
  /** Until when its storage locks it against retention; null = it is not locked. */
  lockedUntil: Date | null;
};

export type ForecastConfiguration = {
  hold: number;
  keep: KeepRules | null;
  timeZone: string;
  /** Whether it is being removed with its files. */
  isBeingRemoved: boolean;
  /** Average time between two runs; null = none is scheduled, and nothing is removed. */
  gapMs: number | null;
  nextRunAt: Date | null;
  /** Whether runs store changes since a full. */
  incremental: boolean;
  /** Number of days that its storage locks new backups; null = it does not. */
  lockDays: number | null;
  /** Its backups in the storage, newest first. */
  stored: readonly StoredBackup[];
};

/** Number of runs that size and growth are computed from. */
const comparedRuns = 7;
/** Growth over a shorter period cannot be extrapolated to a year. */
const leastGrowthMs = 3 * dayMs;

/** @returns the size of a run that begins at a moment */
function sizesOf(stored: readonly StoredBackup[]): (atMs: number) => number {
  const runs = stored.filter(({ isSafety }) => !isSafety);
  const newest = runs.slice(0, comparedRuns);
  const usualBytes = median(newest.map(({ sizeBytes }) => sizeBytes));
  const older = runs.slice(comparedRuns, 2 * comparedRuns);
  const middleMs = (some: readonly StoredBackup[]) =>
    median(some.map(({ startedAt }) => startedAt.getTime()));
  const newMs = middleMs(newest);
  const spanMs = newMs - middleMs(older);
  const growth =
    older.length < comparedRuns || spanMs < leastGrowthMs
      ? 0
      : Math.max(0, usualBytes - median(older.map(({ sizeBytes }) => sizeBytes))) / spanMs;
  return (atMs) => usualBytes + growth * Math.max(0, atMs - newMs);
}

/** Runs per full, which the forecast of a configuration needs for many days. */
const cycles = new WeakMap<ForecastConfiguration, number>();

/** Returns the number of runs per full, of which the others store changes. */
function runsOfFull(configuration: ForecastConfiguration, gapMs: number, firstMs: number): number {
  const most = Math.max(1, Math.ceil((fullKeptDays * dayMs) / gapMs));
  const count = () => {
    const runs = Array.from({ length: most }, (_, index) => new Date(firstMs + index * gapMs));
    const fulls = fullsOf(runs, configuration);
    const next = runs.findIndex((run, index) => index > 0 && fulls.get(run) === run);
    return next < 0 ? most : next;
  };
  const cycle = cycles.get(configuration) ?? count();
  cycles.set(configuration, cycle);
  return cycle;
}

/** Returns functions for the size of a coming run that begins at a moment, and the time of the full that it needs. */
function comingSizes(configuration: ForecastConfiguration) {
  const { gapMs, nextRunAt, incremental, stored } = configuration;
  const fullAt = sizesOf(stored.filter(({ baseId }) => baseId === null));
  const patches = stored.filter(({ baseId }) => baseId !== null);
  // Before the first patch their size is unknown.
  if (!incremental || gapMs === null || nextRunAt === null || patches.length === 0)
    return { fullAt, of: (ms: number) => ({ sizeBytes: fullAt(ms), fullMs: ms }) };
  const patchAt = sizesOf(patches);
  const firstMs = nextRunAt.getTime();
  const cycle = runsOfFull(configuration, gapMs, firstMs);
  return {
    fullAt,
    of(ms: number) {
      const since = Math.round((ms - firstMs) / gapMs) % cycle;
      return since === 0
        ? { sizeBytes: fullAt(ms), fullMs: ms }
        : { sizeBytes: patchAt(ms), fullMs: ms - since * gapMs };
    },
  };
}

/**
 * Yields coming runs, newest first. Of frequent runs before those that are held or locked, only the last of each hour, and of those long
 * past only the last of each day, because no keep rule that reaches so far back keeps another.
 */
function* comingRuns(
  { hold, keep, gapMs, nextRunAt, lockDays }: ForecastConfiguration,
  untilMs: number,
): Generator<number> {
  if (gapMs === null || nextRunAt === null || nextRunAt.getTime() > untilMs) return;
  const firstMs = nextRunAt.getTime();
  const exact = Math.max(hold, ((lockDays ?? 0) * dayMs) / gapMs);
  const hourly = exact + (keep?.hourly ?? 0) + 1;
  const lastUntil = (ms: number) => firstMs + Math.floor((ms - firstMs) / gapMs) * gapMs;
  let atMs = lastUntil(untilMs);
  for (let count = 0; atMs >= firstMs; count += 1) {
    yield atMs;
    if (count >= hourly) atMs -= Math.max(gapMs, dayMs);
    else if (count < exact || gapMs >= hourMs) atMs -= gapMs;
    else atMs = lastUntil(Math.floor(atMs / hourMs) * hourMs - 1);
  }
}

/** Returns when the lock of a backup ends; a coming run is locked once it is stored. 0 = it is never locked. */
function lockedUntilMs(
  one: { startedAt: Date } & Partial<Pick<StoredBackup, "lockedUntil">>,
  lockDays: number | null,
): number {
  if (one.lockedUntil !== undefined) return one.lockedUntil?.getTime() ?? 0;
  return lockDays === null ? 0 : one.startedAt.getTime() + lockDays * dayMs;
}

/** Returns the bytes that a configuration has stored at a moment. */
export function storedAt(configuration: ForecastConfiguration, atMs: number): number {
  const { stored, hold, keep, timeZone, gapMs, lockDays } = configuration;
  const sum = (some: readonly { sizeBytes: number }[]) =>
    some.reduce((total, { sizeBytes }) => total + sizeBytes, 0);
  // Without runs, nothing is removed.
  if (gapMs === null) return sum(stored);
  const { fullAt, of } = comingSizes(configuration);
  const coming = [...comingRuns(configuration, atMs)].map((ms) => ({
    startedAt: new Date(ms),
    ...of(ms),
  }));
  if (coming.length === 0) return sum(stored);
  const counted = [...coming, ...stored.filter((one) => !one.isSafety && !one.isPinned)];
  const moments = counted.map(({ startedAt }) => startedAt);
  const kept = new Set(counted.slice(0, hold));
  for (const index of keptBy(moments, keep, timeZone).keys()) {
    const one = counted[index];
    if (one !== undefined) kept.add(one);
  }
  for (const one of counted) if (lockedUntilMs(one, lockDays) > atMs) kept.add(one);
  const beside = stored.filter(
    ({ isPinned, isSafety, startedAt, lockedUntil }) =>
      isPinned ||
      (isSafety && lockedUntil !== null && lockedUntil.getTime() > atMs) ||
      (isSafety && atMs - startedAt.getTime() < safetyKeptDays * dayMs),
  );
  return sum([...kept]) + sum(beside) + sum(neededFulls());

  /** Returns fulls that are kept only because other backups need them. */
  function neededFulls(): { sizeBytes: number }[] {
    const there = [...kept, ...beside];
    const isThere = new Set<unknown>(there);
    const ids = new Set(there.flatMap((one) => ("baseId" in one ? (one.baseId ?? []) : [])));
    const moments = new Set(there.flatMap((one) => ("fullMs" in one ? one.fullMs : [])));
    const whole = there.flatMap((one) => ("fullMs" in one ? one.startedAt.getTime() : []));
    for (const ms of whole) moments.delete(ms);
    return [
      ...stored.filter((one) => ids.has(one.id) && !isThere.has(one)),
      ...[...moments].map((ms) => ({ sizeBytes: fullAt(ms) })),
    ];
  }
}

/** Rounds and limits a size, because growth over a year may exceed a safe integer. */
const toBytes = (value: number): number => Math.min(Number.MAX_SAFE_INTEGER, Math.round(value));

/** Days that are computed first. */
const lookedAt = [1, 2, 4, 7, 14, 30, 60, 90, 120, 180, 270, forecastDays];

type Forecast = { storedBytes: number; laterBytes: number; fullAt: Date | null };

/** How long to compute before other requests get a turn, plus the time of one configuration: at most some 30 ms for each day. */
const atOnceMs = 10;

/** Computes the forecast without blocking other requests. @param freeBytes null = unknown */
export async function forecast(
  configurations: readonly ForecastConfiguration[],
  freeBytes: number | null,
  now: Date,
): Promise<Forecast> {
  const remaining = configurations.filter(({ isBeingRemoved }) => !isBeingRemoved);
  let turnedAt = performance.now();
  const total = async (day: number): Promise<number> => {
    let bytes = 0;
    for (const one of remaining) {
      if (performance.now() - turnedAt > atOnceMs) {
        await turn();
        turnedAt = performance.now();
      }
      bytes += storedAt(one, now.getTime() + day * dayMs);
    }
    return bytes;
  };
  const storedBytes = configurations
    .flatMap(({ stored }) => stored)
    .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const isFull = async (day: number) =>
    freeBytes !== null && (await total(day)) - storedBytes > freeBytes;

  /** @returns the first full day between two, of which the later is one */
  const between = async (fits: number, full: number): Promise<number> => {
    if (full - fits <= 1) return full;
    const middle = Math.floor((fits + full) / 2);
    return (await isFull(middle)) ? between(fits, middle) : between(middle, full);
  };
  const firstFullDay = async (): Promise<number | null> => {
    if (freeBytes === null) return null;
    let fits = 0;
    for (const day of lookedAt) {
      if (await isFull(day)) return between(fits, day);
      fits = day;
    }
    return null;
  };
  const fullDay = await firstFullDay();
  return {
    storedBytes: toBytes(storedBytes),
    laterBytes: toBytes(await total(forecastDays)),
    fullAt: fullDay === null ? null : new Date(now.getTime() + fullDay * dayMs),
  };
}
