// What a schedule means: in words, and as its next runs.
import { memo, Suspense, useMemo } from "react";
import { optionalPart } from "../app/optional-part.ts";
import type { BackupConfiguration } from "../../contract/backups/backup.ts";
import { usedRules, type KeepRules } from "../../contract/backups/keep-rules.ts";
import { clockChangeNote, nextRuns } from "../../contract/backups/schedule.ts";
import { useClockText } from "../ui/clock.ts";
import { type Column, Table, type TableLook } from "../ui/Table.tsx";
import { Skeleton } from "../ui/Skeleton.tsx";
import { presets } from "./configuration-form.ts";
import { holdText, sampledRuns } from "./hold-text.ts";
import { momentInZone, viewersZone } from "./zone-text.ts";

const shownRuns = 5;
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

type SchedulePreviewProps = {
  /** Valid. */
  frequency: string;
  hold: number;
  keep: KeepRules | null;
  /** IANA name of the server's zone. */
  timeZone: string;
  isIncremental: boolean;
  /** How large a backup usually is; null = nobody knows yet. */
  usualBytes: number | null;
  /** Null for a new one. */
  configuration: BackupConfiguration | null;
};

/** The words for any schedule weigh more than the rest of the form, and a preset has its own. */
const ScheduleWords = optionalPart(async () => {
  const { scheduleText } = await import("../../contract/backups/schedule-text.ts");
  return ({ frequency }: { frequency: string }) => scheduleText(frequency);
});

/** Nothing is to be tried out for a new one without keep rules. */
const RetentionYear = optionalPart(async () => (await import("./RetentionYear.tsx")).RetentionYear);

/** A few lines among other text. */
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

/** The calendar takes a while, so it is asked only when something else was typed. */
export const SchedulePreview = memo(function SchedulePreview({
  frequency,
  hold,
  keep,
  timeZone,
  isIncremental,
  usualBytes,
  configuration,
}: SchedulePreviewProps) {
  // The runs change with the minute, not with the second.
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
