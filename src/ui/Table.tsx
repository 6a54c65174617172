// A table by its columns: each says what stands above it, how its cells stand, and what they show of a row.
import { memo, type ReactNode } from "react";
import { handFocusOn } from "./hand-focus-on.ts";

export type Column<Row> = {
  /** Unlike that of any other column of the table. */
  id: string;
  /** What stands above the column; a function where that depends on the rows. */
  header: ReactNode | ((rows: readonly Row[]) => ReactNode);
  /** Says more than the header does: on hover, and as the header's description. */
  help?: string;
  /** What a cell shows. Called while the row renders, and for no row that stayed the same object. */
  cell: (row: Row, isOpen: boolean) => ReactNode;
  align?: "start" | "end";
  /** From which width of its panel on it is there; what a phone has no room for is folded into another cell. */
  from?: "always" | "sm" | "md";
  /** Takes all the room that the others leave; a text that is longer than that wants `truncate`. */
  isRest?: boolean;
  /** As wide as what it holds, such as a box. */
  isNarrow?: boolean;
  /** Seen in the row that is pointed at or holds the focus; in all of them where no pointer hovers or room is scarce. */
  isQuiet?: boolean;
};

/** The last column: what can be done with a row. */
export const actionsColumn = <Row,>(cell: (row: Row) => ReactNode): Column<Row> => ({
  id: "actions",
  header: <span className="sr-only">Actions</span>,
  align: "end",
  isQuiet: true,
  cell,
});

const shown = {
  always: "",
  sm: "@max-2xl:hidden",
  md: "@max-3xl:hidden",
} as const;

/** The classes of a table's parts. */
export type TableLook = Record<"head" | "headCell" | "row" | "cell", string>;

// The first column begins below the panel's title.
const edge = "px-3 first:ps-4 last:pe-4 max-sm:first:ps-3 @max-2xl:px-1.5 @max-2xl:last:pe-1.5";

/** As wide as the panel around it. */
const inPanel: TableLook = {
  head: "",
  headCell: `h-8 border-b border-line text-xs font-medium whitespace-nowrap text-muted ${edge}`,
  // The row that holds the focus is the current one, to which keys apply, and has a mark at its start; a selected one
  // is tinted. Its name is known as a link by its weight: a line below each would make a ruled page of the list.
  row: "[&_a:not(:hover)]:decoration-transparent border-b border-line last:border-b-0 has-[a]:cursor-pointer hover:bg-hover has-[td:first-child_:checked]:bg-accent-soft focus-within:*:first:shadow-[inset_3px_0_var(--accent)]",
  cell: `h-11 py-1.5 ${edge}`,
};

const columnClass = <Row,>({ align, from = "always", isNarrow }: Column<Row>) =>
  `${shown[from]} ${align === "end" ? "text-end" : ""} ${isNarrow === true ? "w-px pe-0" : ""}`;

// Without a transition: what is pointed at answers at once.
const quiet = "@2xl:pointer-fine:*:opacity-0 [tr:is(:hover,:focus-within)_&]:*:opacity-100";

type RowProps<Row> = {
  row: Row;
  columns: readonly Column<Row>[];
  isOpen: boolean;
  look: TableLook;
};

function PlainRow<Row>({ row, columns, isOpen, look }: RowProps<Row>) {
  return (
    <tr ref={handFocusOn} className={`${look.row} ${isOpen ? "bg-accent-soft" : ""}`}>
      {columns.map((column) => (
        <td
          key={column.id}
          className={`${look.cell} ${columnClass(column)} ${column.align === "end" ? "whitespace-nowrap" : ""} ${column.isQuiet === true ? quiet : ""} ${column.isRest === true ? "w-full max-w-0" : ""}`}
        >
          {column.cell(row, isOpen)}
        </td>
      ))}
    </tr>
  );
}

/** Renders again only when its row changed: the cache keeps an unchanged one the same object. */
// The cast brings back the parameter of the row's type, which `memo` loses.
const TableRow = memo(PlainRow) as typeof PlainRow;

type TableProps<Row> = {
  /** What the rows are, for a screen reader. */
  label: string;
  /** The same array each time, so that rows which did not change are not rendered again. */
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => number | string;
  /** The key of the row whose details the page shows. */
  openKey?: number | string | null;
  look?: TableLook;
};

export function Table<Row>({
  label,
  columns,
  rows,
  keyOf,
  openKey = null,
  look = inPanel,
}: TableProps<Row>) {
  return (
    <table aria-label={label} className="w-full border-collapse text-start text-sm">
      <thead>
        <tr className={look.head}>
          {columns.map((column) => (
            <th
              key={column.id}
              scope="col"
              className={`${look.headCell} ${columnClass(column)}`}
              data-tip={column.help}
              aria-description={column.help}
            >
              {typeof column.header === "function" ? column.header(rows) : column.header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <TableRow
            key={keyOf(row)}
            row={row}
            columns={columns}
            isOpen={openKey !== null && keyOf(row) === openKey}
            look={look}
          />
        ))}
      </tbody>
    </table>
  );
}
