import { beforeEach, expect, test } from "vitest";
import { createSelection, type Selection } from "./selection.ts";

let selection: Selection;
const selected = () => [...selection.get()].sort((one, other) => one - other);

beforeEach(() => {
  selection = createSelection();
  selection.show([5, 3, 9, 7]);
});

test("rows are selected and let go one by one", () => {
  selection.select(3, true, false);
  selection.select(7, true, false);
  selection.select(3, false, false);
  expect(selected()).toEqual([7]);
});

test("a range goes from the row before to this one as they stand on screen, in both directions", () => {
  selection.select(3, true, false);
  selection.select(7, true, true);
  expect(selected()).toEqual([3, 7, 9]);
  selection.select(5, true, true);
  expect(selected()).toEqual([3, 5, 7, 9]);
});

test("a range that ends on a selected row keeps it, whatever its box says by then", () => {
  selection.select(5, true, false);
  selection.select(9, true, false);
  selection.select(5, false, true);
  expect(selected()).toEqual([3, 5, 9]);
});

test("a range without a beginning, or with one that is gone, is the row alone", () => {
  selection.select(9, true, true);
  expect(selected()).toEqual([9]);
  selection.show([5, 3, 7]);
  selection.select(3, true, true);
  expect(selected()).toEqual([3]);
});

test("what is gone from the list leaves the selection, and does not come back with the row", () => {
  selection.selectAll(true);
  selection.show([3, 7]);
  expect(selected()).toEqual([3, 7]);
  selection.show([5, 3, 9, 7]);
  expect(selected()).toEqual([3, 7]);
});

test("a poll that brings the same rows disturbs nobody", () => {
  selection.select(3, true, false);
  let notified = 0;
  selection.subscribe(() => (notified += 1));
  selection.show([5, 3, 9, 7, 11]);
  expect(notified).toBe(0);
});

test("all are selected at once, and let go at once", () => {
  selection.selectAll(true);
  expect(selected()).toEqual([3, 5, 7, 9]);
  selection.selectAll(false);
  expect(selected()).toEqual([]);
});
