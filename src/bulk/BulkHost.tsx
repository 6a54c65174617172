import { lazy, Suspense } from "react";
import { useStore } from "../store.ts";
import { bulkTask } from "./bulk-task.ts";

const BulkDialog = lazy(async () => ({
  default: (await import("./BulkDialog.tsx")).BulkDialog,
}));

/** Rendered once, in the shell: the rows that a dialog was about may be gone before it is. */
export function BulkHost() {
  const task = useStore(bulkTask);
  return <Suspense>{task !== null && <BulkDialog {...task} />}</Suspense>;
}
