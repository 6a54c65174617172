// The number fields of the worker form, by group, with labels and help.
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

/** The fields that most workers set. */
export const mainFields: readonly NumberFieldFacts[] = [
  { name: "processes", label: "Processes", help: "Number of parallel processes, 1 to 64." },
  {
    name: "timeout",
    label: "Timeout",
    unit: "s",
    help: "Maximum run time of a job. 0 for no limit.",
  },
];

export const jobFields: readonly NumberFieldFacts[] = [
  { name: "sleep", label: "Sleep", unit: "s", help: "Wait between checks of an empty queue." },
  { name: "tries", label: "Tries", help: "Maximum attempts of a failing job. 0 for no limit." },
  {
    name: "memory",
    label: "Memory",
    unit: "MB",
    help: "A process that uses more restarts after its current job.",
  },
  {
    name: "max_jobs",
    label: "Max jobs",
    help: "Restart a process after this many jobs. 0 for no limit.",
  },
  {
    name: "max_time",
    label: "Max time",
    unit: "s",
    help: "Restart a process after this run time. 0 for no limit.",
  },
];

export const supervisionFields: readonly NumberFieldFacts[] = [
  {
    name: "startsecs",
    label: "Start seconds",
    unit: "s",
    help: "Uptime after which a process counts as started.",
  },
  {
    name: "startretries",
    label: "Start retries",
    help: "Retries of a failed start before the worker is marked failed.",
  },
  {
    name: "stopwaitsecs",
    label: "Stop seconds",
    unit: "s",
    help: "Time to finish the running job before a stop or restart kills it. Leave empty for the timeout plus 5 s, or 1 h without a timeout.",
  },
];
