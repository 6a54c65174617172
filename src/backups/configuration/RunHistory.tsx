// A chart of the last runs: outcome, size and duration of each in a column that links to its backup. The hovered or
// focused run is described above; the table of backups has the same numbers.
import { type KeyboardEvent, useState } from "react";
import { Link } from "../../app/Link.tsx";
import { paths } from "../../paths.ts";
import { AxisFigures } from "../../ui/chart/AxisFigures.tsx";
import { niceCeiling } from "../../ui/chart/nice-ceiling.ts";
import { dateLocale } from "../../ui/time/time-text.ts";
import { formatBytes, spanText } from "../backup-facts.ts";
import { RunMark } from "./RunMark.tsx";
import { niceSpanMs, type RunPoint } from "./run-series.ts";
import { momentInZone, viewersZone } from "../zone-text.ts";

/** A narrow panel shows ten runs, a wider one twenty, so that columns are wide enough for touch. */
const visibility = (age: number): string =>
  age < 10 ? "" : age < 20 ? "@max-2xl:hidden" : "@max-4xl:hidden";

/** Every fifth column has a date below it. */
const tickEvery = 5;

const dayText = new Intl.DateTimeFormat(dateLocale, { day: "numeric", month: "short" });
const timeText = new Intl.DateTimeFormat(dateLocale, {
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});

/** Returns dates or, where all runs are on one day, times. */
function tickText(points: readonly RunPoint[]): (point: RunPoint) => string {
  const days = new Set(points.map(({ startedAt }) => dayText.format(new Date(startedAt))));
  const format = days.size > 1 ? dayText : timeText;
  return ({ startedAt }) => format.format(new Date(startedAt));
}

/** "Thu, 12 Nov, 02:30", "finished", "4.1 MB", "0.6 s". */
const facts = ({ startedAt, status, outcome, sizeBytes, durationMs }: RunPoint): string[] => [
  momentInZone(new Date(startedAt), viewersZone),
  outcome === "damaged" ? outcome : status,
  ...(sizeBytes === null ? [] : [formatBytes(sizeBytes)]),
  ...(durationMs === null ? [] : [spanText(durationMs)]),
];

type BarProps = { value: number | null; top: number; className: string };

/** Stretched to its column, so it has only straight lines. */
function Bar({ value, top, className }: BarProps) {
  const height = value === null ? 0 : Math.max(1.5, (100 * value) / top);
  return (
    <svg
      aria-hidden
      viewBox="0 0 100 100"
      preserveAspectRatio="none"
      className={`block w-full border-y border-t-line border-b-edge ${className}`}
    >
      <rect x="18" width="64" y={100 - height} height={height} fill="currentColor" />
    </svg>
  );
}

const failedBar = "text-bad";

/** Moves the focus to another column; the list is a single tab stop. */
function moveFocus(event: KeyboardEvent<HTMLAnchorElement>): void {
  const links = [...(event.currentTarget.closest("ol")?.querySelectorAll("a") ?? [])].filter(
    (link) => link.checkVisibility(),
  );
  const at = links.indexOf(event.currentTarget);
  const targets: Partial<Record<string, number>> = {
    ArrowLeft: at - 1,
    ArrowRight: at + 1,
    Home: 0,
    End: links.length - 1,
  };
  const target = targets[event.key];
  if (target === undefined) return;
  event.preventDefault();
  links[target]?.focus();
}

export function RunHistory({ points }: { points: readonly RunPoint[] }) {
  const [pointed, setPointed] = useState<number | null>(null);
  const [focused, setFocused] = useState<number | null>(null);
  const newest = points.at(-1);
  if (newest === undefined) return null;
  const sizeTop = niceCeiling(Math.max(...points.map(({ sizeBytes }) => sizeBytes ?? 0)));
  const durationTop = niceSpanMs(Math.max(...points.map(({ durationMs }) => durationMs ?? 0)));
  const tick = tickText(points);
  const shownId = pointed ?? focused ?? newest.id;
  const shown = points.find(({ id }) => id === shownId) ?? newest;
  const [moment, ...rest] = facts(shown);
  return (
    <figure className="grid grid-cols-1 gap-2 text-xs text-muted">
      {/* Hidden from screen readers, which read the names of the columns. Has a fixed height, so that nothing below
         moves. */}
      <p
        aria-hidden
        className="flex min-h-5 @max-md:min-h-10 @max-md:content-start flex-wrap items-center gap-x-3 text-sm"
      >
        <RunMark outcome={shown.outcome} />
        <span className="font-medium text-ink">{shown === newest ? "Last run" : moment}</span>
        {shown === newest && <span>{moment}</span>}
        {rest.map((fact) => (
          <span key={fact}>{fact}</span>
        ))}
      </p>
      <div className="relative flex gap-2">
        <p aria-hidden className="pointer-events-none absolute start-0 top-7 leading-6 text-ink">
          Size
        </p>
        <p aria-hidden className="pointer-events-none absolute start-0 top-31 leading-6 text-ink">
          Duration
        </p>
        <ol aria-label="Last runs, oldest first" className="flex min-w-0">
          {points.map((point, index) => {
            const age = points.length - 1 - index;
            const { id, outcome, sizeBytes, durationMs } = point;
            return (
              <li key={id} className={`w-12 min-w-6 shrink ${visibility(age)}`}>
                <Link
                  to={paths.backup(id)}
                  aria-label={`Backup ${id}: ${facts(point).join(", ")}`}
                  tabIndex={id === (focused ?? newest.id) ? 0 : -1}
                  onPointerEnter={() => setPointed(id)}
                  onPointerLeave={() => setPointed(null)}
                  onFocus={() => setFocused(id)}
                  onBlur={() => setFocused(null)}
                  onKeyDown={moveFocus}
                  className="block rounded-sm -outline-offset-2 hover:bg-hover focus-visible:bg-hover"
                >
                  <span className="mb-6 flex h-7 items-center justify-center">
                    <RunMark outcome={outcome} />
                  </span>
                  <Bar value={sizeBytes} top={sizeTop} className="mb-6 h-18 text-brand" />
                  <Bar
                    value={durationMs}
                    top={durationTop}
                    className={`h-14 ${outcome === "failed" ? failedBar : "text-muted"}`}
                  />
                </Link>
                <span aria-hidden className="block h-5 w-0 leading-5 whitespace-nowrap">
                  {age % tickEvery === 0 && (
                    <span className="relative start-3 inline-block -translate-x-1/2">
                      {tick(point)}
                    </span>
                  )}
                </span>
              </li>
            );
          })}
        </ol>
        <div aria-hidden className="min-w-12 shrink-0 pt-13">
          <AxisFigures top={formatBytes(sizeTop)} className="mb-6 h-18" />
          <AxisFigures top={spanText(durationTop)} className="h-14" />
        </div>
      </div>
    </figure>
  );
}
