import { lazy, Suspense, useEffect } from "react";
import { useStore } from "../store.ts";
import { attachKeys } from "./attach-keys.ts";
import { keysDialog } from "./keys-dialog.ts";

const KeysDialog = lazy(async () => ({
  default: (await import("./KeysDialog.tsx")).KeysDialog,
}));

/** Rendered once, in the shell: the keys themselves, and their list when it is asked for. */
export function KeysHost() {
  const isOpen = useStore(keysDialog);
  useEffect(attachKeys, []);
  return <Suspense>{isOpen && <KeysDialog />}</Suspense>;
}
