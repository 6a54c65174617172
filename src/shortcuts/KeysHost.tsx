import { useEffect } from "react";
import { useAskedPart } from "../app/asked-part.ts";
import { useCommand } from "../commands/use-command.ts";
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
  useCommand(keysCommand);
  return isOpen && <Keys />;
}
