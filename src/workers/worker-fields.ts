// The create form's number fields, in their groups: what each is called and what it does.
import type { WorkerField } from "./worker-form.ts";

export type NumberFieldFacts = {
  name: Exclude<
    WorkerField,
    "connection" | "queue" | "directory" | "force" | "stopsignal" | "stopasgroup"
  >;
  label: string;
  help: string;
  unit?: string;
};

export const workFields: readonly NumberFieldFacts[] = [
  { name: "processes", label: "Processes", help: "How many run at the same time, 1 to 64." },
  { name: "sleep", label: "Sleep", unit: "s", help: "Seconds to wait when the queue is empty." },
];

export const limitFields: readonly NumberFieldFacts[] = [
  {
    name: "timeout",
    label: "Timeout",
    unit: "s",
    help: "Seconds that a job may take. 0 = no limit.",
  },
  { name: "tries", label: "Tries", help: "How often a failing job is tried. 0 = no limit." },
  {
    name: "memory",
    label: "Memory",
    unit: "MB",
    help: "A process that uses more MB ends after its job and is started again.",
  },
  {
    name: "max_jobs",
    label: "Max jobs",
    help: "A process ends after this many jobs and is started again. 0 = no limit.",
  },
  {
    name: "max_time",
    label: "Max time",
    unit: "s",
    help: "A process ends after this many seconds and is started again. 0 = no limit.",
  },
];

export const supervisionFields: readonly NumberFieldFacts[] = [
  {
    name: "startsecs",
    label: "Start seconds",
    unit: "s",
    help: "Seconds that a process must stay up to count as started.",
  },
  {
    name: "startretries",
    label: "Start retries",
    help: "How often a failed start is tried again before the worker counts as failed.",
  },
  {
    name: "stopwaitsecs",
    label: "Stop seconds",
    unit: "s",
    help: "Seconds that a stop or restart waits for the running job before it kills. Empty = the timeout and 5 s more; an hour without a timeout.",
  },
];
