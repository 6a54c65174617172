import { memo, useId } from "react";
import type { ActivityEntry } from "../../contract/activity.ts";
import { useClockText } from "../ui/time/clock.ts";
import { EntryRow } from "./EntryRow.tsx";
import { keyOf } from "./sentence.ts";
import { type Day, dayText } from "./days.ts";

type DayListProps = {
  day: Day;
  gone: ReadonlySet<string>;
  locationOf: (entry: ActivityEntry) => string;
};

/** Separate, because only this part follows the clock. */
const DayText = memo(({ startMs }: { startMs: number }) =>
  useClockText((nowMs) => dayText(startMs, nowMs)),
);

export function DayList({ day, gone, locationOf }: DayListProps) {
  const titleId = useId();
  return (
    <section aria-labelledby={titleId}>
      <h2
        id={titleId}
        className="border-y border-line bg-sunken px-4 py-1.5 text-xs font-medium text-muted max-sm:px-3"
      >
        <DayText startMs={day.startMs} />
      </h2>
      <ol>
        {day.entries.map((entry) => (
          <EntryRow
            key={entry.id}
            entry={entry}
            isGone={gone.has(keyOf(entry))}
            location={locationOf(entry)}
          />
        ))}
      </ol>
    </section>
  );
}
