// Metrics of workers: how many are in which state on each server, and how often their processes were started again.
import { Counter, type Registry } from "prom-client";
import { processStates, shownWorkerStates } from "../../contract/workers/worker.ts";
import type { MetricsPart } from "../metrics/part.ts";
import { sql } from "../store/drizzle.ts";
import type { WorkerService } from "./service.ts";

/** Creates the function that counts one automatic restart of a process. */
export function countRestarts(registry: Registry): () => void {
  const restarts = new Counter({
    name: "quarterdeck_worker_process_restarts_total",
    help: "Starts of worker processes that had ended by themselves or never came up.",
    registers: [registry],
  });
  return () => restarts.inc();
}

type Row = { id: number; name: string; status: string | null; many: number };

export const workerMetrics = (
  service: Pick<WorkerService, "crashLoops" | "processStates">,
): MetricsPart => ({
  name: "workers",
  async read(tx) {
    const { rows } = await tx.execute<Row>(sql`
      select servers.id, servers.name,
        case when workers.unreachable_since is null then workers.status else 'unreachable' end as status,
        count(workers.id)::int as many
      from servers
      left join sites on sites.server_id = servers.id
      left join workers on workers.site_id = sites.id
      group by 1, 2, 3`);
    const byServer = Map.groupBy(rows, ({ id }) => id);
    const processes = service.processStates();
    return [
      {
        name: "quarterdeck_workers",
        help: "Workers of each server by state; installed = all their processes are up.",
        values: [...byServer].flatMap(([id, ofServer]) =>
          shownWorkerStates.map((status) => ({
            labels: { server_id: String(id), server: ofServer[0]?.name ?? "", status },
            value: ofServer.find((row) => row.status === status)?.many ?? 0,
          })),
        ),
      },
      {
        name: "quarterdeck_worker_processes",
        help: "Processes that this service keeps up, by supervisord's states.",
        values: processStates.map((state) => ({
          labels: { state: state.toLowerCase() },
          value: processes.filter((one) => one === state).length,
        })),
      },
      {
        name: "quarterdeck_workers_crash_looping",
        help: "Workers whose processes come up again and again and do not stay.",
        values: [{ value: service.crashLoops().length }],
      },
    ];
  },
});
