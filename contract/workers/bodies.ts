// Schemas of the requests about workers, and the defaults of absent fields.
import * as z from "zod/mini";
import { integer, maxInteger, storableText } from "../inputs.ts";
import { type StopSignal, stopSignals } from "./worker.ts";

const connection = storableText().check(
  z.minLength(1),
  z.maxLength(64),
  // It is an argument of `queue:work` by itself, where a leading “-” would make it an option.
  z.regex(/^(?!-)[A-Za-z0-9_-]*$/, {
    error:
      "The connection field may hold letters, digits, “_” and “-” only, and must not begin with “-”.",
  }),
);

const queue = storableText().check(
  z.minLength(1),
  z.maxLength(1024),
  z.regex(/^(?:[A-Za-z0-9_.:{}-]{1,128}(?:,[A-Za-z0-9_.:{}-]{1,128})*)?$/, {
    error:
      "The queue field must be a comma-separated list of names of letters, digits and “_ . : { } -”, without spaces.",
  }),
);

const directory = storableText().check(
  z.minLength(1),
  z.maxLength(1024),
  // oxlint-disable-next-line no-control-regex -- a NUL or a line break in a path is exactly what this refuses
  z.regex(/^[^\u0000-\u001f\u007f]*$/, {
    error: "The directory field must not hold control characters.",
  }),
);

const stopSignal = z.pipe(
  z.enum([...stopSignals, ...stopSignals.map((name) => `SIG${name}` as const)]),
  // The enum has each signal with and without the prefix, and nothing else.
  z.transform((name) => name.replace(/^SIG/, "") as StopSignal),
);

export const createWorkerBody = z
  .object({
    connection,
    queue,
    max_jobs: integer(0),
    max_time: integer(0),
    force: z.boolean(),
    memory: integer(16),
    sleep: integer(0),
    timeout: integer(0),
    tries: integer(0),
    processes: z.optional(integer(1, 64)),
    directory: z.optional(directory),
    startsecs: z.optional(integer(0)),
    stopwaitsecs: z.optional(integer(0)),
    startretries: z.optional(integer(0)),
    stopsignal: z.optional(stopSignal),
    stopasgroup: z.optional(z.boolean()),
  })
  .register(z.globalRegistry, { id: "CreateWorker" });
export type CreateWorkerBody = z.infer<typeof createWorkerBody>;

/** Every field of a worker except its site; an absent field stays unchanged. */
export const updateWorkerBody = z
  .partial(createWorkerBody)
  .register(z.globalRegistry, { id: "UpdateWorker" });
export type UpdateWorkerBody = z.infer<typeof updateWorkerBody>;

/** The settings of a worker, with defaults for absent fields. */
export type WorkerSettings = {
  [Name in keyof CreateWorkerBody]-?: NonNullable<CreateWorkerBody[Name]>;
};

/**
 * Fills in defaults, except for `directory`: that is the site's folder, which only the service has. The default of `stopwaitsecs` is
 * slightly longer than `timeout`, so that a running job can end.
 */
export const withWorkerDefaults = (
  body: CreateWorkerBody,
): Omit<WorkerSettings, "directory"> & { directory: string | undefined } => ({
  ...body,
  directory: body.directory,
  processes: body.processes ?? 1,
  startsecs: body.startsecs ?? 1,
  startretries: body.startretries ?? 3,
  stopwaitsecs: body.stopwaitsecs ?? defaultStopWait(body.timeout),
  stopsignal: body.stopsignal ?? "TERM",
  stopasgroup: body.stopasgroup ?? false,
});

/**
 * Seconds that a stop waits for a job without a `timeout`. There must be some limit, or a job that hangs would keep a worker from
 * ever stopping; this one is from Laravel's example for supervisord.
 * @see https://laravel.com/docs/queues#supervisor-configuration
 */
const unlimitedStopWait = 3600;

/** Seconds that a stop waits before it kills a worker. @param timeout maximum seconds of a job; 0 = no limit */
export const defaultStopWait = (timeout: number): number =>
  timeout === 0 ? unlimitedStopWait : Math.min(Math.max(10, timeout + 5), maxInteger);
