import { expect, test } from "vitest";
import { type Around, orderOf, type Pressed, rowAfter } from "./key-order.ts";

const plain: Omit<Pressed, "key"> = {
  ctrlKey: false,
  altKey: false,
  metaKey: false,
  shiftKey: false,
  repeat: false,
  isComposing: false,
  defaultPrevented: false,
};
const onPage: Around = {
  isAltGraph: false,
  isInField: false,
  isCovered: false,
  hasSingleKeys: true,
};
const press = (key: string, change: Partial<Pressed> = {}, around: Partial<Around> = {}) =>
  orderOf({ ...plain, key, ...change }, { ...onPage, ...around });

test.each([
  ["j", {}, { kind: "move", step: 1 }],
  ["K", {}, { kind: "move", step: -1 }],
  ["j", { repeat: true }, { kind: "move", step: 1 }],
  ["x", {}, { kind: "select", isRange: false }],
  ["X", { shiftKey: true }, { kind: "select", isRange: true }],
  ["?", { shiftKey: true }, { kind: "help" }],
  ["#", { shiftKey: true }, { kind: "press", key: "#" }],
  ["R", {}, { kind: "press", key: "r" }],
  ["Escape", {}, { kind: "press", key: "Escape" }],
])("%s with %o asks for one thing", (key, change, order) => {
  expect(press(key, change)).toEqual(order);
});

test.each([
  ["c", { ctrlKey: true }],
  ["r", { metaKey: true }],
  ["j", { altKey: true }],
  ["R", { shiftKey: true }],
  ["r", { repeat: true }],
  ["#", { repeat: true }],
  ["a", { isComposing: true }],
  ["s", { defaultPrevented: true }],
  ["Enter", {}],
  ["Tab", {}],
])("%s with %o is the browser's own", (key, change) => {
  expect(press(key, change)).toBeNull();
});

test("a sign that a keyboard has only with AltGr is taken, although Ctrl and Alt are down", () => {
  expect(press("[", { ctrlKey: true, altKey: true }, { isAltGraph: true })).not.toBeNull();
});

test.each(["j", "x", "?", "#", "Escape"])("%s in a field or under a dialog is not ours", (key) => {
  expect(press(key, {}, { isInField: true })).toBeNull();
  expect(press(key, {}, { isCovered: true })).toBeNull();
});

test("turned off, letters and signs do nothing, and Escape still lets go", () => {
  for (const key of ["j", "x", "?", "#", "r", "["])
    expect(press(key, {}, { hasSingleKeys: false })).toBeNull();
  expect(press("Escape", {}, { hasSingleKeys: false })).not.toBeNull();
});

test.each([
  ["into the list from outside", 5, -1, null, 1, 0],
  ["one on", 5, 1, 1, 1, 2],
  ["one back", 5, 1, 1, -1, 0],
  ["no farther than the end", 5, 4, 4, 1, 4],
  ["no farther than the beginning", 5, 0, 0, -1, 0],
  ["back to where it was, after a look elsewhere", 5, -1, 3, 1, 3],
  ["to what took the place of a row that is gone", 3, -1, 3, -1, 2],
  ["nowhere in an empty list", 0, -1, null, 1, -1],
] as const)("a move leads %s", (_, count, current, last, step, expected) => {
  expect(rowAfter(count, current, last, step)).toBe(expected);
});
