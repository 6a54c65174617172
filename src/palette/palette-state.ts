// The state that is needed before the palette is loaded: whether it is open, and its key.
import { createStore } from "../store.ts";

/** The element that had the focus, and gets it back. */
export type PaletteState = { from: Element | null };

/** Null = closed. */
export const paletteState = createStore<PaletteState | null>(null);

export const closePalette = (): void => paletteState.set(null);

export function openPalette(): void {
  const modal = document.querySelector<HTMLDialogElement>("dialog:modal");
  // An alert dialog must be answered first.
  if (modal?.role === "alertdialog") return;
  if (modal !== null && "requestClose" in modal) modal.requestClose();
  paletteState.set({ from: document.activeElement });
}

/** The user agents of iPhone and iPad contain "like Mac OS X", so they match as well. */
const isApple = () => navigator.userAgent.includes("Mac");

/** Returns the key for display on this machine, and for `aria-keyshortcuts`. */
export const paletteKey = () =>
  isApple() ? { hint: "⌘ K", aria: "Meta+K" } : { hint: "Ctrl K", aria: "Control+K" };

/** Whether the key is K, also on keyboards of other scripts, where it produces another letter. */
const isK = ({ key, code }: KeyboardEvent) =>
  /^k$/i.test(key) || (key > "\u007f" && code === "KeyK");

function listen(event: KeyboardEvent): void {
  const { ctrlKey, metaKey, altKey, shiftKey } = event;
  // On a Mac, Ctrl+K deletes to the end of the line.
  const isMeant = isApple() ? metaKey && !ctrlKey : ctrlKey && !metaKey;
  if (!isMeant || altKey || shiftKey || !isK(event)) return;
  event.preventDefault();
  if (paletteState.get() === null) openPalette();
  else closePalette();
}

/** @returns a function that removes the listeners */
export function listenForPalette(): () => void {
  addEventListener("keydown", listen);
  // Back and Forward lead to another page, and the results belong to this one.
  addEventListener("popstate", closePalette);
  return () => {
    removeEventListener("keydown", listen);
    removeEventListener("popstate", closePalette);
    // Without a session the shell is removed, and must not reappear with an open palette.
    closePalette();
  };
}
