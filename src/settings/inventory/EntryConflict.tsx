import type { InventoryConflict } from "../../../contract/inventory/conflict.ts";
import { Button } from "../../ui/button/Button.tsx";
import { handFocusOn } from "../../ui/focus/hand-focus-on.ts";
import { Notice } from "../../ui/feedback/Notice.tsx";
import { TextBox } from "../../ui/text/TextBox.tsx";

type EntryConflictProps = {
  conflict: InventoryConflict;
  /** Restarts the form with the present file. */
  onReload: () => void;
  /** Keeps the typed values, based on the present file. */
  onKeep: () => void;
};

/** Explains why the entry was not saved, and what to do. */
export function EntryConflict({ conflict, onReload, onKeep }: EntryConflictProps) {
  const { message, code, diff, yaml } = conflict;
  const isChanged = code === "inventory_changed";
  return (
    <Notice tone="warn" isAlert>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
        <p>{message}</p>
        {yaml !== undefined && <TextBox title="Lines for the inventory" text={yaml} isCode />}
        {diff != null && diff !== "" && (
          <TextBox
            title={isChanged ? "Changes since you opened the form" : "The whole change as a patch"}
            text={diff}
            isCode
          />
        )}
        {isChanged && (
          <div ref={handFocusOn} className="flex flex-wrap gap-2">
            <Button onClick={onReload}>Reload and discard my changes</Button>
            <Button onClick={onKeep}>Keep my changes</Button>
          </div>
        )}
      </div>
    </Notice>
  );
}
