// Compares the contents of the backup with what it would replace.
import { useQuery } from "@tanstack/react-query";
import type { BackupContents, CurrentContents } from "../../../contract/backups/contents.ts";
import { countOf, countText } from "../../../contract/count-text.ts";
import { Panel } from "../../ui/page/Panel.tsx";
import { Skeleton } from "../../ui/feedback/Skeleton.tsx";
import { type Column, Table } from "../../ui/table/Table.tsx";
import { formatBytes } from "../backup-facts.ts";
import { compareCounts, type ComparedCount } from "./compared-counts.ts";
import { currentContentsQuery, type TargetType } from "./queries.ts";
import { ReadError } from "./ReadError.tsx";

const cellText = (count: number | null) => (count === null ? "–" : countText(count));

const nameColumn: Column<ComparedCount> = {
  id: "table",
  header: "Table",
  isRest: true,
  cell: ({ name }) => <span className="wrap-anywhere">{name}</span>,
};
const backupColumn: Column<ComparedCount> = {
  id: "backup",
  header: "Backup",
  align: "end",
  cell: ({ backup }) => cellText(backup),
};
const nowColumn: Column<ComparedCount> = {
  id: "now",
  header: "Now",
  align: "end",
  cell: ({ backup, now }) => (
    <span className={backup === now ? "text-muted" : "font-medium text-warn"}>{cellText(now)}</span>
  ),
};
const compared = [nameColumn, backupColumn, nowColumn];
const alone = [nameColumn, backupColumn];

/** Maximum number of rows, sorted by difference: nobody compares more. */
const maxRows = 200;

function CurrentState({ current, name }: { current: CurrentContents; name: string }) {
  if (current.problem !== null)
    return (
      <p className="text-warn">
        Couldn't read {name}: {current.problem}
      </p>
    );
  if (current.is_empty === true) return <p>{name} is empty.</p>;
  return current.saved_by === null ? (
    <p className="text-warn">
      {name} holds data, and no backup configuration saves it first. Set up a backup of it, or
      restore without a backup.
    </p>
  ) : (
    <p>“{current.saved_by.name}” backs up current data first.</p>
  );
}

type ComparisonPanelProps = {
  contents: BackupContents;
  /** Null = a new database, or nothing is selected yet. */
  target: { type: TargetType; id: number; name: string } | null;
};

export function ComparisonPanel({ contents, target }: ComparisonPanelProps) {
  const {
    data: current,
    error,
    isFetching,
    refetch,
  } = useQuery({
    ...currentContentsQuery(target?.type ?? "database", target?.id ?? 0),
    enabled: target !== null,
    // Counting is expensive for the database, and a snapshot suffices.
    staleTime: 60_000,
    retry: false,
  });
  const now = target === null ? null : (current ?? null);
  const rows = contents.tables === null ? [] : compareCounts(contents.tables, now?.tables ?? null);
  const left = rows.length - maxRows;
  return (
    <Panel title={target === null ? "In the backup" : "Backup and current data"}>
      <div className="grid gap-2 px-4 py-3 text-sm" aria-live="polite">
        {target !== null && now === null && isFetching && (
          <p className="flex items-center gap-2 text-muted">
            Reading {target.name}… <Skeleton width="w-12" />
          </p>
        )}
        {target !== null && error !== null && (
          <ReadError error={error} isReading={isFetching} onRetry={() => void refetch()} />
        )}
        {target !== null && now !== null && <CurrentState current={now} name={target.name} />}
        {contents.entries !== null && (
          <p>
            The backup contains {countText(contents.entries)} files and folders,{" "}
            {formatBytes(contents.bytes ?? 0)}.
          </p>
        )}
        {contents.tables === null && contents.entries === null && (
          <p className="text-muted">The backup doesn't list its contents.</p>
        )}
        {target === null && rows.length > 0 && (
          <p>The backup contains {countOf(rows.length, "table")}.</p>
        )}
        {contents.tables?.length === 0 && <p>The backup contains no tables.</p>}
      </div>
      {rows.length > 0 && (
        <div className="max-h-96 overflow-auto border-t border-line">
          <Table
            label="Rows by table"
            columns={now?.tables == null ? alone : compared}
            rows={rows.slice(0, maxRows)}
            keyOf={({ name }) => name}
          />
        </div>
      )}
      {left > 0 && (
        <p className="border-t border-line px-4 py-2 text-sm text-muted">
          {countText(left)} more tables
        </p>
      )}
    </Panel>
  );
}
