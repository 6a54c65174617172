// CPU and memory of a worker's processes over the last hour.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { WorkerUsage } from "../../contract/workers/usage.ts";
import { extraQuery } from "../api/query.ts";
import { Button } from "../ui/button/Button.tsx";
import { Panel } from "../ui/page/Panel.tsx";
import { UsageChart } from "./UsageChart.tsx";
import { hourMs, measures, pointsOf } from "./usage-series.ts";

/** More are shown on request. */
const firstShown = 4;
const leastSpanMs = 10 * 60_000;

const restartText = ({ starts, samples }: WorkerUsage["processes"][number]): string | null => {
  // The first start in view is no restart.
  const [first] = samples;
  const count = starts.filter((at) => first !== undefined && at > first.at).length;
  return count === 0 ? null : count === 1 ? "1 restart" : `${count} restarts`;
};

/** Renders nothing for a service without measurements. */
export function UsagePanel({ id }: { id: number }) {
  const [isWhole, setIsWhole] = useState(false);
  const { data: usage } = useQuery({
    ...extraQuery("showWorkerUsage", { id }),
    refetchInterval: ({ state: { data } }) => data != null && data.every * 1000,
  });
  if (!usage || usage.processes.length === 0) return null;
  const moments = usage.processes.flatMap(({ samples }) => samples.at(-1)?.at ?? []);
  const newest = moments.sort().at(-1);
  const oldest = usage.processes.flatMap(({ samples }) => samples[0]?.at ?? []).sort()[0];
  const endMs = Date.parse(newest ?? "");
  // Soon after a start of the service, the axis is shorter, because there are few samples.
  const spanMs = Math.min(hourMs, Math.max(endMs - Date.parse(oldest ?? ""), leastSpanMs));
  const shown = isWhole ? usage.processes : usage.processes.slice(0, firstShown);
  return (
    <Panel
      title="CPU and memory"
      actions={
        usage.processes.length > firstShown && (
          <Button size="sm" onClick={() => setIsWhole(!isWhole)}>
            {isWhole ? `Show ${firstShown}` : `Show all ${usage.processes.length}`}
          </Button>
        )
      }
    >
      {newest === undefined ? (
        <p className="px-4 py-3 text-sm text-muted max-sm:px-3">
          Measured every {usage.every} s. The first figures come within {2 * usage.every} s.
        </p>
      ) : (
        <div className="grid gap-4 px-4 py-3 max-sm:px-3">
          {shown.map((process) => (
            <section
              key={process.number}
              aria-label={`Usage of process ${process.number}`}
              className="grid gap-x-6 gap-y-2 @2xl:grid-cols-[6rem_1fr_1fr]"
            >
              <p className="text-sm">
                Process {process.number}
                <span className="block text-xs text-muted">{restartText(process)}</span>
              </p>
              {measures.map((measure) => (
                <UsageChart
                  key={measure.label}
                  name={`${measure.label} of process ${process.number}`}
                  measure={measure}
                  points={pointsOf(process, measure)}
                  everyMs={usage.every * 1000}
                  endMs={endMs}
                  spanMs={spanMs}
                />
              ))}
            </section>
          ))}
          <p className="text-xs text-muted">
            The last {Math.round(spanMs / 60_000)} minutes, with all that each process started. A
            dashed line marks a start.
          </p>
        </div>
      )}
    </Panel>
  );
}
