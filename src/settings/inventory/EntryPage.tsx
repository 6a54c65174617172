// The form of an entry, new or existing.
import { useState } from "react";
import { flushSync } from "react-dom";
import { useLoaderData } from "react-router";
import type { InventoryKind, RequestEntries } from "../../../contract/inventory/entries.ts";
import type { InventoryConflict } from "../../../contract/inventory/conflict.ts";
import type { InventoryFile } from "../../../contract/inventory/inventory.ts";
import { useLoaded } from "../../api/query.ts";
import { FormPage } from "../../app/form/FormPage.tsx";
import { toast } from "../../app/toasts.ts";
import { paths } from "../../paths.ts";
import { focusHeading } from "../../ui/focus/focus-heading.ts";
import { conflictIn, reloadInventory, saveEntry } from "./actions.ts";
import { type EntryValues, fieldNames, newValues, schemaOf, valuesOf } from "./entry-form.ts";
import { EntryConflict } from "./EntryConflict.tsx";
import { EntryFields } from "./EntryFields.tsx";
import { TestButton, type TestProgress, TestResult } from "./EntryTest.tsx";
import { kinds } from "./kinds.ts";
import type { entryLoader } from "./loaders.ts";
import { inventoryQuery } from "./queries.ts";
import { ReadOnlyNotice } from "./ReadOnlyNotice.tsx";

const crumbs = [
  { label: "Settings", to: paths.settings() },
  { label: "Inventory", to: paths.inventory() },
];

type FormProps = {
  kind: InventoryKind;
  /** Null for a new entry. */
  id: number | null;
  /** The file when the form was opened, from which its values and its version come. */
  opened: InventoryFile;
  /** Restarts the form with another state of the file. */
  onReload: (inventory: InventoryFile) => void;
};

function EntryForm({ kind, id, opened, onReload }: FormProps) {
  const { noun } = kinds[kind];
  const [seen, setSeen] = useState(opened);
  const [conflict, setConflict] = useState<InventoryConflict | null>(null);
  const [progress, setProgress] = useState<TestProgress>({ state: "idle" });
  const entry = opened[kind].find((one) => one.id === id);
  const isReadOnly = opened.read_only_reason !== null;
  const withNewest = async (go: (inventory: InventoryFile) => void) => {
    try {
      const newest = await reloadInventory();
      if (newest !== null) go(newest);
    } catch (error) {
      toast.failure("Couldn't reload the inventory.", error);
    }
  };
  const save = async (body: RequestEntries[InventoryKind]) => {
    setConflict(null);
    const saved = await saveEntry(kind, id, body, seen);
    const text = `${body.name} ${id === null ? "added" : "saved"}.`;
    // The next page shows problems of the file.
    return {
      to: paths.inventory(),
      text: saved.problem === null ? text : `${text} Not in force yet.`,
    };
  };
  return (
    <FormPage<EntryValues, RequestEntries[InventoryKind]>
      title={entry === undefined ? `New ${noun}` : `Edit ${entry.name}`}
      context={["Inventory"]}
      crumbs={crumbs}
      notice={<ReadOnlyNotice inventory={opened} />}
      schema={schemaOf(kind)}
      names={fieldNames[kind]}
      defaultValues={entry === undefined ? newValues(kind, opened) : valuesOf(entry)}
      save={save}
      onRefused={(error) => {
        const found = conflictIn(error);
        setConflict(found);
        return found !== null;
      }}
      submit={
        isReadOnly
          ? ["Show lines", "Checking…"]
          : entry === undefined
            ? [`Add ${noun}`, "Adding…"]
            : ["Save changes", "Saving…"]
      }
      cancelTo={paths.inventory()}
      leaveQuestion={`Leave without saving the ${noun}?`}
      outcome={
        <>
          <TestResult progress={progress} />
          {conflict !== null && (
            <EntryConflict
              conflict={conflict}
              onReload={() => void withNewest(onReload)}
              onKeep={() =>
                void withNewest((newest) => {
                  setSeen(newest);
                  setConflict(null);
                })
              }
            />
          )}
        </>
      }
      actions={<TestButton kind={kind} progress={progress} onProgress={setProgress} />}
    >
      <EntryFields kind={kind} inventory={opened} />
    </FormPage>
  );
}

export function EntryPage() {
  const { kind, id } = useLoaderData<typeof entryLoader>();
  const inventory = useLoaded(inventoryQuery());
  const [state, setState] = useState({ opened: inventory, times: 0 });
  // The loader requires an inventory.
  if (state.opened === null) return null;
  return (
    <EntryForm
      key={state.times}
      kind={kind}
      id={id}
      opened={state.opened}
      onReload={(opened) => {
        flushSync(() => setState(({ times }) => ({ opened, times: times + 1 })));
        // Restores the focus, which was lost with the previous form.
        focusHeading(document.body);
      }}
    />
  );
}
