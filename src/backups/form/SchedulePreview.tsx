// Describes a schedule in words and by its next runs.
import { memo, Suspense, useMemo } from "react";
import { optionalPart } from "../../app/routing/optional-part.ts";
import type { BackupConfiguration } from "../../../contract/backups/backup.ts";
import { usedRules, type KeepRules } from "../../../contract/backups/keep-rules.ts";
import { clockChangeNote, nextRuns } from "../../../contract/backups/schedule.ts";
import { useClockText } from "../../ui/time/clock.ts";
import { type Column, Table, type TableLook } from "../../ui/table/Table.tsx";
import { Skeleton } from "../../ui/feedback/Skeleton.tsx";
import { presets } from "./configuration-form.ts";
import { holdText, sampledRuns } from "../hold-text.ts";
import { momentInZone, viewersZone } from "../zone-text.ts";

const shownRuns = 5;
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

type SchedulePreviewProps = {
  /** A valid schedule. */
  frequency: string;
  hold: number;
  keep: KeepRules | null;
  /** IANA name of the server's time zone. */
  timeZone: string;
  isIncremental: boolean;
  /** Usual size of a backup; null = unknown. */
  usualBytes: number | null;
  /** Null for a new configuration. */
  configuration: BackupConfiguration | null;
};

/** Loaded on demand: the code is larger than the rest of the form, and presets have their own texts. */
const ScheduleWords = optionalPart(async () => {
  const { scheduleText } = await import("../../../contract/backups/schedule-text.ts");
  return ({ frequency }: { frequency: string }) => scheduleText(frequency);
});

/** Loaded on demand: a new configuration without keep rules does not need it. */
const RetentionYear = optionalPart(
  async () => (await import("../configuration/RetentionYear.tsx")).RetentionYear,
);

/** For few rows within other text. */
const look: TableLook = {
  head: "text-xs text-muted",
  headCell: "pb-1 font-medium",
  row: "",
  cell: "py-0.5",
};

const makeColumns = (timeZone: string): readonly Column<Date>[] => [
  { id: "server", header: timeZone, cell: (run) => momentInZone(run, timeZone) },
  ...(timeZone === viewersZone ? [] : [viewersColumn]),
];

const viewersColumn: Column<Date> = {
  id: "viewer",
  header: `${viewersZone} (yours)`,
  cell: (run) => <span className="text-muted">{momentInZone(run, viewersZone)}</span>,
};

/** Memoized, because computing the runs takes a while. */
export const SchedulePreview = memo(function SchedulePreview({
  frequency,
  hold,
  keep,
  timeZone,
  isIncremental,
  usualBytes,
  configuration,
}: SchedulePreviewProps) {
  // The runs change by the minute, not by the second.
  const minute = Number(useClockText((nowMs) => String(Math.floor(nowMs / minuteMs))));
  const now = new Date(minute * minuteMs);
  const coming = nextRuns(frequency, timeZone, now, sampledRuns);
  const runs = coming.slice(0, shownRuns);
  const change = clockChangeNote(frequency, timeZone, now);
  const reach = holdText(coming, hold);
  const preset = presets.find((one) => one.frequency === frequency);
  const columns = useMemo(() => makeColumns(timeZone), [timeZone]);
  return (
    <div className="grid gap-3 text-sm">
      <p className="font-medium">
        {preset?.label ?? (
          <Suspense fallback={<Skeleton width="w-40" />}>
            <ScheduleWords frequency={frequency} />
          </Suspense>
        )}
      </p>
      <Table
        label="Next runs"
        look={look}
        columns={columns}
        rows={runs}
        keyOf={(run) => run.getTime()}
      />
      {change !== null && <p className="text-muted">{change}</p>}
      {reach !== null && <p className="text-muted">{reach}.</p>}
      {(configuration !== null || usedRules(keep) !== null) && (
        <Suspense fallback={<Skeleton width="w-40" />}>
          <RetentionYear
            {...{ frequency, hold, keep, timeZone, isIncremental, usualBytes, configuration }}
            today={Math.floor(now.getTime() / dayMs) * dayMs}
          />
        </Suspense>
      )}
    </div>
  );
});
