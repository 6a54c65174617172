// What a key that was pressed asks for. Pure: what the page is like is told.

export type Pressed = Pick<
  KeyboardEvent,
  | "key"
  | "ctrlKey"
  | "altKey"
  | "metaKey"
  | "shiftKey"
  | "repeat"
  | "isComposing"
  | "defaultPrevented"
>;

export type Around = {
  /** Typed with AltGr, which some keyboards need for `#` and brackets, and which shows as Ctrl and Alt. */
  isAltGraph: boolean;
  /** The focus is where text is typed, or where letters choose something. */
  isInField: boolean;
  /** A dialog or menu lies over the page and has the keys for itself. */
  isCovered: boolean;
  /** See `singleKeys`. */
  hasSingleKeys: boolean;
};

export type Order =
  | { kind: "move"; step: 1 | -1 }
  | { kind: "select"; isRange: boolean }
  | { kind: "help" }
  /** Press the button that has this key. */
  | { kind: "press"; key: string };

const isLetter = (key: string) => /^[a-z]$/i.test(key);

export function orderOf(pressed: Pressed, around: Around): Order | null {
  const { ctrlKey, altKey, metaKey, shiftKey, repeat } = pressed;
  if (pressed.defaultPrevented || pressed.isComposing || around.isInField || around.isCovered)
    return null;
  if ((ctrlKey || altKey || metaKey) && !around.isAltGraph) return null;
  if (pressed.key === "Escape") return { kind: "press", key: "Escape" };
  if (!around.hasSingleKeys || pressed.key.length !== 1) return null;
  // With Caps Lock on, j is still j.
  const key = isLetter(pressed.key) ? pressed.key.toLowerCase() : pressed.key;
  if (key === "x" && !repeat) return { kind: "select", isRange: shiftKey };
  if (isLetter(key) && shiftKey) return null;
  if (key === "j" || key === "k") return { kind: "move", step: key === "j" ? 1 : -1 };
  // A key that is held down is to walk through a list, not to ask for the same thing thirty times a second.
  if (repeat) return null;
  return key === "?" ? { kind: "help" } : { kind: "press", key };
}

/**
 * The row to go to, by its place in the list; -1 where there is none.
 * @param current where the focus is, -1 = in no row
 * @param last where it was before, should the row be gone or left; null = it was in none
 */
export function rowAfter(
  count: number,
  current: number,
  last: number | null,
  step: 1 | -1,
): number {
  const wanted = current >= 0 ? current + step : (last ?? 0);
  return Math.max(Math.min(wanted, count - 1), Math.min(0, count - 1));
}
