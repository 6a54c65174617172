// A line chart of one measure over time, in plain SVG. The pointer and the arrow keys select a point to read.
import { useState, type KeyboardEvent, type PointerEvent } from "react";
import { AxisFigures } from "./AxisFigures.tsx";

export type LinePoint = { atMs: number; value: number };

type LineChartProps<Point extends LinePoint> = {
  /** E.g. "CPU of process 1". */
  name: string;
  /** Heading; null = the context identifies the chart. */
  label: string | null;
  /** Connected points, oldest first; there is a gap between two lines. */
  lines: readonly (readonly Point[])[];
  /** Times marked by a dashed line. */
  marks?: readonly number[];
  /** Upper end of the axis. */
  top: { value: number; text: string };
  /** Right end and length of the time axis. */
  endMs: number;
  spanMs: number;
  /** Shown while no point is selected. */
  now: string;
  readout: (point: Point) => string;
};

const width = 300;
const height = 48;

export function LineChart<Point extends LinePoint>(props: LineChartProps<Point>) {
  const { name, label, lines, marks = [], top, endMs, spanMs, now, readout } = props;
  const [readMs, setReadMs] = useState<number | null>(null);
  const points = lines.flat();
  const last = points.at(-1);
  if (last === undefined) return null;
  const xOf = (atMs: number) => width * (1 - (endMs - atMs) / spanMs);
  const y = ({ value }: Point) => height * (1 - value / top.value);
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
        {label !== null && <span className="font-medium text-ink">{label}</span>}
        <span>{readMs === null ? now : readout(shown)}</span>
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
          aria-valuetext={readout(shown)}
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
            {marks.map((atMs) => (
              <line
                key={atMs}
                x1={xOf(atMs)}
                x2={xOf(atMs)}
                y2={height}
                className="stroke-warn"
                strokeDasharray="3 2"
                vectorEffect="non-scaling-stroke"
              />
            ))}
            {lines.map((line) => (
              <polyline
                key={line[0]?.atMs}
                points={(line.length === 1 ? [...line, ...line] : line)
                  .map((point) => `${xOf(point.atMs).toFixed(1)},${y(point).toFixed(1)}`)
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
                x1={xOf(shown.atMs)}
                x2={xOf(shown.atMs)}
                y2={height}
                className="stroke-muted"
                vectorEffect="non-scaling-stroke"
              />
            )}
          </svg>
        </div>
        <AxisFigures top={top.text} className="min-w-12 shrink-0 text-end text-xs text-muted" />
      </div>
    </figure>
  );
}
