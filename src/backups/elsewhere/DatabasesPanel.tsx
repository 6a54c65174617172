// The databases in a backup of a whole server, each of which can be restored separately.
import { useMemo } from "react";
import type { BackupContents } from "../../../contract/backups/contents.ts";
import { countOf, countText } from "../../../contract/count-text.ts";
import { Panel } from "../../ui/page/Panel.tsx";
import { type Column, Table } from "../../ui/table/Table.tsx";
import { restoreColumn } from "./restore-column.tsx";

type Row = NonNullable<BackupContents["databases"]>[number];

const rowsIn = ({ tables }: Row): number => tables.reduce((sum, { rows }) => sum + rows, 0);

const columns: Column<Row>[] = [
  {
    id: "database",
    header: "Database",
    isRest: true,
    cell: ({ name }) => <span className="wrap-anywhere">{name}</span>,
  },
  {
    id: "tables",
    header: "Tables",
    align: "end",
    cell: ({ tables }) => countText(tables.length),
  },
  { id: "rows", header: "Rows", align: "end", cell: (row) => countText(rowsIn(row)) },
];

type DatabasesPanelProps = {
  databases: readonly Row[];
  /** Restores one database; null = impossible here. */
  restore: ((name: string) => void) | null;
  /** Why it is impossible now. */
  refusal: string | undefined;
};

export function DatabasesPanel({ databases, restore, refusal }: DatabasesPanelProps) {
  const all = useMemo(
    () =>
      restore === null
        ? columns
        : [...columns, restoreColumn<Row>(({ name }) => name, restore, refusal)],
    [restore, refusal],
  );
  return (
    <div className="mb-6">
      <Panel title={countOf(databases.length, "database")}>
        <Table label="Databases" columns={all} rows={databases} keyOf={({ name }) => name} />
      </Panel>
    </div>
  );
}
