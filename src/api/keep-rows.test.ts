import { expect, test } from "vitest";
import { keepRows } from "./keep-rows.ts";

const row = (id: number, status: string) => ({ id, status });

test("a row that did not change is the same object, whichever question it answered before", () => {
  const known = [row(1, "installed"), row(2, "stopped")];
  const [first, second] = keepRows(known, [], [row(2, "stopped"), row(1, "failed")]);
  expect(first).toBe(known[1]);
  expect(second).toEqual(row(1, "failed"));
});

test("a row that moves stays in its place until it has settled", () => {
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

test("a row that moves and is new stands where the service puts it, and one that is gone leaves no gap", () => {
  const shown = [row(2, "installed"), row(1, "stopping")];
  const rows = keepRows(shown, shown, [row(3, "installing"), row(1, "stopping")]);
  expect(rows.map(({ id }) => id)).toEqual([3, 1]);
});
