import { array, assert, integer, nat, property } from "fast-check";
import { expect, test } from "vitest";
import { lostRowsWarning } from "./lost-rows.ts";

type Tables = Record<string, number>;
const warn = (now: Tables, ...before: Tables[]) =>
  lostRowsWarning(
    { kind: "database", tables: now },
    before.map((tables) => new Map(Object.entries(tables))),
  );
/** Returns the warnings for the row counts of one table in each backup, newest first. */
const warnOf = ([now = 0, ...before]: number[], name = "orders") =>
  warn({ [name]: now }, ...before.map((rows) => ({ [name]: rows })));

test.each<[string, number[]]>([
  ["a table that loses two of five", [600, 1000, 990, 980]],
  ["a table that loses all rows", [0, 52, 52, 52]],
  ["a table that usually grows fast", [600, 1000, 970, 940, 500, 100]],
  ["a table that lost a few rows before", [100, 1000, 1010, 1020, 1080]],
])("warns about %s", (_, counts) => {
  expect(warnOf(counts)).toHaveLength(1);
});

test.each<[string, number[]]>([
  ["a third of the rows is gone", [670, 1000, 990, 980]],
  ["there are only two earlier backups", [0, 1000, 1000]],
  ["the table has few rows", [0, 9, 9, 9, 9]],
  ["its rows are jobs that were done", [0, 500, 0, 480, 0]],
  ["one night left many jobs", [0, 500, 2, 0, 1]],
  ["its rows are logs that are pruned every month", [100, 900, 800, 700, 600, 100, 950]],
  ["it was emptied once before", [0, 900, 900, 900, 0, 900]],
  ["the table grows", [5000, 1000, 990, 980]],
])("does not warn if %s", (_, counts) => {
  expect(warnOf(counts)).toEqual([]);
});

test("names the tables that lost the most, with their counts", () => {
  const full = { users: 100, orders: 1204, items: 5000, notes: 40, logs: 3 };
  const [warning] = warn({ users: 0, orders: 720, items: 10, notes: 1, logs: 0 }, full, full, full);
  expect(warning).toBe(
    "Far fewer rows than in the last backup: items −99% (10, before 5,000), orders −40% (720, before 1,204), users −100% (0, before 100), and 1 more table.",
  );
});

test("counts a missing table, and not a renamed one", () => {
  const full = { users: 100, orders: 1000 };
  expect(warn({ users: 100 }, full, full, full)).toEqual([expect.stringMatching(/: orders −100%/)]);
  expect(warn({ users: 100, purchases: 1010 }, full, full, full)).toEqual([]);
});

test("counts partitions together", () => {
  const months = { events_2026_09: 1000, events_2026_10: 1000, events_2026_11: 1000 };
  const { events_2026_09: _, ...rest } = months;
  expect(warn({ ...rest, events_2026_12: 0 }, months, months, months)).toEqual([]);
  expect(warn({ events_2026_12: 10 }, months, months, months)).toEqual([
    expect.stringMatching(/: events_\*_\* −99%/),
  ]);
});

test("does not warn about files", () => {
  const folder = { kind: "folder", entries: 0, bytes: 0, digest: "" } as const;
  const before = new Map([["Files and folders", 100_000]]);
  expect(lostRowsWarning(folder, [before, before, before])).toEqual([]);
});

test("never warns about a growing table, and about a steady one whenever half is lost", () => {
  assert(
    property(array(nat(1000), { minLength: 4, maxLength: 31 }), nat(100_000), (steps, start) => {
      let rows = start;
      const counts = steps.map((step) => (rows += step)).toReversed();
      expect(warnOf(counts)).toEqual([]);
    }),
  );
  assert(
    property(
      array(integer({ min: 970, max: 1000 }), { minLength: 3, maxLength: 30 }),
      integer({ min: 0, max: 500 }),
      (before, now) => {
        expect(warnOf([now, ...before])).toHaveLength(1);
      },
    ),
  );
});
