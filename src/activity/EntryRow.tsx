import { memo } from "react";
import type { ActivityEntry } from "../../contract/activity.ts";
import { Link } from "../app/Link.tsx";
import { useClockText } from "../ui/time/clock.ts";
import { Icon } from "../ui/Icon.tsx";
import { LineDot } from "../ui/feedback/StatusDot.tsx";
import { dateLocale, relativeText } from "../ui/time/time-text.ts";
import { toneText } from "../ui/feedback/tone.ts";
import { EntryDetail } from "./EntryDetail.tsx";
import { dayStartMs } from "./days.ts";
import { sentenceOf } from "./sentence.ts";

function Outcome({ outcome }: Pick<ActivityEntry, "outcome">) {
  if (outcome === null) return <LineDot tone="idle" />;
  return (
    <span className={toneText[outcome]}>
      {/* Successes are most of the timeline, so they are unobtrusive. */}
      {outcome === "good" ? <LineDot tone="good" /> : <Icon name="alert" />}
      <span className="sr-only">{outcome === "good" ? "Success" : "Failure"}: </span>
    </span>
  );
}

function Sentence({ entry, isGone }: { entry: ActivityEntry; isGone: boolean }) {
  const { before, name, after, to } = sentenceOf(entry);
  return (
    <p className="min-h-5 wrap-anywhere">
      {before}{" "}
      {to === null || isGone ? (
        <span className="font-medium">{name}</span>
      ) : (
        <Link
          to={to}
          className="font-medium underline decoration-transparent underline-offset-4 hover:decoration-current"
        >
          {name}
        </Link>
      )}{" "}
      {after}
    </p>
  );
}

function Actor({ actor }: Pick<ActivityEntry, "actor">) {
  if (actor.type !== "token")
    return (
      <p className="truncate text-muted">
        <span className="sr-only">by </span>
        {actor.name}
      </p>
    );
  return (
    <p className="flex min-w-0 items-center gap-1 text-muted" data-tip={`Token ${actor.name}`}>
      <span className="sr-only">by token </span>
      <Icon name="key" />
      <span className="min-w-0 truncate">{actor.name}</span>
    </p>
  );
}

const clock = new Intl.DateTimeFormat(dateLocale, { timeStyle: "short" });

/** Relative time; below the heading of an earlier day, the time of day. */
function EntryTime({ value }: { value: string }) {
  const moment = new Date(value);
  const text = useClockText((nowMs) =>
    dayStartMs(moment) === dayStartMs(new Date(nowMs))
      ? relativeText(moment.getTime(), nowMs)
      : clock.format(moment),
  );
  return (
    <time dateTime={value} className="whitespace-nowrap">
      {text}
    </time>
  );
}

type EntryRowProps = {
  entry: ActivityEntry;
  /** Whether its object is known to be deleted. */
  isGone: boolean;
  /** Server and site, unless they are obvious; "" = they are. */
  location: string;
};

/** Renders again only when one of its own texts has changed. */
export const EntryRow = memo(function EntryRow({ entry, isGone, location }: EntryRowProps) {
  return (
    <li
      data-row
      className="grid grid-cols-[1rem_minmax(0,1fr)] items-start gap-x-3 gap-y-0.5 border-b border-line px-4 py-2 text-sm last:border-b-0 max-sm:px-3 @3xl:grid-cols-[6.5rem_1rem_minmax(0,1fr)_minmax(0,12rem)_minmax(0,11rem)]"
    >
      <div className="mt-0.5 @3xl:col-start-2">
        <Outcome outcome={entry.outcome} />
      </div>
      <div className="grid min-w-0 gap-0.5 @3xl:col-start-3">
        <Sentence entry={entry} isGone={isGone} />
        {entry.detail !== null && entry.detail !== "" && (
          <EntryDetail text={entry.detail} about={entry.object.name} />
        )}
      </div>
      {/* Below the sentence in one line, or next to it in three columns. */}
      <div className="col-start-2 flex min-w-0 flex-wrap gap-x-3 text-xs text-muted @3xl:contents @3xl:text-sm">
        <p className="@3xl:col-start-1 @3xl:row-start-1">
          <EntryTime value={entry.at} />
        </p>
        <p
          className="min-w-0 truncate empty:hidden @3xl:col-start-4 @3xl:row-start-1"
          data-tip={location.length > 26 ? location : undefined}
        >
          {location}
        </p>
        <div className="min-w-0 @3xl:col-start-5 @3xl:row-start-1">
          <Actor actor={entry.actor} />
        </div>
      </div>
    </li>
  );
});
