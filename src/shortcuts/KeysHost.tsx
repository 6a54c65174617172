import { lazy, Suspense, useEffect } from "react";
import { useCommand } from "../commands/use-command.ts";
import { useStore } from "../store.ts";
import { attachKeys } from "./keys.ts";
import { keysCommand, keysDialog } from "./keys-dialog.ts";

const KeysDialog = lazy(async () => ({
  default: (await import("./KeysDialog.tsx")).KeysDialog,
}));

/** Rendered once, in the shell: the keys themselves, and their list when it is asked for. */
export function KeysHost() {
  const isOpen = useStore(keysDialog);
  useEffect(attachKeys, []);
  useCommand(keysCommand);
  return <Suspense>{isOpen && <KeysDialog />}</Suspense>;
}
