// Listens for the keys that act without Ctrl, Alt or ⌘. How a key or a sequence is read is left to tinykeys.
import { createKeybindingsHandler } from "tinykeys";
import { attempt } from "../api/kept-session.ts";
import { createStore } from "../store.ts";
import { type Binding, currentBindings } from "./bindings.ts";
import { takeEarlyKey } from "./early-key.ts";

const storageKey = "quarterdeck.single-keys";
const store = createStore(attempt(() => localStorage.getItem(storageKey)) !== "off");

/**
 * Whether letters and signs alone do something (WCAG 2.2, 2.1.4): whoever dictates, or whose hand slips, turns them
 * off. Remembered on this device.
 */
export const singleKeys = {
  ...store,
  choose(isOn: boolean): void {
    store.set(isOn);
    attempt(() => localStorage.setItem(storageKey, isOn ? "on" : "off"));
  },
};

export type Around = {
  /** The focus is where text is typed, or where letters choose something. */
  isInField: boolean;
  /** A dialog or menu lies over the page and has the keys for itself. */
  isCovered: boolean;
  hasSingleKeys: boolean;
};

const fields =
  "input:not([type=checkbox], [type=radio], [type=button], [type=submit]), textarea, select, [contenteditable]:not([contenteditable=false]), [role=textbox], [role=combobox], [role=listbox]";
const covers = "dialog:modal, [role=dialog], [role=alertdialog], [role=menu]";

const around = ({ target }: KeyboardEvent): Around => ({
  isInField: target instanceof Element && target.closest(fields) !== null,
  isCovered: document.querySelector(covers) !== null,
  hasSingleKeys: singleKeys.get(),
});

/** A key that is held down walks through a list, and asks for nothing else thirty times a second. */
const isHeld = ({ repeat, key }: KeyboardEvent) => repeat && !/^[jk]$/i.test(key);

/** A sign may need Shift or AltGr, and AltGr shows as Ctrl and Alt: that depends on the keyboard. */
const patternsOf = (key: string): string[] =>
  /^[^\p{L}\d]$/u.test(key) ? [`[Shift]+${key}`, `AltGraph+[Control]+[Alt]+[Shift]+${key}`] : [key];

type KeyPress = Event & Pick<KeyboardEvent, "key" | "code">;

/** On a keyboard of another script, such as Cyrillic, a letter is the one that stands in its place on a Latin one. */
function asLatin(event: KeyPress): Event {
  const [, letter] = /^Key([A-Z])$/.exec(event.code) ?? [];
  if (letter === undefined || !/^(?!\p{Script=Latin})\p{L}$/u.test(event.key)) return event;
  return new Proxy(event, {
    get(target, name) {
      const value: unknown = name === "key" ? letter : Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

const pressesOf = (key: string) => key.split(" ").length;

/** Of several bindings of a key, the first one runs that has something to do. */
export function keysHandler(
  bindings: readonly Binding[],
  look: (event: KeyboardEvent) => Around,
): (event: KeyPress) => void {
  const byKey = [...Map.groupBy(bindings, ({ key }) => key)];
  // The long ones first: of what comes after the one that fits, tinykeys does not see that a wrong key was pressed.
  byKey.sort(([one], [other]) => pressesOf(other) - pressesOf(one));
  const handlers = byKey.flatMap(([key, some]) => {
    const handle = (event: KeyboardEvent) => {
      if (some.some(({ run }) => run())) event.preventDefault();
    };
    return patternsOf(key).map((pattern) => [pattern, handle] as const);
  });
  const handler = createKeybindingsHandler(Object.fromEntries(handlers), {
    ignore(event) {
      if (event.defaultPrevented || event.isComposing || isHeld(event)) return true;
      const { isInField, isCovered, hasSingleKeys } = look(event);
      return isInField || isCovered || (!hasSingleKeys && event.key !== "Escape");
    },
  });
  return (event) => handler(asLatin(event));
}

/** @returns the function that stops it */
export function attachKeys(): () => void {
  let known = "";
  let handle: (event: KeyPress) => void = () => {};
  const listen = (event: KeyboardEvent) => {
    const bindings = currentBindings();
    const keys = bindings
      .map(({ key }) => key)
      .sort()
      .join("\n");
    // A new handler would forget the beginning of a sequence.
    if (keys !== known) handle = keysHandler(bindings, around);
    known = keys;
    handle(event);
  };
  document.addEventListener("keydown", listen);
  const early = takeEarlyKey();
  if (early !== null) listen(early);
  return () => document.removeEventListener("keydown", listen);
}
