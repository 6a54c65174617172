import type { InventoryFile } from "../../../contract/inventory/inventory.ts";
import { Notice } from "../../ui/feedback/Notice.tsx";

/** Explains why nothing can be saved here, and what forms do instead. */
export function ReadOnlyNotice({ inventory }: { inventory: InventoryFile }) {
  if (inventory.read_only_reason === null) return null;
  return (
    <Notice tone="warn">
      <p>{inventory.read_only_reason}</p>
      <p className="text-muted">Forms check an entry and show the lines to add by hand.</p>
    </Notice>
  );
}
