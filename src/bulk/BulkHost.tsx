import { useAskedPart } from "../app/routing/asked-part.ts";
import { useStore } from "../store.ts";
import { type BulkTask, bulkTask } from "./current-task.ts";
import { loadBulkDialog } from "./load-dialog.ts";

function Bulk(task: BulkTask) {
  const render = useAskedPart({
    name: "the bulk action",
    load: loadBulkDialog,
    onMissing: () => bulkTask.set(null),
  });
  return render?.(task);
}

/** Rendered once, in the shell, because the list may lose its rows before the dialog is closed. */
export function BulkHost() {
  const task = useStore(bulkTask);
  return task !== null && <Bulk {...task} />;
}
