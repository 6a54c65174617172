// What a schedule means: in words, and as its next runs. Loaded by itself, because the calendar behind it is large.
import { memo } from "react";
import { clockChangeNote, nextRuns } from "../../contract/backups/schedule.ts";
import { scheduleInWords } from "../../contract/backups/schedule-words.ts";
import { useClockText } from "../ui/clock.ts";
import { holdInWords, sampledRuns } from "./hold-words.ts";
import { momentInZone, viewersZone } from "./zone-text.ts";

const shownRuns = 5;
const minuteMs = 60_000;

type SchedulePreviewProps = {
  /** Valid. */
  frequency: string;
  hold: number;
  /** IANA name of the server's zone. */
  timeZone: string;
};

/** The calendar takes a while, so it is asked only when something else was typed. */
export const SchedulePreview = memo(function SchedulePreview({
  frequency,
  hold,
  timeZone,
}: SchedulePreviewProps) {
  // The runs change with the minute, not with the second.
  const minute = Number(useClockText((nowMs) => String(Math.floor(nowMs / minuteMs))));
  const now = new Date(minute * minuteMs);
  const coming = nextRuns(frequency, timeZone, now, sampledRuns);
  const runs = coming.slice(0, shownRuns);
  const change = clockChangeNote(frequency, timeZone, now);
  const reach = holdInWords(coming, hold);
  const isElsewhere = timeZone !== viewersZone;
  return (
    <div className="grid gap-3 text-sm">
      <p className="font-medium">{scheduleInWords(frequency)}</p>
      <table className="w-full text-start" aria-label="Next runs">
        <thead>
          <tr className="text-xs text-muted">
            <th scope="col" className="pb-1 font-medium">
              {timeZone}
            </th>
            {isElsewhere && (
              <th scope="col" className="pb-1 font-medium">
                {viewersZone} (yours)
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={run.getTime()}>
              <td className="py-0.5">{momentInZone(run, timeZone)}</td>
              {isElsewhere && (
                <td className="py-0.5 text-muted">{momentInZone(run, viewersZone)}</td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {change !== null && <p className="text-muted">{change}</p>}
      {reach !== null && <p className="text-muted">{reach}.</p>}
    </div>
  );
});
