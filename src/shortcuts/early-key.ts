// A key that is pressed before the code of the keys has come: it fetches that code, which then does what the key says.
import { createStore } from "../store.ts";

/** The newest; null = none, or the keys are there. */
export const earlyKey = createStore<KeyboardEvent | null>(null);

const keep = (event: KeyboardEvent) => earlyKey.set(event);

/** @returns what ends it */
export function listenForEarlyKey(): () => void {
  addEventListener("keydown", keep);
  // What was pressed in one session is nothing to the next one.
  return () => void takeEarlyKey();
}

/** @returns what was pressed in vain; from here on the caller listens itself */
export function takeEarlyKey(): KeyboardEvent | null {
  removeEventListener("keydown", keep);
  const event = earlyKey.get();
  earlyKey.set(null);
  return event;
}
