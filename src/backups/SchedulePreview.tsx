// What a schedule means: in words, and as its next runs. Loaded by itself, because the calendar behind it is large.
import { clockChangeNote, nextRuns } from "../../contract/backups/schedule.ts";
import { scheduleInWords } from "../../contract/backups/schedule-words.ts";
import { useClockText } from "../ui/clock.ts";
import { momentInZone, viewersZone } from "./zone-text.ts";

const shownRuns = 5;
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** How far back the kept backups reach, e.g. "7 are kept: about 7 days back". */
function reachInWords(runs: readonly Date[], hold: number): string | null {
  const [first, second] = runs;
  if (first === undefined || second === undefined || !Number.isInteger(hold) || hold < 1)
    return null;
  const ms = (second.getTime() - first.getTime()) * hold;
  const days = Math.round(ms / dayMs);
  const hours = Math.round(ms / (60 * minuteMs));
  const reach = days >= 2 ? `${days} days` : `${hours} ${hours === 1 ? "hour" : "hours"}`;
  return `${hold} ${hold === 1 ? "is" : "are"} kept: about ${reach} back`;
}

type SchedulePreviewProps = {
  /** Valid. */
  frequency: string;
  hold: number;
  /** IANA name of the server's zone. */
  timeZone: string;
};

export function SchedulePreview({ frequency, hold, timeZone }: SchedulePreviewProps) {
  // The runs change with the minute, not with the second.
  const minute = Number(useClockText((nowMs) => String(Math.floor(nowMs / minuteMs))));
  const now = new Date(minute * minuteMs);
  const runs = nextRuns(frequency, timeZone, now, shownRuns);
  const change = clockChangeNote(frequency, timeZone, now);
  const reach = reachInWords(runs, hold);
  const isElsewhere = timeZone !== viewersZone;
  return (
    <div className="grid gap-3 text-sm">
      <p className="font-medium">{scheduleInWords(frequency)}</p>
      <table className="w-full text-left" aria-label="Next runs">
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
}
