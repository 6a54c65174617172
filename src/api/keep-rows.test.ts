import { expect, test } from "vitest";
import { keepRows } from "./keep-rows.ts";

const row = (id: number, status: string) => ({ id, status });

test("keeps the identity of an unchanged row, whichever query it was in before", () => {
  const known = [row(1, "installed"), row(2, "stopped")];
  const [first, second] = keepRows(known, [], [row(2, "stopped"), row(1, "failed")]);
  expect(first).toBe(known[1]);
  expect(second).toEqual(row(1, "failed"));
});

test("keeps a row in transit in its place until it has settled", () => {
  const shown = [row(4, "installed"), row(3, "installed"), row(2, "installed")];
  const moving = keepRows(shown, shown, [
    row(3, "stopping"),
    row(4, "installed"),
    row(2, "installed"),
  ]);
  expect(moving.map(({ id }) => id)).toEqual([4, 3, 2]);
  const failed = keepRows(moving, moving, [
    row(3, "failed"),
    row(4, "installed"),
    row(2, "installed"),
  ]);
  expect(failed.map(({ id }) => id)).toEqual([3, 4, 2]);
});

test("inserts a new row in transit where the service puts it, and leaves no gap for a deleted one", () => {
  const shown = [row(2, "installed"), row(1, "stopping")];
  const rows = keepRows(shown, shown, [row(3, "installing"), row(1, "stopping")]);
  expect(rows.map(({ id }) => id)).toEqual([3, 1]);
});
