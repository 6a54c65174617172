// The tables in a database's backup, with the row counts at the time of the backup.
import { useDeferredValue, useMemo, useState } from "react";
import type { BackupContents } from "../../../contract/backups/contents.ts";
import { partTable } from "../../../contract/backups/part-names.ts";
import { countOf, countText } from "../../../contract/count-text.ts";
import { Field } from "../../ui/form/Field.tsx";
import { Input } from "../../ui/form/Input.tsx";
import { Panel } from "../../ui/page/Panel.tsx";
import { type Column, Table } from "../../ui/table/Table.tsx";
import { restoreColumn } from "./restore-column.tsx";

type Row = NonNullable<BackupContents["tables"]>[number];

/** Maximum number of rows that a browser renders without a delay. */
const maxShown = 500;

const columns: Column<Row>[] = [
  {
    id: "table",
    header: "Table",
    isRest: true,
    cell: ({ name }) => <span className="wrap-anywhere">{name}</span>,
  },
  { id: "rows", header: "Rows", align: "end", cell: ({ rows }) => countText(rows) },
];

/** Returns why a table cannot be restored separately: its name cannot be sent in a request. */
const whyNotAlone = (name: string): string | undefined =>
  partTable.safeParse(name).success
    ? undefined
    : "Its name has control characters, or is too long. Restore the whole database.";

type TablesPanelProps = {
  contents: BackupContents;
  /** Restores one table; null = impossible here. */
  restore: ((name: string) => void) | null;
  /** Why it is impossible now. */
  refusal: string | undefined;
};

export function TablesPanel({ contents, restore, refusal }: TablesPanelProps) {
  const all = useMemo(
    () =>
      restore === null
        ? columns
        : [...columns, restoreColumn<Row>(({ name }) => name, restore, refusal, whyNotAlone)],
    [restore, refusal],
  );
  const [wanted, setWanted] = useState("");
  const words = useDeferredValue(wanted).trim().toLowerCase();
  const { tables } = contents;
  const found = useMemo(
    () => (tables ?? []).filter(({ name }) => name.toLowerCase().includes(words)),
    [tables, words],
  );
  if (tables === null) return <p className="text-muted">This backup doesn't list its tables.</p>;
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const left = found.length - maxShown;
  return (
    <div className="grid gap-4">
      <div className="max-w-sm">
        <Field label="Find a table">
          {(aria) => (
            <Input
              {...aria}
              type="search"
              value={wanted}
              onChange={({ target }) => setWanted(target.value)}
            />
          )}
        </Field>
      </div>
      <Panel title={`${countOf(tables.length, "table")}, ${countOf(rows, "row")}`}>
        <Table
          label="Tables"
          columns={all}
          rows={found.slice(0, maxShown)}
          keyOf={({ name }) => name}
        />
        {found.length === 0 && (
          <p className="px-4 py-3 text-sm wrap-anywhere text-muted">
            {words === "" ? "The backup contains no tables." : `No results for “${wanted.trim()}”`}
          </p>
        )}
        {left > 0 && (
          <p className="border-t border-line px-4 py-2 text-sm text-muted">
            {countText(left)} more. Find a table by its name.
          </p>
        )}
      </Panel>
    </div>
  );
}
