// Whether letters and signs alone do something (WCAG 2.2, 2.1.4): whoever dictates, or whose hand slips, turns
// them off. Remembered on this device.
import { attempt } from "../api/kept-session.ts";
import { createStore } from "../store.ts";

const key = "quarterdeck.single-keys";

const store = createStore(attempt(() => localStorage.getItem(key)) !== "off");

export const singleKeys = {
  ...store,
  choose(isOn: boolean): void {
    store.set(isOn);
    attempt(() => localStorage.setItem(key, isOn ? "on" : "off"));
  },
};
