import { useEffect, useLayoutEffect } from "react";
import { useAskedPart } from "../app/asked-part.ts";
import { register } from "../commands/registry.ts";
import { useStore } from "../store.ts";
import { attachKeys } from "./keys.ts";
import { keysCommand, keysDialog } from "./keys-dialog.ts";

function Keys() {
  const render = useAskedPart({
    name: "the keyboard shortcuts",
    load: async () => (await import("./KeysDialog.tsx")).KeysDialog,
    onMissing: () => keysDialog.set(false),
  });
  return render?.({});
}

/** Rendered once, in the shell: the keys themselves, and their list when it is asked for. */
export function KeysHost() {
  const isOpen = useStore(keysDialog);
  useEffect(attachKeys, []);
  // It has no button. Before the paint, so that what can be seen can be run.
  useLayoutEffect(() => register(keysCommand), []);
  return isOpen && <Keys />;
}
