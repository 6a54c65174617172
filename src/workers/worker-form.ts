// The create form's values: what it starts with, and the worker that the fields describe while they are still being filled in.
import type * as z from "zod/mini";
import {
  type createWorkerBody,
  defaultStopWait,
  type WorkerSettings,
} from "../../contract/workers/worker.ts";

export type WorkerFormValues = z.input<typeof createWorkerBody>;
export type WorkerField = keyof WorkerFormValues;

export const defaultValues = {
  connection: "database",
  queue: "default",
  directory: undefined,
  processes: 1,
  sleep: 3,
  tries: 1,
  timeout: 60,
  memory: 128,
  max_jobs: 0,
  max_time: 0,
  force: false,
  startsecs: 1,
  startretries: 3,
  stopwaitsecs: undefined,
  stopsignal: "TERM",
  stopasgroup: false,
} as const satisfies WorkerFormValues & Record<WorkerField, unknown>;

const usable = (value: number | undefined, fallback: number): number =>
  value === undefined || !Number.isFinite(value) || value < 0 ? fallback : value;

/** The worker as it would be now; a field that does not fit yet counts as its default. */
export function toPreview(values: Partial<WorkerFormValues>): Omit<WorkerSettings, "directory"> {
  const timeout = usable(values.timeout, defaultValues.timeout);
  return {
    connection: values.connection ?? "",
    queue: values.queue ?? "",
    processes: usable(values.processes, defaultValues.processes),
    sleep: usable(values.sleep, defaultValues.sleep),
    tries: usable(values.tries, defaultValues.tries),
    timeout,
    memory: usable(values.memory, defaultValues.memory),
    max_jobs: usable(values.max_jobs, defaultValues.max_jobs),
    max_time: usable(values.max_time, defaultValues.max_time),
    force: values.force ?? false,
    startsecs: usable(values.startsecs, defaultValues.startsecs),
    startretries: usable(values.startretries, defaultValues.startretries),
    stopwaitsecs: usable(values.stopwaitsecs, defaultStopWait(timeout)),
    // The form offers the bare names alone; the other spelling is for clients.
    stopsignal: (values.stopsignal ?? "TERM") as WorkerSettings["stopsignal"],
    stopasgroup: values.stopasgroup ?? false,
  };
}
