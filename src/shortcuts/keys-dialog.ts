import { createStore } from "../store.ts";

/** Whether the list of keys is open. Separate from the list, so that opening it costs a page nothing. */
export const keysDialog = createStore(false);

export const keysCommand = {
  label: "Keyboard shortcuts",
  key: "?",
  run: () => keysDialog.set(true),
};
