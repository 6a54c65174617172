// Explains a worker's state in full sentences: what has happened, and what will.
import type { ShownWorkerState, Worker } from "../../contract/workers/worker.ts";
import { lookUp } from "../look-up.ts";
import { upCount, processesText } from "./worker-facts.ts";

type Facts = Pick<Worker, "stopsignal" | "stopwaitsecs" | "max_jobs" | "max_time">;

/** The signal on which `queue:work` finishes the running job in every version of Laravel. */
const patientSignal = "TERM";

function stopHelp({ stopsignal: signal, stopwaitsecs: seconds }: Facts): string {
  if (signal === "KILL") return "Kills all processes at once, including running jobs.";
  const sent = `Sent ${signal || "the stop signal"} to all processes`;
  const effect = signal === patientSignal ? "; queue:work finishes the running job first" : "";
  const limit = seconds === null ? "" : ` Processes still running after ${seconds} s are killed.`;
  return `${sent}${effect}.${limit}`;
}

function upHelp({ max_jobs: jobs, max_time: time }: Facts): string {
  const limits = [jobs > 0 && "max jobs", time > 0 && "max time"].filter(Boolean).join(" or ");
  return limits === ""
    ? "All processes are up."
    : `All processes are up, or restarting after reaching ${limits}.`;
}

function failedHelp(worker: Worker): string {
  const up = upCount(worker);
  const rest = "Failed processes stay down until the worker is started, restarted or deployed.";
  if (up === null) return rest;
  return up === 0 ? `No process is up. ${rest}` : `${processesText(worker)} up. ${rest}`;
}

const helps: Record<ShownWorkerState, (worker: Worker) => string> = {
  installing: () => "Starting for the first time.",
  installed: upHelp,
  stopping: stopHelp,
  stopped: () => "Stopped by a user. Start the worker to run it again.",
  starting: () => "Processes started. Waiting for them to stay up.",
  restarting: () => "Stopping processes and starting them again.",
  failed: failedHelp,
  unreachable: () =>
    "The server or its supervisor cannot be asked. Requests are carried out once it can.",
  removing: (worker) => `Deleting the worker. ${stopHelp(worker)}`,
};

/** @returns undefined for an unknown state */
export const workerHelp = (worker: Worker): string | undefined =>
  lookUp(helps, worker.status)?.(worker);

/** Explains a crash loop, during which the worker's status may be `installed` between two crashes. */
export const crashLoopHelp = ({ status }: Worker): string =>
  `Processes keep starting and exiting. Status: ${status}.`;
