// A site's queue workers: fields, bounds, states, and which state allows which action.
import * as z from "zod/mini";
import { allowedIn } from "../states.ts";
import { id, orUnsaid, stateOf, timestamp } from "../values.ts";
import { takeOver } from "./take-over.ts";

export const workerStates = [
  "installing",
  "installed",
  "stopping",
  "stopped",
  "starting",
  "restarting",
  "failed",
  "removing",
] as const;
export type WorkerState = (typeof workerStates)[number];

/** What the interface says of a worker: settled and without a deadline while what keeps it up on its server cannot be asked. */
export const shownWorkerStates = [...workerStates, "unreachable"] as const;
export type ShownWorkerState = (typeof shownWorkerStates)[number];

const settled = ["installed", "stopping", "stopped", "starting", "restarting", "failed"] as const;

/** Start, stop and restart are refused only while there is nothing yet, or soon nothing any more. */
export const canWorker = {
  start: allowedIn<WorkerState>(settled),
  stop: allowedIn<WorkerState>(settled),
  restart: allowedIn<WorkerState>(settled),
  /** What is on its way somewhere gets there first; `restarting` may be a crash that the change is to cure. */
  update: allowedIn<WorkerState>(["installed", "stopped", "failed", "restarting"]),
  remove: allowedIn<WorkerState>(["installing", ...settled]),
};
/** What is asked for without more to say. */
export type WorkerAction = Exclude<keyof typeof canWorker, "update">;

/** The states of one process, in supervisord's words and meaning. */
export const processStates = [
  "STOPPED",
  "STARTING",
  "RUNNING",
  "BACKOFF",
  "STOPPING",
  "EXITED",
  "FATAL",
] as const;
export type ProcessState = (typeof processStates)[number];

const workerProcess = z
  .object({
    /** Counts from 1 to the worker's `processes`. */
    number: z.int(),
    pid: z.nullable(z.int()),
    state: stateOf(processStates),
    /** When it came into this state. */
    since: timestamp,
    /** Of the last process that ended here; null when none has, when a signal ended it, or when it could not be seen. */
    exit_code: z.nullable(z.int()),
    /** How often it was started again without anybody asking for it. */
    restarts: z.int(),
    /** The newest deployment of the site when it was started; null = none was known then. */
    deployment_id: z.optional(z.nullable(id)),
  })
  .register(z.globalRegistry, { id: "WorkerProcess" });
export type WorkerProcess = z.infer<typeof workerProcess>;

export const stopSignals = ["TERM", "HUP", "INT", "QUIT", "KILL", "USR1", "USR2"] as const;
export type StopSignal = (typeof stopSignals)[number];

const settings = {
  connection: z.string(),
  queue: z.string(),
  max_jobs: z.int(),
  max_time: z.int(),
  force: z.boolean(),
  memory: z.int(),
  sleep: z.int(),
  timeout: z.int(),
  tries: z.int(),
  processes: orUnsaid(z.int()),
  directory: z.string(),
  startsecs: orUnsaid(z.int()),
  stopwaitsecs: orUnsaid(z.int()),
  startretries: orUnsaid(z.int()),
  stopsignal: z.string().register(z.globalRegistry, { examples: [...stopSignals] }),
  /** Extra: a restart signals the process and all that it started, as supervisord's option of this name; else the process alone. */
  stopasgroup: z.optional(z.boolean()),
};

export const worker = z
  .object({
    id,
    command: z.string(),
    ...settings,
    status: stateOf(shownWorkerStates),
    created_at: timestamp,
    /** Extra: the site it belongs to. */
    site_id: z.optional(id),
    /** Extra: why the status is what it is, in the operator's words. */
    status_reason: z.optional(z.nullable(z.string())),
    /** Extra: since when the status is what it is; null = that was not noted. */
    status_since: z.optional(z.nullable(timestamp)),
    /** Extra: since when what keeps it up cannot be asked; null = it can. Then `process_list` is what was seen last. */
    unreachable_since: z.optional(z.nullable(timestamp)),
    /** Extra: its status before that. */
    last_status: z.optional(z.nullable(stateOf(workerStates))),
    /** Extra: the state that an order given meanwhile leads to, which is carried out once it can be; null = none waits. */
    pending_status: z.optional(z.nullable(stateOf(workerStates))),
    /** Extra: the newest finished deployment of its site; a process that names an older one runs older code. */
    deployment_id: z.optional(z.nullable(id)),
    /** Extra: since when and why its processes come up again and again and do not stay; null = they do not. */
    crash_loop: z.optional(z.nullable(z.object({ since: timestamp, reason: z.string() }))),
    /**
     * Extra: its settings were changed, and its processes are replaced one after the other; a service that says either way
     * takes changes.
     */
    is_changing: z.optional(z.boolean()),
    /** Extra: the program of supervisord whose place it takes, or took; null = none. */
    take_over: z.optional(z.nullable(takeOver)),
    /** Extra: what each process does right now. */
    process_list: z.optional(z.array(workerProcess)),
  })
  .register(z.globalRegistry, { id: "Worker" });
export type Worker = z.infer<typeof worker>;

export const workerLog = z
  .object({
    /** Whole lines where possible, at most 64 KiB of them. */
    text: z.string(),
    /** Bytes of the log before `text`, and up to its end; ask with `offset` = `end` for what comes next. */
    start: z.int(),
    end: z.int(),
    /** The log was rotated since `offset`, so `text` starts anew and something may lie between. */
    rotated: z.boolean(),
    /** Why the log cannot be read right now, or is not whole, as a sentence; left out where nothing is wrong. */
    problem: z.optional(z.string()),
  })
  .register(z.globalRegistry, { id: "WorkerLog" });
export type WorkerLog = z.infer<typeof workerLog>;
