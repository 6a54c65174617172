// The column of checkboxes that select rows, with one in the header that selects the page.
import { createContext, type ReactNode, use, useSyncExternalStore } from "react";
import { Checkbox } from "../../ui/form/Checkbox.tsx";
import type { Column } from "../../ui/table/Table.tsx";
import type { Selection } from "./selection.ts";

/** The selection of the list, provided by its page. */
export const SelectionContext = createContext<Selection | null>(null);

function useSelection<Value>(read: (selected: ReadonlySet<number>) => Value) {
  const selection = use(SelectionContext);
  if (selection === null) throw new Error("A box that selects stands in a list page.");
  return [
    selection,
    useSyncExternalStore(selection.subscribe, () => read(selection.get())),
  ] as const;
}

type SelectRowProps = { id: number; name: string };

/** Enlarges the target of a checkbox for touch. */
function Target({ children }: { children: ReactNode }) {
  // oxlint-disable-next-line jsx-a11y/label-has-associated-control -- the box has a name of its own
  return <label className="-m-2 grid cursor-pointer p-2">{children}</label>;
}

/** Renders again only when its own row is selected or deselected; the rest of the row does not. */
function SelectRow({ id, name }: SelectRowProps) {
  const [selection, isSelected] = useSelection((selected) => selected.has(id));
  return (
    <Target>
      <Checkbox
        aria-label={`Select ${name}`}
        checked={isSelected}
        onChange={({ target, nativeEvent }) =>
          // React fires `onChange` for a checkbox by the click, which has the Shift key.
          selection.select(
            id,
            target.checked,
            nativeEvent instanceof MouseEvent && nativeEvent.shiftKey,
          )
        }
      />
    </Target>
  );
}

/** @param count number of rows */
function SelectAll({ count }: { count: number }) {
  const [selection, selected] = useSelection(({ size }) => size);
  return (
    <Target>
      <Checkbox
        aria-label="Select all on this page"
        checked={selected === count}
        isMixed={selected > 0 && selected < count}
        onChange={({ target }) => selection.selectAll(target.checked)}
      />
    </Target>
  );
}

/**
 * Returns the first column of a list page's table.
 * @param nameOf name of a row, as in "Select backup 7"
 */
export const selectColumn = <Row extends { id: number }>(
  nameOf: (row: Row) => string,
): Column<Row> => ({
  id: "select",
  header: (rows) => <SelectAll count={rows.length} />,
  isNarrow: true,
  cell: (row) => <SelectRow id={row.id} name={nameOf(row)} />,
});
