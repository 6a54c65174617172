import { expect, test } from "vitest";
import type { Backup } from "../../../contract/backups/backup.ts";
import { niceSpanMs, toSeries } from "./run-series.ts";

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
])("for %d ms the axis ends at %d ms, a round duration", (value, end) => {
  expect(niceSpanMs(value)).toBe(end);
});

const at = (seconds: string) => `2026-06-01T02:30:${seconds}Z`;

const run = (id: number, status: string, change: Partial<Backup> = {}): Backup => ({
  id,
  path: "",
  size: id * 1000,
  output: "",
  status,
  restore_output: null,
  restore_status: null,
  started_at: at("00.000000"),
  ended_at: status === "running" ? null : at("04.500000"),
  restored_at: null,
  duration: "4 seconds",
  ...change,
});

test("contains every run, oldest first, with its outcome, and size and duration if known", () => {
  const backups = [
    run(5, "copying"),
    run(4, "running"),
    run(3, "finished", { damage: "Too short." }),
    run(2, "failed"),
    run(1, "finished"),
  ];
  expect(
    toSeries(backups).map(({ id, outcome, sizeBytes, durationMs }) => [
      id,
      outcome,
      sizeBytes,
      durationMs,
    ]),
  ).toEqual([
    [1, "finished", 1000, 4500],
    [2, "failed", null, 4500],
    [3, "damaged", 3000, 4500],
    [4, "other", null, null],
    [5, "other", null, null],
  ]);
});
