// The state that is needed before the palette is loaded: whether it is open, and its key.
import { createStore } from "../store.ts";

export type PaletteState = {
  /** The element that had the focus, and gets it back. */
  from: Element | null;
  /** What was typed before the palette's field was there. */
  typed: string;
};

/** Null = closed. */
export const paletteState = createStore<PaletteState | null>(null);

export const closePalette = (): void => paletteState.set(null);

export function openPalette(): void {
  const modal = document.querySelector<HTMLDialogElement>("dialog:modal");
  // An alert dialog must be answered first.
  if (modal?.role === "alertdialog") return;
  if (modal !== null && "requestClose" in modal) modal.requestClose();
  paletteState.set({ from: document.activeElement, typed: "" });
}

/** The user agents of iPhone and iPad contain "like Mac OS X", so they match as well. */
const isApple = () => navigator.userAgent.includes("Mac");

/** Returns the key for display on this machine, and for `aria-keyshortcuts`. */
export const paletteKey = () =>
  isApple() ? { hint: "⌘ K", aria: "Meta+K" } : { hint: "Ctrl K", aria: "Control+K" };

/** Whether the key is K, also on keyboards of other scripts, where it produces another letter. */
const isK = ({ key, code }: KeyboardEvent) =>
  /^k$/i.test(key) || (key > "\u007f" && code === "KeyK");

/** Keeps what is typed before the palette's code is loaded. The page behind must not get it. */
function keepTyped(event: KeyboardEvent): void {
  const state = paletteState.get();
  const { key, ctrlKey, metaKey } = event;
  const typed = state?.typed ?? "";
  const next = key === "Backspace" ? typed.slice(0, -1) : key.length === 1 ? typed + key : null;
  if (state === null || next === null || ctrlKey || metaKey) return;
  if (document.querySelector("dialog:modal") !== null) return;
  event.preventDefault();
  paletteState.set({ ...state, typed: next });
}

function listen(event: KeyboardEvent): void {
  const { ctrlKey, metaKey, altKey, shiftKey } = event;
  // On a Mac, Ctrl+K deletes to the end of the line.
  const isMeant = isApple() ? metaKey && !ctrlKey : ctrlKey && !metaKey;
  if (!isMeant || altKey || shiftKey || !isK(event)) return keepTyped(event);
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
