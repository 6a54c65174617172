import { beforeEach, expect, test } from "vitest";
import { createSelection, type Selection } from "./selection.ts";

let selection: Selection;
const selected = () => [...selection.get()].sort((one, other) => one - other);

beforeEach(() => {
  selection = createSelection();
  selection.show([5, 3, 9, 7]);
});

test("selects and deselects single rows", () => {
  selection.select(3, true, false);
  selection.select(7, true, false);
  selection.select(3, false, false);
  expect(selected()).toEqual([7]);
});

test("a range extends from the previous row to this one as they are displayed, in both directions", () => {
  selection.select(3, true, false);
  selection.select(7, true, true);
  expect(selected()).toEqual([3, 7, 9]);
  selection.select(5, true, true);
  expect(selected()).toEqual([3, 5, 7, 9]);
});

test("a range that ends on a selected row keeps it selected, whatever its checkbox shows", () => {
  selection.select(5, true, false);
  selection.select(9, true, false);
  selection.select(5, false, true);
  expect(selected()).toEqual([3, 5, 9]);
});

test("a range without a start, or whose start was deleted, is only the row itself", () => {
  selection.select(9, true, true);
  expect(selected()).toEqual([9]);
  selection.show([5, 3, 7]);
  selection.select(3, true, true);
  expect(selected()).toEqual([3]);
});

test("rows that disappear from the list are deselected, and stay so when they return", () => {
  selection.selectAll(true);
  selection.show([3, 7]);
  expect(selected()).toEqual([3, 7]);
  selection.show([5, 3, 9, 7]);
  expect(selected()).toEqual([3, 7]);
});

test("a poll with the same rows notifies nobody", () => {
  selection.select(3, true, false);
  let notified = 0;
  selection.subscribe(() => (notified += 1));
  selection.show([5, 3, 9, 7, 11]);
  expect(notified).toBe(0);
});

test("selects and deselects all at once", () => {
  selection.selectAll(true);
  expect(selected()).toEqual([3, 5, 7, 9]);
  selection.selectAll(false);
  expect(selected()).toEqual([]);
});
