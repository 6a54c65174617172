// Whether letters and signs alone do something (WCAG 2.2, 2.1.4): whoever dictates, or whose hand slips, turns
// them off. Remembered on this device.
import { createStore } from "../../store.ts";

const key = "quarterdeck.single-keys";

function readStored(): boolean {
  try {
    return localStorage.getItem(key) !== "off";
  } catch {
    // The browser forbids storage.
    return true;
  }
}

const store = createStore(readStored());

export const singleKeys = {
  ...store,
  choose(isOn: boolean): void {
    store.set(isOn);
    try {
      localStorage.setItem(key, isOn ? "on" : "off");
    } catch {
      // Then it is known until the page is closed.
    }
  },
};
