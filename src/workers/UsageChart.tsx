// One measure of one process over the last hour, in plain SVG. The pointer and the arrow keys read its points.
import { useState, type KeyboardEvent, type PointerEvent } from "react";
import { AxisFigures } from "../ui/AxisFigures.tsx";
import { type Measure, readout, runsOf, type UsagePoint } from "./usage-series.ts";

const width = 300;
const height = 48;

type UsageChartProps = {
  /** E.g. "CPU of process 1". */
  name: string;
  measure: Measure;
  points: readonly UsagePoint[];
  everyMs: number;
  /** Where the axis ends, the same for all charts of a page. */
  endMs: number;
  /** How much time the axis has. */
  spanMs: number;
};

export function UsageChart({ name, measure, points, everyMs, endMs, spanMs }: UsageChartProps) {
  const [readMs, setReadMs] = useState<number | null>(null);
  const last = points.at(-1);
  if (last === undefined) return <p className="text-sm text-muted">No samples yet.</p>;
  const top = measure.topOf(Math.max(...points.map(({ value }) => value)));
  const x = ({ atMs }: UsagePoint) => width * (1 - (endMs - atMs) / spanMs);
  const y = ({ value }: UsagePoint) => height * (1 - value / top);
  const nearest = (ms: number) =>
    points.reduce((best, point) =>
      Math.abs(point.atMs - ms) < Math.abs(best.atMs - ms) ? point : best,
    );
  const shown = readMs === null ? last : nearest(readMs);
  const index = points.indexOf(shown);

  const readPointer = ({ clientX, currentTarget }: PointerEvent) => {
    const { left, width: wide } = currentTarget.getBoundingClientRect();
    setReadMs(endMs - spanMs * (1 - (clientX - left) / wide));
  };
  const readKey = (event: KeyboardEvent) => {
    const steps: Record<string, number> = {
      ArrowLeft: index - 1,
      ArrowRight: index + 1,
      Home: 0,
      End: points.length - 1,
    };
    const step = steps[event.key];
    const point = step === undefined ? undefined : points[Math.max(0, step)];
    if (point === undefined) return;
    event.preventDefault();
    setReadMs(point.atMs);
  };

  return (
    <figure className="grid min-w-0 gap-1">
      <figcaption className="flex flex-wrap justify-between gap-x-3 text-xs text-muted">
        <span className="font-medium text-ink">{measure.label}</span>
        <span>
          {readMs === null ? `now ${measure.format(last.value)}` : readout(shown, measure)}
        </span>
      </figcaption>
      <div className="flex gap-2">
        <div
          // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a range input cannot hold the drawing that it reads
          role="slider"
          tabIndex={0}
          aria-label={name}
          aria-valuemin={0}
          aria-valuemax={points.length - 1}
          aria-valuenow={index}
          aria-valuetext={readout(shown, measure)}
          onPointerMove={readPointer}
          onPointerLeave={() => setReadMs(null)}
          onKeyDown={readKey}
          onBlur={() => setReadMs(null)}
          className="min-w-0 flex-1 rounded-sm"
        >
          <svg
            aria-hidden
            viewBox={`0 0 ${width} ${height}`}
            preserveAspectRatio="none"
            className="block h-12 w-full border-y border-t-line border-b-edge text-accent"
          >
            {points
              .filter(({ started }) => started !== null)
              .map((point) => (
                <line
                  key={point.atMs}
                  x1={x(point)}
                  x2={x(point)}
                  y2={height}
                  className="stroke-warn"
                  strokeDasharray="3 2"
                  vectorEffect="non-scaling-stroke"
                />
              ))}
            {runsOf(points, everyMs).map((run) => (
              <polyline
                key={run[0]?.atMs}
                points={(run.length === 1 ? [...run, ...run] : run)
                  .map((point) => `${x(point).toFixed(1)},${y(point).toFixed(1)}`)
                  .join(" ")}
                fill="none"
                stroke="currentColor"
                strokeWidth="1.5"
                strokeLinecap="round"
                vectorEffect="non-scaling-stroke"
              />
            ))}
            {readMs !== null && (
              <line
                x1={x(shown)}
                x2={x(shown)}
                y2={height}
                className="stroke-muted"
                vectorEffect="non-scaling-stroke"
              />
            )}
          </svg>
        </div>
        <AxisFigures
          top={measure.format(top)}
          className="min-w-12 shrink-0 text-end text-xs text-muted"
        />
      </div>
    </figure>
  );
}
