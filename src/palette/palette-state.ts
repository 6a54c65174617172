// What the palette needs before it is there: whether it is open, and its key.
import { createStore } from "../store.ts";

/** Where the focus was, and will be again. */
export type PaletteState = { from: Element | null };

/** Null = closed. */
export const paletteState = createStore<PaletteState | null>(null);

export const closePalette = (): void => paletteState.set(null);

export function openPalette(): void {
  const modal = document.querySelector<HTMLDialogElement>("dialog:modal");
  // A question has to be answered first.
  if (modal?.role === "alertdialog") return;
  if (modal !== null && "requestClose" in modal) modal.requestClose();
  paletteState.set({ from: document.activeElement });
}

/** A phone and a tablet call themselves "like Mac OS X". */
const isApple = () => navigator.userAgent.includes("Mac");

/** The key as it stands on this machine's keyboard, and as `aria-keyshortcuts` wants it. */
export const paletteKey = () =>
  isApple() ? { hint: "⌘ K", aria: "Meta+K" } : { hint: "Ctrl K", aria: "Control+K" };

/** Also on a keyboard of another script, where the key has another letter. */
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

/** @returns what ends it */
export function listenForPalette(): () => void {
  addEventListener("keydown", listen);
  // Back and Forward lead to another page, and what it found belongs to this one.
  addEventListener("popstate", closePalette);
  return () => {
    removeEventListener("keydown", listen);
    removeEventListener("popstate", closePalette);
    // Without a session the shell goes, and must not come back with it.
    closePalette();
  };
}
