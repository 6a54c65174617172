// Warnings about valid options that are probably mistakes. They are shown next to a field and never block.
import type { WorkerSettings } from "./bodies.ts";

type WorkerWarning = { field: keyof WorkerSettings; text: string };

type Checked = Pick<
  WorkerSettings,
  "timeout" | "stopwaitsecs" | "stopsignal" | "max_jobs" | "startsecs" | "memory" | "processes"
>;

/** With up to this many jobs, a worker may finish before `startsecs` have passed, and so end "too early". */
const fewJobs = 10;

const signalText: Partial<Record<string, string>> = {
  INT: "Some versions of Laravel, such as 8, drop the running job on INT. TERM lets it finish in all versions.",
  QUIT: "Some versions of Laravel, such as 8, drop the running job on QUIT. TERM lets it finish in all versions.",
  HUP: "HUP ends the worker at once and drops the running job. TERM lets it finish.",
  USR1: "USR1 ends the worker at once and drops the running job. TERM lets it finish.",
  KILL: "KILL ends the worker at once and drops the running job. TERM lets it finish.",
  USR2: "USR2 only pauses the worker, so every stop waits the full stop time and then kills it. TERM lets the job finish.",
};

/**
 * Returns the warnings for a worker, in the order of the form.
 * @param machineMemory memory of the server in MB; null where it is unknown
 */
export function workerWarnings(worker: Checked, machineMemory: number | null): WorkerWarning[] {
  const warnings: WorkerWarning[] = [];
  const warn = (field: WorkerWarning["field"], text: string) => warnings.push({ field, text });

  const needed = worker.memory * worker.processes;
  if (machineMemory !== null && needed > machineMemory)
    warn(
      "memory",
      `${worker.processes} × ${worker.memory} MB exceeds the machine's ${machineMemory} MB.`,
    );
  if (worker.max_jobs > 0 && worker.max_jobs <= fewJobs && worker.startsecs > 0)
    warn(
      "max_jobs",
      `${worker.max_jobs === 1 ? "One quick job takes" : `${worker.max_jobs} quick jobs take`} less than the ${worker.startsecs} s of start seconds, so the exit counts as a failed start. Set start seconds to 0, or raise max jobs.`,
    );
  if (worker.timeout === 0)
    warn(
      "timeout",
      `Without a limit, a job can outlast the ${worker.stopwaitsecs} s that a stop or restart waits, and is then killed.`,
    );
  else if (worker.stopwaitsecs < worker.timeout)
    warn(
      "stopwaitsecs",
      `Shorter than the job timeout of ${worker.timeout} s: a stop or restart kills jobs that are still running.`,
    );
  const signal = signalText[worker.stopsignal];
  if (signal !== undefined) warn("stopsignal", signal);
  return warnings;
}
