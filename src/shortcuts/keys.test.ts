import { expect, test } from "vitest";
import { type Around, keysHandler } from "./keys.ts";
import { rowAfter } from "./rows.ts";

const bound = ["j", "k", "x", "Shift+x", "?", "#", "r", "[", "Escape", "g b"];
const onPage: Around = { isInField: false, isCovered: false, hasSingleKeys: true };

type Modifier = "Shift" | "Control" | "Alt" | "Meta" | "AltGraph";
type Pressed = {
  down?: readonly Modifier[];
  repeat?: boolean;
  isComposing?: boolean;
  isTaken?: boolean;
  /** Physical key on a Latin keyboard, e.g. "KeyJ". */
  code?: string;
};

function keyEvent(key: string, { down = [], isTaken = false, ...rest }: Pressed) {
  const event = Object.assign(new Event("keydown", { cancelable: true }), {
    repeat: false,
    isComposing: false,
    code: "Key",
    ...rest,
    key,
    getModifierState: (name: Modifier) => down.includes(name),
  });
  if (isTaken) event.preventDefault();
  return event;
}

/** Presses keys one after another. @returns which bindings ran, and whether the last key's default was prevented */
function press(keys: readonly [string, Pressed?][], around: Partial<Around> = {}) {
  const ran: string[] = [];
  const bindings = bound.map((key) => ({ key, label: key, run: () => ran.push(key) > 0 }));
  const handle = keysHandler(bindings, () => ({ ...onPage, ...around }));
  const events = keys.map(([key, pressed = {}]) => keyEvent(key, pressed));
  for (const event of events) handle(event);
  return { ran, isTaken: events.at(-1)?.defaultPrevented };
}

test.each<[string, Pressed, string]>([
  ["j", {}, "j"],
  ["K", {}, "k"],
  ["j", { repeat: true }, "j"],
  ["x", {}, "x"],
  ["X", { down: ["Shift"] }, "Shift+x"],
  ["?", { down: ["Shift"] }, "?"],
  ["#", { down: ["Shift"] }, "#"],
  ["#", {}, "#"],
  ["R", {}, "r"],
  ["Escape", {}, "Escape"],
  ["о", { code: "KeyJ" }, "j"],
  ["Ч", { code: "KeyX", down: ["Shift"] }, "Shift+x"],
])("%s with %o runs one command", (key, pressed, binding) => {
  expect(press([[key, pressed]])).toEqual({ ran: [binding], isTaken: true });
});

test.each<[string, Pressed]>([
  ["j", { down: ["Control"] }],
  ["r", { down: ["Meta"] }],
  ["j", { down: ["Alt"] }],
  ["[", { down: ["Control"] }],
  ["R", { down: ["Shift"] }],
  ["r", { repeat: true }],
  ["x", { repeat: true }],
  ["#", { repeat: true }],
  ["j", { isComposing: true }],
  ["c", { code: "KeyJ" }],
  ["é", { code: "KeyJ" }],
  ["Enter", {}],
  ["Tab", {}],
])("%s with %o is left to the browser", (key, pressed) => {
  expect(press([[key, pressed]])).toEqual({ ran: [], isTaken: false });
});

test("ignores a key that was handled already", () => {
  expect(press([["j", { isTaken: true }]]).ran).toEqual([]);
});

test("leaves a key without an effect to the browser", () => {
  const handle = keysHandler([{ key: "j", label: "j", run: () => false }], () => onPage);
  const event = keyEvent("j", {});
  handle(event);
  expect(event.defaultPrevented).toBe(false);
});

test("a key with two bindings runs the first one that has an effect", () => {
  const ran: string[] = [];
  const toBinding = (label: string, hasWork: boolean) => ({
    key: "x",
    label,
    run: () => hasWork && ran.push(label) > 0,
  });
  const bindings = [
    ["select", false] as const,
    ["cancel", true] as const,
    ["clear", true] as const,
  ];
  keysHandler(
    bindings.map(([label, hasWork]) => toBinding(label, hasWork)),
    () => onPage,
  )(keyEvent("x", {}));
  expect(ran).toEqual(["cancel"]);
});

test("accepts a character that needs AltGr, although Ctrl and Alt are reported as pressed", () => {
  expect(press([["[", { down: ["AltGraph", "Control", "Alt"] }]]).ran).toEqual(["["]);
});

test("runs a sequence once it is complete, and a wrong key ends it", () => {
  expect(press([["g"], ["b"]])).toEqual({ ran: ["g b"], isTaken: true });
  expect(press([["g"], ["r"], ["b"]]).ran).toEqual(["r"]);
  expect(press([["b"]]).ran).toEqual([]);
});

test.each(["j", "x", "?", "#", "Escape"])("ignores %s in a field or under a dialog", (key) => {
  expect(press([[key]], { isInField: true }).ran).toEqual([]);
  expect(press([[key]], { isCovered: true }).ran).toEqual([]);
});

test("when disabled, ignores letters and characters, and still handles Escape", () => {
  for (const key of ["j", "x", "?", "#", "r", "["])
    expect(press([[key]], { hasSingleKeys: false }).ran).toEqual([]);
  expect(press([["Escape"]], { hasSingleKeys: false }).ran).toEqual(["Escape"]);
});

test.each([
  ["into the list from outside", 5, -1, null, 1, 0],
  ["to the next row", 5, 1, 1, 1, 2],
  ["to the previous row", 5, 1, 1, -1, 0],
  ["no farther than the end", 5, 4, 4, 1, 4],
  ["no farther than the beginning", 5, 0, 0, -1, 0],
  ["back to the last row, after the focus was elsewhere", 5, -1, 3, 1, 3],
  ["to the row in the place of a deleted one", 3, -1, 3, -1, 2],
  ["nowhere in an empty list", 0, -1, null, 1, -1],
] as const)("a move leads %s", (_, count, current, last, step, expected) => {
  expect(rowAfter(count, current, last, step)).toBe(expected);
});
