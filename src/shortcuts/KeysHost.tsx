import { useEffect, useLayoutEffect } from "react";
import { useAskedPart } from "../app/routing/asked-part.ts";
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

/** Rendered once, in the shell: handles the keys, and shows their list on request. */
export function KeysHost() {
  const isOpen = useStore(keysDialog);
  useEffect(attachKeys, []);
  // This command has no button. Registered before the first paint, so that it can be run as soon as the page is
  // visible.
  useLayoutEffect(() => register(keysCommand), []);
  return isOpen && <Keys />;
}
