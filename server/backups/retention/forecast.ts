// Foresees what the backups of configurations take in a storage. Coming backups are as large as the last ones, growing as
// those grew, and retention leaves of them what it would leave.
import { setImmediate as turn } from "node:timers/promises";
import { safetyKeptDays } from "../../../contract/backups/backup.ts";
import { fullKeptDays, maxPatches } from "../../../contract/backups/incremental.ts";
import { keptBy, type KeepRules } from "../../../contract/backups/keep-rules.ts";
import { forecastDays } from "../../../contract/backups/storage-forecast.ts";
import { median } from "../run/median.ts";

const hourMs = 3_600_000;
const dayMs = 24 * 3_600_000;

/** A finished backup. */
export type StoredBackup = {
  id: number;
  /** The full that it needs; null = it is one. */
  baseId: number | null;
  startedAt: Date;
  sizeBytes: number;
  isSafety: boolean;
  isPinned: boolean;
  /** Until when its storage keeps it, whatever retention does; null = it doesn't. */
  lockedUntil: Date | null;
};

export type ForecastConfiguration = {
  hold: number;
  keep: KeepRules | null;
  timeZone: string;
  /** With its files: nothing of it is there later. */
  isBeingRemoved: boolean;
  /** Between two runs; null = none is scheduled, and nothing is removed. */
  gapMs: number | null;
  nextRunAt: Date | null;
  /** Runs store what has changed since a full. */
  incremental: boolean;
  /** For how many days its storage keeps what comes; null = it doesn't. */
  lockDays: number | null;
  /** Those in the storage, newest first. */
  stored: readonly StoredBackup[];
};

/** With fewer there is no usual size, and no growth. */
const comparedRuns = 7;
/** In a shorter time a size says nothing about a year. */
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

/** How many runs come to one full, where others store what has changed since. */
const runsOfFull = (gapMs: number): number =>
  Math.max(1, Math.min(maxPatches + 1, Math.ceil((fullKeptDays * dayMs) / gapMs)));

/** A run that is to come. @param ms when it begins @returns what it stores, and when the full that it needs was made */
function comingSizes({ gapMs, nextRunAt, incremental, stored }: ForecastConfiguration) {
  const fullAt = sizesOf(stored.filter(({ baseId }) => baseId === null));
  const patches = stored.filter(({ baseId }) => baseId !== null);
  // Before the first of them nobody knows how large they are.
  if (!incremental || gapMs === null || nextRunAt === null || patches.length === 0)
    return { fullAt, of: (ms: number) => ({ sizeBytes: fullAt(ms), fullMs: ms }) };
  const patchAt = sizesOf(patches);
  const cycle = runsOfFull(gapMs);
  const firstMs = nextRunAt.getTime();
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
 * Runs between two moments, newest first. Of frequent ones before the newest that are held or locked, only the last of each hour that is kept,
 * and of those that are long past the last of each day: no rule that reaches so far back wants another.
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

/** A run that is to come is locked once it is stored. @returns 0 where it never is */
function lockedUntilMs(
  one: { startedAt: Date } & Partial<Pick<StoredBackup, "lockedUntil">>,
  lockDays: number | null,
): number {
  if (one.lockedUntil !== undefined) return one.lockedUntil?.getTime() ?? 0;
  return lockDays === null ? 0 : one.startedAt.getTime() + lockDays * dayMs;
}

/** What a configuration has stored at a moment, in bytes. */
export function storedAt(configuration: ForecastConfiguration, atMs: number): number {
  const { stored, hold, keep, timeZone, gapMs, lockDays } = configuration;
  const sum = (some: readonly { sizeBytes: number }[]) =>
    some.reduce((total, { sizeBytes }) => total + sizeBytes, 0);
  // Nothing runs, so nothing is removed.
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

  /** Those that are only kept for others that need them. */
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

/** Growth has fractions, and over a year may come to more than an integer holds. */
const toBytes = (value: number): number => Math.min(Number.MAX_SAFE_INTEGER, Math.round(value));

/** Days that are looked at first. */
const lookedAt = [1, 2, 4, 7, 14, 30, 60, 90, 120, 180, 270, forecastDays];

type Forecast = { storedBytes: number; laterBytes: number; fullAt: Date | null };

/** So long other requests wait, and as long as one configuration takes: thousands of runs and rules some 30 ms for each day. */
const atOnceMs = 10;

/** Requests go on meanwhile. @param freeBytes null = nobody can tell */
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
