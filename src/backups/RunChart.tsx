// Size and duration of the last finished runs, as bars in plain SVG. The table of backups says the same in numbers.
import { formatBytes, spanText } from "./backup-facts.ts";
import { niceCeiling, niceSpanMs, type RunPoint } from "./run-series.ts";
import { momentInZone, viewersZone } from "./zone-text.ts";

type Measure = {
  label: string;
  valueOf: (point: RunPoint) => number;
  format: (value: number) => string;
  /** Where the axis ends for the largest value. */
  topOf: (value: number) => number;
  className: string;
};

const width = 300;
const height = 72;
/** Few bars stay narrow, so that they look like bars. */
const fewestSlots = 12;

const size: Measure = {
  label: "Size",
  valueOf: ({ sizeBytes }) => sizeBytes,
  format: formatBytes,
  topOf: niceCeiling,
  className: "text-accent",
};

const duration: Measure = {
  label: "Duration",
  valueOf: ({ durationMs }) => durationMs,
  format: spanText,
  topOf: niceSpanMs,
  className: "text-muted",
};

const momentOf = ({ startedAt }: RunPoint) => momentInZone(new Date(startedAt), viewersZone);

const dayText = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const dayOf = ({ startedAt }: RunPoint) => dayText.format(new Date(startedAt));

type BarsProps = Measure & { points: readonly RunPoint[]; first: RunPoint; last: RunPoint };

function Bars({ label, valueOf, format, topOf, className, points, first, last }: BarsProps) {
  const values = points.map(valueOf);
  const top = topOf(Math.max(...values));
  const step = width / Math.max(points.length, fewestSlots);
  const range = `between ${format(Math.min(...values))} and ${format(Math.max(...values))}, newest ${format(valueOf(last))}`;
  return (
    <figure className="grid min-w-0 grid-cols-1 content-start gap-1">
      <figcaption className="flex items-baseline gap-2 text-xs text-muted">
        <span className="font-medium text-ink">{label}</span>
        <span>newest {format(valueOf(last))}</span>
      </figcaption>
      <div className="flex gap-1.5">
        <svg
          role="img"
          aria-label={`${label} of the last ${points.length} finished runs: ${range}`}
          viewBox={`0 0 ${width} ${height}`}
          preserveAspectRatio="none"
          className={`h-18 min-w-0 flex-1 border-b border-edge ${className}`}
        >
          {[0.5, height / 2].map((y) => (
            <line
              key={y}
              x2={width}
              y1={y}
              y2={y}
              className="stroke-line"
              vectorEffect="non-scaling-stroke"
            />
          ))}
          {points.map((point, index) => {
            const bar = Math.max(1, (height * valueOf(point)) / top);
            return (
              <rect
                key={point.id}
                x={index * step + step * 0.15}
                y={height - bar}
                width={step * 0.7}
                height={bar}
                fill="currentColor"
              >
                <title>{`Backup ${point.id}, ${momentOf(point)}: ${format(valueOf(point))}`}</title>
              </rect>
            );
          })}
        </svg>
        <div
          aria-hidden
          className="flex h-18 min-w-12 flex-col justify-between text-xs leading-none text-muted"
        >
          <span>{format(top)}</span>
          <span>{format(top / 2)}</span>
          <span>0</span>
        </div>
      </div>
      <p className="text-xs text-muted">
        {dayOf(first)} – {dayOf(last)}, {points.length} runs
      </p>
    </figure>
  );
}

/** Nothing for fewer than two runs: one bar compares with nothing. */
export function RunChart({ points }: { points: readonly RunPoint[] }) {
  const [first] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined || points.length < 2) return null;
  return (
    <div className="grid grid-cols-1 gap-6 sm:grid-cols-2">
      {[size, duration].map((measure) => (
        <Bars key={measure.label} {...measure} points={points} first={first} last={last} />
      ))}
    </div>
  );
}
