import { expect, test } from "vitest";
import type { ActivityEntry } from "../../contract/activity.ts";
import { dayStartMs, dayText, toDays } from "./days.ts";

// The function reads only the time of an entry.
const entry = (id: number, at: string) => ({ id, at }) as ActivityEntry;

const local = (...parts: [number, number, number, number?, number?]) => new Date(...parts);

test("groups entries by the viewer's days", () => {
  const moments = [local(2026, 0, 31, 0, 5), local(2026, 0, 30, 23, 55), local(2026, 0, 30, 0, 0)];
  const days = toDays(moments.map((moment, index) => entry(9 - index, moment.toISOString())));
  expect(days.map(({ startMs, entries }) => [startMs, entries.map(({ id }) => id)])).toEqual([
    [local(2026, 0, 31).getTime(), [9]],
    [local(2026, 0, 30).getTime(), [8, 7]],
  ]);
});

test.each([
  [local(2026, 2, 30), local(2026, 2, 30, 0, 1), "Today"],
  // Where clocks are put forward that night, the day before was shorter.
  [local(2026, 2, 29), local(2026, 2, 30, 0, 1), "Yesterday"],
  [local(2026, 2, 28), local(2026, 2, 30, 23, 59), "Saturday 28 March"],
  [local(2025, 11, 31), local(2026, 0, 2), "Wednesday 31 December 2025"],
])("names a day relative to now: %s from %s", (day, now, expected) => {
  expect(dayText(dayStartMs(day), now.getTime()).replaceAll(",", "")).toBe(expected);
});
