// An object that was found on a server, with a button that adds it to the inventory.
import { useState } from "react";
import type { RequestEntries } from "../../contract/inventory/entries.ts";
import type { InventoryConflict } from "../../contract/inventory/conflict.ts";
import { LinkButton } from "../app/LinkButton.tsx";
import { toast } from "../app/toasts.ts";
import { paths } from "../paths.ts";
import { conflictIn, reloadInventory, saveEntry } from "../settings/inventory/actions.ts";
import { Button } from "../ui/button/Button.tsx";
import { takeFocus } from "../ui/focus/take-focus.ts";
import { TextBox } from "../ui/text/TextBox.tsx";

type FoundKind = "sites" | "databases";

type FoundRowProps<Kind extends FoundKind> = {
  serverId: number;
  name: string;
  detail: string;
  kind: Kind;
  /** Id of its entry; null = the inventory has none. */
  knownId: number | null;
  /** Returns the entry to add. */
  entry: () => RequestEntries[Kind];
};

/** Ids increase, so the largest is the newest. */
const newestOf = (entries: readonly { id: number }[]) => Math.max(...entries.map(({ id }) => id));

export function FoundRow<Kind extends FoundKind>({
  serverId,
  name,
  detail,
  kind,
  knownId,
  entry,
}: FoundRowProps<Kind>) {
  const [addedId, setAddedId] = useState<number | null>(null);
  const [isAdding, setIsAdding] = useState(false);
  const [conflict, setConflict] = useState<InventoryConflict | null>(null);
  const add = async () => {
    setIsAdding(true);
    try {
      const seen = await reloadInventory();
      if (seen === null) throw new Error("This token may not change the inventory.");
      const saved = await saveEntry(kind, null, entry(), seen);
      setAddedId(newestOf(saved[kind]));
      setConflict(null);
      toast.success(`${name} added.`);
    } catch (error) {
      setConflict(conflictIn(error));
      toast.failure(`Couldn't add ${name}.`, error);
    }
    setIsAdding(false);
  };
  const type = kind === "sites" ? "site" : "database";
  return (
    <li className="border-b border-line px-4 py-2 text-sm last:border-b-0 max-sm:px-3">
      <div className="flex min-h-8 items-center gap-3">
        <div className="min-w-0 flex-1">
          <p className="font-medium wrap-anywhere">{name}</p>
          <p className="text-xs wrap-anywhere text-muted">{detail}</p>
        </div>
        {addedId !== null ? (
          <LinkButton
            ref={takeFocus}
            to={paths.newBackupConfiguration(serverId, { type, id: addedId })}
            aria-label={`Set up backup: ${name}`}
          >
            Set up backup
          </LinkButton>
        ) : knownId !== null ? (
          <span className="shrink-0 text-xs text-muted">In the inventory</span>
        ) : (
          <Button
            isChange
            isPending={isAdding}
            aria-label={`Add ${name}`}
            onClick={() => void add()}
          >
            Add
          </Button>
        )}
      </div>
      {conflict?.yaml !== undefined && (
        <TextBox title="Lines for the inventory" text={conflict.yaml} isCode />
      )}
    </li>
  );
}
