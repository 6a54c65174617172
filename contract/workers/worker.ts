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

/**
 * The states that the interface reports. `unreachable` (no transit, no deadline): the process manager of its server
 * cannot be reached.
 */
export const shownWorkerStates = [...workerStates, "unreachable"] as const;
export type ShownWorkerState = (typeof shownWorkerStates)[number];

const settled = ["installed", "stopping", "stopped", "starting", "restarting", "failed"] as const;

/** Start, stop and restart are refused only while the worker is being created or deleted. */
export const canWorker = {
  start: allowedIn<WorkerState>(settled),
  stop: allowedIn<WorkerState>(settled),
  restart: allowedIn<WorkerState>(settled),
  /**
   * A worker in transit reaches its state first, except `restarting`, which may be a crash that the change is to fix.
   */
  update: allowedIn<WorkerState>(["installed", "stopped", "failed", "restarting"]),
  remove: allowedIn<WorkerState>(["installing", ...settled]),
};
/** Actions without a body. */
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
    /** When it entered this state. */
    since: timestamp,
    /**
     * Of the last process that ended in this slot; null where none has, where a signal ended it, where the last start
     * failed, or where it was not observed.
     */
    exit_code: z.nullable(z.int()),
    /** Number of restarts without a request. */
    restarts: z.int(),
    /** The newest deployment of the site at the start of the process; null = none was known. */
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
  /**
   * Extra: a restart signals the process and its descendants, like supervisord's option of this name; otherwise the
   * process alone.
   */
  stopasgroup: z.optional(z.boolean()),
};

export const worker = z
  .object({
    id,
    command: z.string(),
    ...settings,
    status: stateOf(shownWorkerStates),
    created_at: timestamp,
    /** Extra: the site that it belongs to. */
    site_id: z.optional(id),
    /** Extra: why the status is what it is, for the operator. */
    status_reason: z.optional(z.nullable(z.string())),
    /** Extra: since when the status is what it is; null = not recorded. */
    status_since: z.optional(z.nullable(timestamp)),
    /**
     * Extra: since when its process manager cannot be reached; null = it can. Meanwhile `process_list` has the last
     * known processes.
     */
    unreachable_since: z.optional(z.nullable(timestamp)),
    /** Extra: its status before it became unreachable. */
    last_status: z.optional(z.nullable(stateOf(workerStates))),
    /**
     * Extra: the state that a pending order leads to, which is carried out once the process manager can be reached;
     * null = none is pending.
     */
    pending_status: z.optional(z.nullable(stateOf(workerStates))),
    /** Extra: the newest finished deployment of its site; processes with an older one run older code. */
    deployment_id: z.optional(z.nullable(id)),
    /** Extra: since when and why it is in a crash loop; null = it is not. */
    crash_loop: z.optional(z.nullable(z.object({ since: timestamp, reason: z.string() }))),
    /**
     * Extra: its options were changed, and its processes are being replaced one after the other. A service that sends
     * this field, with either value, supports changes.
     */
    is_changing: z.optional(z.boolean()),
    /** Extra: the supervisord program that it replaces or has replaced; null = none. */
    take_over: z.optional(z.nullable(takeOver)),
    /** Extra: the present state of each process. */
    process_list: z.optional(z.array(workerProcess)),
  })
  .register(z.globalRegistry, { id: "Worker" });
export type Worker = z.infer<typeof worker>;

export const workerLog = z
  .object({
    /** Whole lines where possible, at most 64 KiB. */
    text: z.string(),
    /** Positions of the beginning and end of `text` in the log, in bytes; request `offset` = `end` for what follows. */
    start: z.int(),
    end: z.int(),
    /**
     * Whether the log was rotated since `offset`: `text` then begins with the new file, and something between may be
     * missing.
     */
    rotated: z.boolean(),
    /** Why the log cannot be read now, or is incomplete, as a sentence; absent where nothing is wrong. */
    problem: z.optional(z.string()),
  })
  .register(z.globalRegistry, { id: "WorkerLog" });
export type WorkerLog = z.infer<typeof workerLog>;
