import { createStore } from "../store.ts";

/** Whether the list of keys is open. Apart from it, so that the way to it costs a page nothing. */
export const keysDialog = createStore(false);

export const keysCommand = {
  label: "Keyboard shortcuts",
  key: "?",
  run: () => keysDialog.set(true),
};
