// Handles keys without Ctrl, Alt or ⌘. tinykeys parses keys and sequences.
import { createKeybindingsHandler } from "tinykeys";
import { attempt } from "../api/kept-session.ts";
import { createStore } from "../store.ts";
import { type Binding, currentBindings } from "./bindings.ts";
import { takeEarlyKey } from "./early-key.ts";

const storageKey = "quarterdeck.single-keys";
const store = createStore(attempt(() => localStorage.getItem(storageKey)) !== "off");

/**
 * Whether single characters act as shortcuts (WCAG 2.2, 2.1.4). Users of speech input, or with unsteady hands, turn
 * them off. Stored on this device.
 */
export const singleKeys = {
  ...store,
  choose(isOn: boolean): void {
    store.set(isOn);
    attempt(() => localStorage.setItem(storageKey, isOn ? "on" : "off"));
  },
};

export type Around = {
  /** Whether the focus is in a text field or a control that uses letters. */
  isInField: boolean;
  /** Whether a dialog or menu is open over the page, and has the keys to itself. */
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

/**
 * Whether a key is held down that does not navigate: j and k may repeat, other keys must not act thirty times a second.
 */
const isHeld = ({ repeat, key }: KeyboardEvent) => repeat && !/^[jk]$/i.test(key);

/** Depending on the keyboard, a symbol may need Shift or AltGr, and AltGr is reported as Ctrl and Alt. */
const patternsOf = (key: string): string[] =>
  /^[^\p{L}\d]$/u.test(key) ? [`[Shift]+${key}`, `AltGraph+[Control]+[Alt]+[Shift]+${key}`] : [key];

type KeyPress = Event & Pick<KeyboardEvent, "key" | "code">;

/** On a keyboard of another script, such as Cyrillic, maps a letter to the one in its place on a Latin keyboard. */
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

/** Of several bindings of a key, runs the first one that can handle it. */
export function keysHandler(
  bindings: readonly Binding[],
  look: (event: KeyboardEvent) => Around,
): (event: KeyPress) => void {
  const byKey = [...Map.groupBy(bindings, ({ key }) => key)];
  // Long sequences first: after a match, tinykeys does not notice a wrong key in the remaining patterns.
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

/** @returns a function that removes the listener */
export function attachKeys(): () => void {
  let known = "";
  let handle: (event: KeyPress) => void = () => {};
  const listen = (event: KeyboardEvent) => {
    const bindings = currentBindings();
    const keys = bindings
      .map(({ key }) => key)
      .sort()
      .join("\n");
    // A new handler would lose the beginning of a sequence.
    if (keys !== known) handle = keysHandler(bindings, around);
    known = keys;
    handle(event);
  };
  document.addEventListener("keydown", listen);
  const early = takeEarlyKey();
  if (early !== null) listen(early);
  return () => document.removeEventListener("keydown", listen);
}
