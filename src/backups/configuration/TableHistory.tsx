// The row counts of each table in the last backups, as numbers and lines.
import { useMemo, useState } from "react";
import type { BackupCounts } from "../../../contract/backups/counts.ts";
import { countText } from "../../../contract/count-text.ts";
import { Button } from "../../ui/button/Button.tsx";
import { LineChart } from "../../ui/chart/LineChart.tsx";
import { niceCeiling } from "../../ui/chart/nice-ceiling.ts";
import { Panel } from "../../ui/page/Panel.tsx";
import { type Column, Table } from "../../ui/table/Table.tsx";
import { changeText, countReadout, linesOf } from "./count-series.ts";

type Series = BackupCounts["series"][number];

/** More are shown on request. */
const firstShown = 5;

function CountChart({ series, backups }: { series: Series; backups: BackupCounts["backups"] }) {
  const lines = linesOf(series, backups);
  const counts = series.counts.flatMap((count) => count ?? []);
  const top = niceCeiling(Math.max(10, ...counts));
  const moments = backups.map(({ started_at: at }) => Date.parse(at));
  const endMs = moments.at(-1) ?? 0;
  return (
    <LineChart
      name={`History of ${series.name}`}
      label={null}
      lines={lines}
      top={{ value: top, text: countText(top) }}
      endMs={endMs}
      spanMs={Math.max(1, endMs - (moments[0] ?? endMs))}
      now={`From ${countText(counts[0] ?? 0)} to ${countText(counts.at(-1) ?? 0)}`}
      readout={countReadout}
    />
  );
}

const makeColumns = ({ unit, backups }: BackupCounts): readonly Column<Series>[] => [
  {
    id: "name",
    header: unit === "rows" ? "Table" : "Content",
    cell: ({ name }) => (
      <span
        className={
          unit === "rows"
            ? "block font-mono text-xs wrap-anywhere sm:min-w-44"
            : "sm:whitespace-nowrap"
        }
      >
        {name}
      </span>
    ),
  },
  {
    id: "count",
    header: unit === "rows" ? "Rows" : "Number",
    align: "end",
    cell: ({ counts }) => {
      const now = counts.at(-1) ?? null;
      return now === null ? "–" : countText(now);
    },
  },
  { id: "change", header: "Change", align: "end", cell: changeText },
  {
    id: "chart",
    header: backups.length === 1 ? "Last backup" : `Last ${backups.length} backups`,
    from: "sm",
    isRest: true,
    cell: (series) => <CountChart series={series} backups={backups} />,
  },
];

export function TableHistory({ counts }: { counts: BackupCounts }) {
  const [isWhole, setIsWhole] = useState(false);
  const columns = useMemo(() => makeColumns(counts), [counts]);
  const { series, left_out: leftOut, unit } = counts;
  if (series.length === 0) return null;
  const title = unit === "rows" ? "Table history" : "File history";
  return (
    <Panel
      title={title}
      actions={
        series.length > firstShown && (
          <Button size="sm" onClick={() => setIsWhole(!isWhole)}>
            {isWhole ? `Show ${firstShown}` : `Show all ${series.length}`}
          </Button>
        )
      }
    >
      <Table
        label={title}
        columns={columns}
        rows={isWhole ? series : series.slice(0, firstShown)}
        keyOf={({ name }) => name}
      />
      {isWhole && leftOut > 0 && (
        <p className="px-4 py-3 text-xs text-muted max-sm:px-3">
          {countText(leftOut)} smaller {leftOut === 1 ? "table isn't" : "tables aren't"} shown.
        </p>
      )}
    </Panel>
  );
}
