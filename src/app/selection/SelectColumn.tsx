// The column of boxes that select rows, and the box above it that selects the page.
import { createContext, type ReactNode, use, useSyncExternalStore } from "react";
import { Checkbox } from "../../ui/Checkbox.tsx";
import type { Column } from "../../ui/Table.tsx";
import type { Selection } from "./selection.ts";

/** Of the list around; its page puts it there. */
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

/** Around a box: as much as a finger needs. */
function Target({ children }: { children: ReactNode }) {
  // oxlint-disable-next-line jsx-a11y/label-has-associated-control -- the box has a name of its own
  return <label className="-m-2 grid cursor-pointer p-2">{children}</label>;
}

/** Renders again only when its own row is selected or let go; the row around it not at all. */
function SelectRow({ id, name }: SelectRowProps) {
  const [selection, isSelected] = useSelection((selected) => selected.has(id));
  return (
    <Target>
      <Checkbox
        aria-label={`Select ${name}`}
        checked={isSelected}
        onChange={({ target, nativeEvent }) =>
          // React hears of a change by the click that made it, which knows of Shift.
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

/** @param count how many rows there are */
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
 * The first column of a list page's table.
 * @param nameOf what a row shows, as in "Select backup 7"
 */
export const selectColumn = <Row extends { id: number }>(
  nameOf: (row: Row) => string,
): Column<Row> => ({
  id: "select",
  header: (rows) => <SelectAll count={rows.length} />,
  isNarrow: true,
  cell: (row) => <SelectRow id={row.id} name={nameOf(row)} />,
});
