// The values of the worker form: initial values, conversion to the request, and the worker that they describe.
import * as z from "zod/mini";
import { stopSignals, type Worker } from "../../contract/workers/worker.ts";
import {
  createWorkerBody,
  type CreateWorkerBody,
  defaultStopWait,
  type UpdateWorkerBody,
  withWorkerDefaults,
  type WorkerSettings,
} from "../../contract/workers/bodies.ts";
import { leavesRoot } from "../../contract/workers/directory.ts";
import { changesIn } from "../app/form/form-values.ts";

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

/** Returns initial values that can be saved, with the connection of the site's newest worker. */
export const newValues = (newest: Pick<Worker, "connection"> | null): WorkerFormValues => ({
  ...defaultValues,
  connection: newest?.connection || defaultValues.connection,
});

/** Adds values from the URL, without invalid ones. */
export function withGiven(values: WorkerFormValues, text: string | null): WorkerFormValues {
  let given: unknown;
  try {
    given = JSON.parse(text ?? "{}");
  } catch {
    return values;
  }
  const { data } = createWorkerBody.safeParse({
    ...values,
    ...(typeof given === "object" ? given : {}),
  });
  return data ?? values;
}

/** @param root the site's folder, which an empty field stands for */
export const toValues = (worker: Worker, root: string | undefined): WorkerFormValues => ({
  connection: worker.connection,
  queue: worker.queue,
  directory: worker.directory === "" || worker.directory === root ? undefined : worker.directory,
  processes: worker.processes ?? undefined,
  sleep: worker.sleep,
  tries: worker.tries,
  timeout: worker.timeout,
  memory: worker.memory,
  max_jobs: worker.max_jobs,
  max_time: worker.max_time,
  force: worker.force,
  startsecs: worker.startsecs ?? undefined,
  startretries: worker.startretries ?? undefined,
  stopwaitsecs: worker.stopwaitsecs ?? undefined,
  stopsignal: stopSignals.find((name) => name === worker.stopsignal) ?? "TERM",
  stopasgroup: worker.stopasgroup ?? false,
});

/**
 * Returns the body of a change: only fields that were changed here, because others may have been changed elsewhere
 * meanwhile. An emptied field is reset to its default.
 */
export function toChange(
  body: CreateWorkerBody,
  before: WorkerFormValues,
  root: string | undefined,
): UpdateWorkerBody {
  const { directory: wanted, ...settings } = withWorkerDefaults(body);
  const directory = wanted ?? root;
  return {
    ...changesIn(settings, before),
    ...(wanted !== before.directory && directory !== undefined && { directory }),
  };
}

/** The contract's schema, with checks that depend on the site's folder. */
export const formSchema = (root: string | undefined) =>
  z.extend(createWorkerBody, {
    directory: z.optional(
      createWorkerBody.shape.directory.def.innerType.check(
        z.refine((directory) => root === undefined || !leavesRoot(root, directory), {
          error: "The directory field must lie inside the site's folder.",
        }),
      ),
    ),
  });

const limited = (count: number, one: string, unit = "") =>
  count === 0 ? `no ${one}` : `${one} ${count}${unit}`;

/** Summarizes the collapsed fields. */
export function advancedSummary(values: Partial<WorkerFormValues>): string {
  const worker = toPreview(values);
  const parts = [
    values.directory && `directory ${values.directory}`,
    `${worker.memory} MB`,
    worker.tries === 0 ? "unlimited tries" : worker.tries === 1 ? "1 try" : `${worker.tries} tries`,
    `sleep ${worker.sleep} s`,
    limited(worker.max_jobs, "max jobs"),
    limited(worker.max_time, "max time", " s"),
    worker.force && "runs in maintenance mode",
    `start ${worker.startsecs} s, ${worker.startretries} retries`,
    `stop ${worker.stopsignal}${worker.stopasgroup ? " to the group" : ""}, ${worker.stopwaitsecs} s`,
  ];
  return parts.filter(Boolean).join(" · ");
}

const usable = (value: number | undefined, fallback: number): number =>
  value === undefined || !Number.isFinite(value) || value < 0 ? fallback : value;

/** Returns the worker that the values describe; an invalid field counts as its default. */
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
    // The form offers only names without SIG; the other spelling is for clients.
    stopsignal: (values.stopsignal ?? "TERM") as WorkerSettings["stopsignal"],
    stopasgroup: values.stopasgroup ?? false,
  };
}
