import { expect, test } from "vitest";
import type { Backup } from "../../contract/backups/backup.ts";
import { niceCeiling, niceSpanMs, toSeries } from "./run-series.ts";

test.each([
  [0, 1],
  [1, 1],
  [1.1, 2],
  [4, 5],
  [5.5, 10],
  [4_100_000, 5_000_000],
])("above %d the axis ends at %d", (value, end) => {
  expect(niceCeiling(value)).toBe(end);
});

test.each([
  [0, 1],
  [130, 200],
  [1_000, 1_000],
  [1_001, 2_000],
  [45_000, 60_000],
  [61_000, 120_000],
  [50 * 60_000, 3_600_000],
  [23 * 3_600_000, 24 * 3_600_000],
  [30 * 3_600_000, 48 * 3_600_000],
])("above %d ms the axis ends at %d ms, round on a clock", (value, end) => {
  expect(niceSpanMs(value)).toBe(end);
});

test("a series has the finished runs only, oldest first, with their length", () => {
  const run = (id: number, status: string): Backup => ({
    id,
    path: "",
    size: id * 1000,
    output: "",
    status,
    restore_output: null,
    restore_status: null,
    started_at: "2026-06-01T02:30:00.000000Z",
    ended_at: status === "running" ? null : "2026-06-01T02:30:04.500000Z",
    restored_at: null,
    duration: "4 seconds",
  });
  expect(
    toSeries([run(4, "running"), run(3, "finished"), run(2, "failed"), run(1, "finished")]),
  ).toEqual([
    { id: 1, startedAt: "2026-06-01T02:30:00.000000Z", sizeBytes: 1000, durationMs: 4500 },
    { id: 3, startedAt: "2026-06-01T02:30:00.000000Z", sizeBytes: 3000, durationMs: 4500 },
  ]);
});
