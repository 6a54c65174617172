// What a worker's state means, in full sentences: what has happened and what will, no more than that.
import type { Worker, WorkerState } from "../../contract/workers/worker.ts";
import { upCount, processesText } from "./worker-facts.ts";

type Facts = Pick<Worker, "stopsignal" | "stopwaitsecs" | "max_jobs" | "max_time">;

/** A signal on which `queue:work` ends the job at hand in every version of Laravel. */
const patientSignal = "TERM";

function stopHelp({ stopsignal: signal, stopwaitsecs: seconds }: Facts): string {
  if (signal === "KILL") return "Its processes are killed at once, with the job at hand.";
  const sent = `Its processes were sent ${signal || "the stop signal"}`;
  const effect = signal === patientSignal ? ", on which queue:work ends the job at hand first" : "";
  const limit = seconds === null ? "" : ` What is left after ${seconds} s is killed.`;
  return `${sent}${effect}.${limit}`;
}

function upHelp({ max_jobs: jobs, max_time: time }: Facts): string {
  const limits = [jobs > 0 && "max jobs", time > 0 && "max time"].filter(Boolean).join(" or ");
  return limits === ""
    ? "All its processes are up."
    : `All its processes are up, or have just ended after their ${limits} and are started again.`;
}

function failedHelp(worker: Worker): string {
  const up = upCount(worker);
  const rest =
    "What was given up stays down until somebody starts or restarts the worker, or a deployment does.";
  if (up === null) return rest;
  return up === 0 ? `None of its processes is up. ${rest}` : `${processesText(worker)} up. ${rest}`;
}

const helps: Record<WorkerState, (worker: Worker) => string> = {
  installing: () => "It is being started for the first time.",
  installed: upHelp,
  stopping: stopHelp,
  stopped: () => "Somebody stopped it. It stays so until somebody starts it.",
  starting: () => "Its processes were started and have to stay up for a while.",
  restarting: () => "A process has ended or is ending, and is started again.",
  failed: failedHelp,
  removing: (worker) => `It was deleted. ${stopHelp(worker)}`,
};

/** @returns undefined for a state that only its service knows */
export const workerHelp = (worker: Worker): string | undefined =>
  Object.hasOwn(helps, worker.status) ? helps[worker.status as WorkerState](worker) : undefined;

/** Of a worker in a crash loop, whose status may say in between that all is well. */
export const crashLoopHelp = ({ status }: Worker): string =>
  `Its processes come up again and again and do not stay. Its status is ${status}.`;
