import { expect, test } from "vitest";
import { createPostponedFinder } from "./postponed.ts";

const minuteMs = 60_000;
const night = new Date("2026-06-02T02:30:00Z");
const nextNight = new Date("2026-06-03T02:30:00Z");
const nightly = { id: 1, serverId: 1, frequency: "30 2 * * *", timeZone: "UTC" };

test.each<[string, { at: Date; nextRunAt: Date | null; timeZone?: string }, Date | null]>([
  ["waits for its next run", { at: new Date("2026-06-01T12:00:00Z"), nextRunAt: night }, null],
  ["is due", { at: new Date("2026-06-02T12:00:00Z"), nextRunAt: night }, null],
  [
    "was run by an instance whose clock is five minutes ahead",
    { at: new Date(night.getTime() - 5 * minuteMs), nextRunAt: nextNight },
    null,
  ],
  [
    "was run by a clock that was set back by a quarter of an hour",
    { at: new Date(night.getTime() - 15 * minuteMs), nextRunAt: nextNight },
    night,
  ],
  [
    "was run by a clock that was a year ahead",
    { at: new Date("2026-06-01T12:00:00Z"), nextRunAt: new Date("2027-06-02T02:30:00Z") },
    night,
  ],
  ["has no next run", { at: new Date("2026-06-01T12:00:00Z"), nextRunAt: null }, night],
  [
    "is on a server whose time zone was changed",
    { at: new Date("2026-06-01T12:00:00Z"), nextRunAt: night, timeZone: "Asia/Tokyo" },
    new Date("2026-06-01T17:30:00Z"),
  ],
])("a schedule that %s", async (_, { at, ...more }, expected) => {
  const find = createPostponedFinder();
  const row = { ...nightly, ...more };
  for (let look = 0; look < 2; look++)
    expect(await find([row], at)).toEqual(expected === null ? [] : [{ row, next: expected }]);
});

test("checks a moment again that was valid before the clock was set back", async () => {
  const find = createPostponedFinder();
  const row = { ...nightly, nextRunAt: new Date("2027-06-02T02:30:00Z") };
  expect(await find([row], new Date("2027-06-01T12:00:00Z"))).toEqual([]);
  expect(await find([row], new Date("2026-06-01T12:00:00Z"))).toEqual([{ row, next: night }]);
});
