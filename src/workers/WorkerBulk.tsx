import type { ReactNode } from "react";
import type { Worker, WorkerAction } from "../../contract/workers/worker.ts";
import { workerName } from "../../contract/workers/worker-name.ts";
import { mutate } from "../api/mutate.ts";
import { BulkBar, type BulkProps } from "../bulk/BulkBar.tsx";
import { type BulkAction, goneIsDone } from "../bulk/bulk-task.ts";
import { refusal, workerActions, workerMutation } from "./actions.ts";

/** The number of processes that end, and how long that may take; another service may not report them. */
function Ending({ workers }: { workers: readonly Worker[] }) {
  const counts = workers.flatMap(({ processes }) => processes ?? []);
  const waits = workers.flatMap(({ stopwaitsecs }) => stopwaitsecs ?? []);
  if (counts.length < workers.length || waits.length < workers.length)
    return "Stops all processes. Jobs that run past their stop time are killed.";
  const count = counts.reduce((total, one) => total + one, 0);
  const [min, max] = [Math.min(...waits), Math.max(...waits)];
  return (
    <>
      Stops {count === 1 ? "one process" : `${count} processes`}. A job still running after{" "}
      {min === max ? min : `${min} to ${max}`} s is killed.
    </>
  );
}

/** Warnings before something stops or is lost. Starting needs none. */
const bodies: Partial<Record<WorkerAction, (workers: readonly Worker[]) => ReactNode>> = {
  stop: (workers) => (
    <p>
      <Ending workers={workers} /> Queued jobs wait until a worker starts again.
    </p>
  ),
  restart: (workers) => (
    <p>
      <Ending workers={workers} /> Each worker then starts again.
    </p>
  ),
  remove: (workers) => (
    <>
      <p>
        <Ending workers={workers} />
      </p>
      <p>Settings and logs are deleted. Queued jobs stay in the queue.</p>
    </>
  ),
};

const toBulk = (action: WorkerAction): BulkAction<Worker> => {
  const { label, icon, key, becomes } = workerActions[action];
  const body = bodies[action];
  return {
    label,
    icon,
    keys: key,
    title: (what) => `${label} ${what}`,
    done: becomes,
    refusal: (worker) => refusal(action, worker),
    ...(body && { question: (workers) => ({ body: body(workers) }) }),
    run: (worker) => {
      const asked = mutate(workerMutation, { action, worker });
      return action === "remove" ? goneIsDone(asked) : asked;
    },
  };
};

const actions = (["start", "stop", "restart", "remove"] as const).map(toBulk);

export function WorkerBulk(props: BulkProps<Worker>) {
  return (
    <BulkBar
      {...props}
      nameOf={workerName}
      detailOf={({ id }) => `Worker ${id}`}
      one="worker"
      many="workers"
      failed="failed,crash_looping"
      actions={actions}
    />
  );
}
