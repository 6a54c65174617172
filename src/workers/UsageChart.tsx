// A chart of one measure of one process over the last hour.
import { LineChart } from "../ui/chart/LineChart.tsx";
import { type Measure, readout, runsOf, type UsagePoint } from "./usage-series.ts";

type UsageChartProps = {
  /** E.g. "CPU of process 1". */
  name: string;
  measure: Measure;
  points: readonly UsagePoint[];
  everyMs: number;
  /** End of the time axis, the same for all charts of a page. */
  endMs: number;
  /** Length of the time axis. */
  spanMs: number;
};

export function UsageChart({ name, measure, points, everyMs, endMs, spanMs }: UsageChartProps) {
  const last = points.at(-1);
  if (last === undefined) return <p className="text-sm text-muted">No samples yet.</p>;
  const top = measure.topOf(Math.max(...points.map(({ value }) => value)));
  return (
    <LineChart
      name={name}
      label={measure.label}
      lines={runsOf(points, everyMs)}
      marks={points.filter(({ started }) => started !== null).map(({ atMs }) => atMs)}
      top={{ value: top, text: measure.format(top) }}
      endMs={endMs}
      spanMs={spanMs}
      now={`now ${measure.format(last.value)}`}
      readout={(point) => readout(point, measure)}
    />
  );
}
