// Records a key that is pressed before the code of the shortcuts is loaded. The shell then loads that code, which
// handles the key.
import { createStore } from "../store.ts";

/** The newest key; null = none, or the shortcuts are loaded. */
export const earlyKey = createStore<KeyboardEvent | null>(null);

const keep = (event: KeyboardEvent) => earlyKey.set(event);

/** @returns a function that stops recording */
export function listenForEarlyKey(): () => void {
  addEventListener("keydown", keep);
  // A key of one session must not apply to the next.
  return () => void takeEarlyKey();
}

/**
 * Stops recording; from here on, the caller listens itself.
 * @returns the recorded key; null = none
 */
export function takeEarlyKey(): KeyboardEvent | null {
  removeEventListener("keydown", keep);
  const event = earlyKey.get();
  earlyKey.set(null);
  return event;
}
