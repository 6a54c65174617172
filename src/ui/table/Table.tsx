// A table, defined by its columns: header, alignment, and content of the cells.
import { memo, type ReactNode } from "react";
import { handFocusOn } from "../focus/hand-focus-on.ts";

export type Column<Row> = {
  /** Unique in the table. */
  id: string;
  /** The header; a function where it depends on the rows. */
  header: ReactNode | ((rows: readonly Row[]) => ReactNode);
  /** Description of the header, also shown on hover. */
  help?: string;
  /** Returns the content of a cell. Called only for rows whose object has changed. */
  cell: (row: Row, isOpen: boolean) => ReactNode;
  align?: "start" | "end";
  /** Minimum width of the panel for the column to be shown; a narrower one shows its content in another cell. */
  from?: "always" | "sm" | "md";
  /** Whether it takes the remaining width; long texts need `truncate`. */
  isRest?: boolean;
  /** Whether it is as wide as its content, such as a checkbox. */
  isNarrow?: boolean;
  /**
   * Whether it is visible only in the row that is hovered or focused; always visible without a hovering pointer or on
   * narrow panels.
   */
  isQuiet?: boolean;
};

/** The last column: the actions of a row. */
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

/** The classes of the parts of a table. */
export type TableLook = Record<"head" | "headCell" | "row" | "cell", string>;

// The first column is aligned with the panel's title.
const edge = "px-3 first:ps-4 last:pe-4 max-sm:first:ps-3 @max-2xl:px-1.5 @max-2xl:last:pe-1.5";

/** As wide as the panel around it. */
const inPanel: TableLook = {
  head: "",
  headCell: `h-8 border-b border-line text-xs font-medium whitespace-nowrap text-muted ${edge}`,
  // The row that contains the focus is the current one, to which keys apply, and is marked at its start; selected rows
  // are tinted. Links are recognizable by their weight, because underlining every row would clutter the list.
  row: "[&_a:not(:hover)]:decoration-transparent border-b border-line last:border-b-0 has-[a]:cursor-pointer hover:bg-hover has-[td:first-child_:checked]:bg-accent-soft focus-within:*:first:shadow-[inset_3px_0_var(--accent)]",
  cell: `h-11 py-1.5 ${edge}`,
};

const columnClass = <Row,>({ align, from = "always", isNarrow }: Column<Row>) =>
  `${shown[from]} ${align === "end" ? "text-end" : ""} ${isNarrow === true ? "w-px pe-0" : ""}`;

// Without a transition, so that hovering responds at once.
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

/** Renders again only when its row has changed: the cache keeps unchanged rows the same objects. */
// The cast restores the type parameter, which `memo` loses.
const TableRow = memo(PlainRow) as typeof PlainRow;

type TableProps<Row> = {
  /** Accessible name: what the rows are. */
  label: string;
  /** The same array in each render, so that unchanged rows are not rendered again. */
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => number | string;
  /** The key of the row whose details are shown. */
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
