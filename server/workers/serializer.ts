// Builds the responses for workers.
import { toTimestamp, toTimestampOrNull } from "../../contract/values.ts";
import { toCommandLine, workerArguments } from "../../contract/workers/command.ts";
import type { Worker, WorkerProcess } from "../../contract/workers/worker.ts";
import type { TakeOver } from "../../contract/workers/take-over.ts";
import type { WorkerUsage } from "../../contract/workers/usage.ts";
import type { SiteRow } from "../inventory/store.ts";
import type { ProcessStatus, ProcessUsage } from "./processes/process-manager.ts";
import type { TakenProgram } from "../store/tables/workers.ts";
import type { WorkerRow } from "./store.ts";
import { takeOverCommands } from "./take-over/take-over-commands.ts";
import { pendingStatusOf } from "./orders/withdrawer.ts";

/** State of a worker in addition to its row. */
type Seen = {
  processes: readonly ProcessStatus[];
  crashLoop: { since: Date; reason: string } | null;
  /** What was changed on its server other than a process, as a sentence. */
  notice: string | null;
};

export const toWorker = (
  row: WorkerRow,
  site: SiteRow,
  { processes, crashLoop, notice }: Seen,
): Worker => ({
  id: row.id,
  command: toCommandLine(workerArguments(site.artisan, row)),
  connection: row.connection,
  queue: row.queue,
  max_jobs: row.max_jobs,
  max_time: row.max_time,
  force: row.force,
  memory: row.memory,
  sleep: row.sleep,
  timeout: row.timeout,
  tries: row.tries,
  processes: row.processes,
  directory: row.directory ?? site.root,
  startsecs: row.startsecs,
  stopwaitsecs: row.stopwaitsecs,
  startretries: row.startretries,
  stopsignal: row.stopsignal,
  stopasgroup: row.stopasgroup,
  status: row.unreachable_since === null ? row.status : "unreachable",
  created_at: toTimestamp(row.created_at),
  site_id: row.site_id,
  status_reason: row.unreachable_reason ?? row.status_reason ?? notice,
  status_since: toTimestampOrNull(row.unreachable_since ?? row.status_since),
  unreachable_since: toTimestampOrNull(row.unreachable_since),
  last_status: row.unreachable_since === null ? null : row.last_status,
  pending_status: pendingStatusOf(row),
  deployment_id: row.deployment_id,
  crash_loop: crashLoop && { ...crashLoop, since: toTimestamp(crashLoop.since) },
  is_changing: row.changed_from !== null,
  take_over: row.take_over && toTakeOver(row.take_over),
  process_list: processes.map(toProcess),
});

const toTakeOver = (taken: TakenProgram): TakeOver => ({
  program: taken.program,
  file: taken.file,
  status: taken.status,
  since: toTimestamp(new Date(taken.since)),
  reason: taken.reason,
  commands: taken.status === "finished" && !taken.is_removed ? takeOverCommands(taken) : [],
});

export const toUsage = ({
  every,
  processes,
}: {
  every: number;
  processes: readonly (ProcessUsage & { number: number })[];
}): WorkerUsage => ({
  every,
  processes: processes.map(({ number, starts, samples }) => ({
    number,
    starts: starts.map((ms) => toTimestamp(new Date(ms))),
    samples: samples.map(({ atMs, cpu, memory }) => ({
      at: toTimestamp(new Date(atMs)),
      cpu,
      memory,
    })),
  })),
});

const toProcess = (process: ProcessStatus): WorkerProcess => ({
  number: process.number,
  pid: process.pid,
  state: process.state,
  since: toTimestamp(process.since),
  exit_code: process.exitCode,
  restarts: process.restarts,
  deployment_id: process.deployment,
});
