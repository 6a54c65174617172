// Simulates the retention in the form: what each rule keeps after a year of the schedule, and when the storage is full.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { memo, useMemo } from "react";
import type { BackupConfiguration } from "../../../contract/backups/backup.ts";
import { keepPeriods, usedRules, type KeepRules } from "../../../contract/backups/keep-rules.ts";
import { type Column, Table, type TableLook } from "../../ui/table/Table.tsx";
import { formatBytes } from "../backup-facts.ts";
import { planForecastQuery } from "../queries.ts";
import { ageInWords, simulateYear, type KeptByRule, type YearOfBackups } from "./retention-year.ts";
import { isHold } from "../hold-text.ts";
import { RoomText } from "./StorageRoom.tsx";

type RetentionYearProps = {
  /** A valid schedule. */
  frequency: string;
  hold: number;
  keep: KeepRules | null;
  /** IANA name of the server's time zone. */
  timeZone: string;
  isIncremental: boolean;
  /** Usual size of a backup; null = unknown. */
  usualBytes: number | null;
  /** Midnight in UTC. */
  today: number;
  /** Null for a new configuration, which has no sizes yet. */
  configuration: BackupConfiguration | null;
};

/** For few rows within other text. */
const look: TableLook = {
  head: "text-xs text-muted",
  headCell: "pb-1 font-medium whitespace-nowrap",
  row: "last:border-t last:border-line last:font-medium",
  cell: "py-0.5 whitespace-nowrap",
};

type Row = KeptByRule & { newest: Date };

/** Draws a line for each backup. The table above has the same information. */
function Strip({ kept, newest, span, spanMs }: YearOfBackups) {
  const xOf = (at: Date) => 99.5 - (99 * (newest.getTime() - at.getTime())) / Math.max(1, spanMs);
  return (
    <div aria-hidden className="mt-2 text-xs text-muted">
      <svg
        viewBox="0 0 100 12"
        preserveAspectRatio="none"
        className="h-4 w-full border-b border-line stroke-accent rtl:-scale-x-100"
      >
        <path
          d={kept.map((at) => `M${xOf(at).toFixed(1)} 0v12`).join("")}
          vectorEffect="non-scaling-stroke"
          strokeWidth={1.5}
        />
      </svg>
      <p className="mt-0.5 flex justify-between">
        <span>{span} earlier</span>
        <span>newest</span>
      </p>
    </div>
  );
}

const columns: readonly Column<Row>[] = [
  { id: "rule", header: "Rule", cell: ({ label }) => label },
  { id: "count", header: "Backups", align: "end", cell: ({ kept }) => kept.length },
  {
    id: "oldest",
    header: "Oldest",
    align: "end",
    cell: ({ kept, newest }) => ageInWords(newest.getTime() - (kept.at(-1) ?? newest).getTime()),
  },
];

function PlannedRoom({
  configuration,
  ...plan
}: Pick<RetentionYearProps, "frequency" | "hold" | "keep"> & {
  configuration: BackupConfiguration;
}) {
  const { data: forecast } = useQuery({
    ...planForecastQuery(configuration.id, toPlan(plan)),
    placeholderData: keepPreviousData,
  });
  if (!forecast || forecast.stored_bytes === 0) return null;
  return <RoomText forecast={forecast} />;
}

const toPlan = ({
  frequency,
  hold,
  keep,
}: Pick<RetentionYearProps, "frequency" | "hold" | "keep">) => ({
  frequency,
  hold: String(hold),
  ...Object.fromEntries(
    keepPeriods.flatMap((period) => {
      const count = usedRules(keep)?.[period] ?? 0;
      return count === 0 ? [] : [[period, String(count)]];
    }),
  ),
});

/** Memoized: simulating a year of an hourly schedule takes 100 ms. */
export const RetentionYear = memo(function RetentionYear(props: RetentionYearProps) {
  const { frequency, hold, timeZone, isIncremental, usualBytes, today, configuration } = props;
  const rules = JSON.stringify(usedRules(props.keep));
  const year = useMemo(
    () =>
      simulateYear({
        frequency,
        timeZone,
        hold,
        keep: JSON.parse(rules),
        now: new Date(today),
        isIncremental,
      }),
    [frequency, timeZone, hold, rules, today, isIncremental],
  );
  const rows = useMemo(() => {
    if (year === null) return [];
    const { newest, kept } = year;
    return [...year.rules, { label: "Together", kept }].map((rule) => ({ ...rule, newest }));
  }, [year]);
  return (
    <div className="grid gap-2">
      {year !== null && (
        <section aria-label={`Kept after ${year.span}`}>
          <h3 className="mb-1 font-medium">
            Kept after {year.span}
            {usualBytes !== null && `: about ${formatBytes(year.kept.length * usualBytes, 2)}`}
          </h3>
          <Table
            label={`Backups kept after ${year.span}`}
            look={look}
            columns={columns}
            rows={rows}
            keyOf={({ label }) => label}
          />
          <Strip {...year} />
        </section>
      )}
      {configuration !== null && isHold(hold) && (
        <PlannedRoom {...{ frequency, hold, keep: props.keep, configuration }} />
      )}
    </div>
  );
});
