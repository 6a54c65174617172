// Size and duration of the last finished runs, as bars in plain SVG. The table below the chart says the same in numbers.
import { absoluteText, durationText } from "../ui/time-text.ts";
import { formatBytes } from "./backup-facts.ts";
import { niceCeiling, type RunPoint } from "./run-series.ts";

type BarsProps = {
  label: string;
  points: readonly RunPoint[];
  valueOf: (point: RunPoint) => number;
  format: (value: number) => string;
  className: string;
};

const width = 300;
const height = 72;

function Bars({ label, points, valueOf, format, className }: BarsProps) {
  const top = niceCeiling(Math.max(...points.map(valueOf)));
  const step = width / Math.max(points.length, 10);
  const first = points[0];
  const last = points.at(-1);
  return (
    <figure className="grid gap-1">
      <figcaption className="flex justify-between text-xs text-muted">
        <span className="font-medium">{label}</span>
        <span>{format(top)}</span>
      </figcaption>
      <svg
        role="img"
        aria-label={`${label} of the last ${points.length} runs: from ${first && format(valueOf(first))} to ${last && format(valueOf(last))}`}
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        className={`h-18 w-full border-b border-edge ${className}`}
      >
        <line x1="0" x2={width} y1="0.5" y2="0.5" className="stroke-line" />
        <line x1="0" x2={width} y1={height / 2} y2={height / 2} className="stroke-line" />
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
              <title>{`Backup ${point.id}, ${absoluteText(new Date(point.startedAt))}: ${format(valueOf(point))}`}</title>
            </rect>
          );
        })}
      </svg>
    </figure>
  );
}

/** Nothing for fewer than two runs: one bar compares with nothing. */
export function RunChart({ points }: { points: readonly RunPoint[] }) {
  if (points.length < 2) return null;
  return (
    <div className="grid gap-6 sm:grid-cols-2">
      <Bars
        label="Size"
        points={points}
        valueOf={({ sizeBytes }) => sizeBytes}
        format={formatBytes}
        className="text-accent"
      />
      <Bars
        label="Duration"
        points={points}
        // A bar says seconds; what is shorter would be noise.
        valueOf={({ durationMs }) => durationMs}
        format={(ms) => (ms < 1000 ? `${Math.round(ms)} ms` : durationText(ms))}
        className="text-muted"
      />
    </div>
  );
}
