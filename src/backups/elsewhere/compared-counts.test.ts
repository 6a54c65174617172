import { expect, test } from "vitest";
import { compareCounts } from "./compared-counts.ts";

const counted = (counts: Record<string, number>) =>
  Object.entries(counts).map(([name, rows]) => ({ name, rows }));

test("lists the largest differences first, and no number for a table that is missing on one side", () => {
  const backup = counted({ orders: 10, same: 4, users: 5 });
  const now = counted({ orders: 9, same: 4, logs: 100 });
  expect(compareCounts(backup, now)).toEqual([
    { name: "logs", backup: null, now: 100 },
    { name: "users", backup: 5, now: null },
    { name: "orders", backup: 10, now: 9 },
    { name: "same", backup: 4, now: 4 },
  ]);
});

test("lists the tables of the backup by name if the current counts are unknown", () => {
  expect(compareCounts(counted({ users: 1, orders: 2 }), null)).toEqual([
    { name: "orders", backup: 2, now: null },
    { name: "users", backup: 1, now: null },
  ]);
});
