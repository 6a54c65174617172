import {
  array,
  assert,
  constantFrom,
  integer,
  nat,
  oneof,
  option,
  property,
  record,
} from "fast-check";
import { expect, test } from "vitest";
import { expiredSafety, removedAfterRun, removedByNextRun } from "./retention.ts";

const hourMs = 3600 * 1000;
const keptMs = 7 * 24 * hourMs;

type Copy = {
  id: number;
  base_id: number | null;
  trigger: "schedule" | "manual" | "safety";
  damage: string | null;
  started_at: Date;
  ended_at: Date;
  pinned_at: Date | null;
  locked_until?: Date | null;
};

/** Possible steps of a configuration; a failed run or restore leaves no finished backup. */
const steps = array(
  oneof(
    record({ kind: constantFrom("schedule", "manual", "safety", "failed") }),
    record({ kind: constantFrom("damaged"), which: nat(20) }),
    record({ kind: constantFrom("pinned"), which: nat(20) }),
    record({ kind: constantFrom("hours"), count: integer({ min: 1, max: 100 }) }),
    record({ kind: constantFrom("hold"), hold: integer({ min: 1, max: 6 }) }),
  ),
  { maxLength: 60 },
);

const isGood = ({ damage }: Copy) => damage === null;
const isPinned = ({ pinned_at: at }: Copy) => at !== null;
const ofRuns = (copies: readonly Copy[]) => copies.filter(({ trigger }) => trigger !== "safety");

const periods = integer({ min: 1, max: 5 });
const keepers = option(
  record(
    { hourly: periods, daily: periods, weekly: periods, monthly: periods },
    { requiredKeys: [] },
  ),
);

/** Checks the invariants of every removal. @returns the backups that are left */
function removed(stored: readonly Copy[], gone: readonly Copy[], hold: number, at: Date): Copy[] {
  const left = stored.filter((copy) => !gone.includes(copy));
  const good = ofRuns(stored).filter((copy) => isGood(copy) && !isPinned(copy));
  expect(gone.filter(isPinned)).toEqual([]);
  expect(left).toEqual(expect.arrayContaining(good.slice(0, hold)));
  expect(left.length > 0).toBe(stored.length > 0);
  expect(left.some(isGood)).toBe(stored.some(isGood));
  for (const copy of gone)
    if (copy.trigger === "safety")
      expect(at.getTime() - copy.ended_at.getTime()).toBeGreaterThanOrEqual(keptMs);
  // Backups that stay past their time must be the only one, or the only good one.
  for (const copy of left)
    if (
      copy.trigger === "safety" &&
      !isPinned(copy) &&
      at.getTime() - copy.ended_at.getTime() >= keptMs
    )
      expect(left.filter((other) => other !== copy && isGood(other))).toEqual([]);
  return left;
}

test("no sequence of steps loses one of the newest good backups, or any through a safety backup", () => {
  assert(
    property(steps, keepers, (list, keep) => {
      let nowMs = Date.parse("2026-06-01T00:00:00Z");
      let hold = 3;
      let id = 0;
      let stored: Copy[] = [];
      // The same steps without restores.
      let calm: Copy[] = [];
      for (const step of list) {
        const at = new Date(nowMs);
        if (step.kind === "hold" && "hold" in step) hold = step.hold;
        else if (step.kind === "damaged" && "which" in step) {
          const hurt = stored[step.which];
          if (hurt !== undefined) hurt.damage = "its checksum differs";
        } else if (step.kind === "pinned" && "which" in step) {
          // Pins or unpins a backup.
          const one = stored[step.which];
          if (one !== undefined) one.pinned_at = isPinned(one) ? null : at;
        } else if (step.kind === "hours" && "count" in step)
          for (let count = 0; count < step.count; count++) {
            nowMs += hourMs;
            const now = new Date(nowMs);
            stored = removed(stored, expiredSafety(stored, now), hold, now);
          }
        else if (step.kind === "schedule" || step.kind === "manual" || step.kind === "safety") {
          const made = {
            base_id: null,
            trigger: step.kind,
            damage: null,
            started_at: at,
            ended_at: at,
            pinned_at: null,
          };
          const keeping = { hold, keep, timeZone: "Asia/Kathmandu" };
          const preview = removedByNextRun(stored, keeping, at, null);
          const copy: Copy = { ...made, id: ++id };
          stored = [copy, ...stored];
          if (step.kind === "safety") continue;
          const gone = removedAfterRun(stored, keeping, at);
          expect(stored.filter((other) => gone.includes(other)).toReversed()).toEqual(preview);
          stored = removed(stored, gone, hold, at);
          const byRules = Object.values(keep ?? {}).reduce((sum, count) => sum + (count ?? 0), 0);
          const counted = ofRuns(stored).filter((other) => isGood(other) && !isPinned(other));
          expect(counted.length).toBeLessThanOrEqual(hold + byRules);
          calm.unshift(copy);
          const superfluous = removedAfterRun(calm, keeping, at);
          calm = calm.filter((other) => !superfluous.includes(other));
        }
        expect(ofRuns(stored)).toEqual(calm);
      }
    }),
    { numRuns: 500 },
  );
});

test.each([
  ["a good backup of a run beside it", ["schedule"], [0]],
  ["nothing beside it", [], []],
  ["a damaged backup beside it", ["damaged"], []],
  ["newer safety backups beside it", ["safety"], [0]],
] as const)("with %s an expired safety backup is removed or kept", (_, others, expected) => {
  const at = new Date("2026-06-08T00:00:00Z");
  const made = (
    id: number,
    trigger: Copy["trigger"],
    damage: string | null,
    day: string,
  ): Copy => ({
    id,
    base_id: null,
    trigger,
    damage,
    started_at: new Date(day),
    ended_at: new Date(day),
    pinned_at: null,
  });
  const expired = made(0, "safety", null, "2026-06-01T00:00:00Z");
  const beside = others.map((other, index) =>
    made(
      index + 1,
      other === "damaged" ? "schedule" : other,
      other === "damaged" ? "its checksum differs" : null,
      "2026-06-05T00:00:00Z",
    ),
  );
  expect(expiredSafety([...beside, expired], at).map(({ id }) => id)).toEqual(expected);
  expect(expiredSafety([...beside, expired], new Date(at.getTime() - 1))).toEqual([]);
});

test("keeps what a rule keeps beyond the hold, and a rule never keeps a damaged backup", () => {
  const day = (id: number, damage: string | null = null): Copy => {
    const at = new Date(Date.parse("2026-06-30T02:30:00Z") - (100 - id) * 24 * hourMs);
    return {
      id,
      base_id: null,
      trigger: "schedule",
      damage,
      started_at: at,
      ended_at: at,
      pinned_at: null,
    };
  };
  const all = Array.from({ length: 100 }, (_, index) => day(100 - index));
  // Damages the last backup of May, so that the previous one has to represent the month.
  const damaged = all.map((copy) => (copy.id === 70 ? { ...copy, damage: "gone bad" } : copy));
  const keeping = { hold: 3, keep: { monthly: 3 }, timeZone: "UTC" };
  const gone = removedAfterRun(damaged, keeping, new Date("2026-06-30T02:31:00Z"));
  const left = damaged.filter((copy) => !gone.includes(copy));
  expect(left.map(({ started_at: at }) => at.toISOString().slice(0, 10))).toEqual([
    "2026-06-30",
    "2026-06-29",
    "2026-06-28",
    "2026-05-30",
    "2026-04-30",
  ]);
});

test("keeps damaged backups until as many newer good ones exist as the hold requires", () => {
  const day = (id: number, base_id: number | null, damage: string | null): Copy => {
    const at = new Date(Date.parse("2026-06-01T02:30:00Z") + id * 24 * hourMs);
    const made = { started_at: at, ended_at: at, pinned_at: null };
    return { id, base_id, trigger: "schedule", damage, ...made };
  };
  const chain = [day(3, 1, "its full is missing"), day(2, 1, "its full is missing")];
  const stored = [...chain, day(1, null, "missing")];
  const keeping = { hold: 3, keep: { weekly: 2 }, timeZone: "UTC" };
  const after = (runs: number) => {
    const newer = Array.from({ length: runs }, (_, index) => day(4 + index, null, null));
    const gone = removedAfterRun(
      [...newer.toReversed(), ...stored],
      keeping,
      new Date("2026-07-01"),
    );
    return gone.map(({ id }) => id);
  };
  expect([after(1), after(2), after(3)]).toEqual([[], [], [3, 2, 1]]);
});

test("counts copies separately from runs, by the times of their runs and not of the copying", () => {
  const moment = (day: number) => new Date(Date.parse("2026-06-01T02:30:00Z") + day * 24 * hourMs);
  const made = (id: number, day: number, ofDay?: number) => ({
    id,
    base_id: null,
    trigger: ofDay === undefined ? ("schedule" as const) : ("copy" as const),
    damage: null,
    started_at: moment(day),
    taken_at: ofDay === undefined ? null : moment(ofDay),
    ended_at: moment(day),
    pinned_at: null,
  });
  // The copy of day 1 was made by hand on day 4, after the copies of days 2 and 3.
  const stored = [made(8, 4, 1), made(7, 3, 3), made(6, 3), made(5, 2, 2), made(4, 2), made(2, 1)];
  const keeping = { hold: 2, keep: null, timeZone: "UTC" };
  expect(removedAfterRun(stored, keeping, moment(4)).map(({ id }) => id)).toEqual([2, 8]);
  const next = removedByNextRun(stored, { ...keeping, isCopied: true }, moment(5), null);
  expect(next.map(({ id }) => id)).toEqual([2, 4, 5, 8]);
  expect(removedByNextRun(stored, keeping, moment(5), null).map(({ id }) => id)).toEqual([2, 4, 8]);
  // The full that the next run needs stays, and so does its copy.
  const fulls = [{ ...made(2, 1, 1), copy_of_id: 1 }, made(1, 1)];
  const incremental = { ...keeping, hold: 1, isCopied: true };
  expect(removedByNextRun(fulls, incremental, moment(2), 1)).toEqual([]);
  expect(removedByNextRun(fulls, incremental, moment(2), null)).toEqual(fulls.toReversed());
});

test("a copy of a clock that was ahead displaces no newer one", () => {
  const copy = (id: number, day: number) => ({
    id,
    base_id: null,
    trigger: "copy" as const,
    damage: null,
    started_at: new Date(day * 24 * hourMs),
    taken_at: new Date(day * 24 * hourMs),
    ended_at: new Date(day * 24 * hourMs),
    pinned_at: null,
  });
  const stored = [copy(8, 103), copy(6, 102), copy(4, 500), copy(2, 101)];
  const gone = (hold: number) =>
    removedAfterRun(stored, { hold, keep: null, timeZone: "UTC" }, new Date(104 * 24 * hourMs));
  expect(gone(1).map(({ id }) => id)).toEqual([6, 2, 4]);
  expect(gone(3).map(({ id }) => id)).toEqual([4]);
});

test("keeps a pinned backup, which displaces no other", () => {
  const day = (id: number, isPinnedOne = false): Copy => {
    const at = new Date(Date.parse("2026-06-30T02:30:00Z") - (10 - id) * 24 * hourMs);
    const pinned = isPinnedOne ? at : null;
    return {
      id,
      base_id: null,
      trigger: "schedule",
      damage: null,
      started_at: at,
      ended_at: at,
      pinned_at: pinned,
    };
  };
  const stored = Array.from({ length: 10 }, (_, index) =>
    day(10 - index, index === 1 || index === 7),
  );
  const keeping = { hold: 2, keep: null, timeZone: "UTC" };
  const gone = removedAfterRun(stored, keeping, new Date("2026-06-30T02:31:00Z"));
  expect(stored.filter((copy) => !gone.includes(copy)).map(({ id }) => id)).toEqual([10, 9, 8, 3]);
});

test("counts a locked backup as usual, keeps it until its lock ends, and keeps the full that it needs", () => {
  const at = new Date("2026-06-30T02:31:00Z");
  const day = (id: number, base_id: number | null, locked_until: Date | null = null): Copy => {
    const startedAt = new Date(at.getTime() - (10 - id) * 24 * hourMs);
    return {
      id,
      base_id,
      trigger: "schedule",
      damage: null,
      pinned_at: null,
      locked_until,
      started_at: startedAt,
      ended_at: startedAt,
    };
  };
  const later = new Date(at.getTime() + hourMs);
  const stored = [day(10, null), day(9, null, later), day(8, 7, later), day(7, null), day(6, null)];
  const gone = (now: Date) =>
    removedAfterRun(stored, { hold: 1, keep: null, timeZone: "UTC" }, now).map(({ id }) => id);
  expect(gone(at)).toEqual([6]);
  expect(gone(later)).toEqual([9, 8, 7, 6]);
  const safety = { ...day(1, null, later), trigger: "safety" as const };
  expect(expiredSafety([...stored, safety], at)).toEqual([]);
  expect(expiredSafety([...stored, safety], later)).toEqual([safety]);
});
