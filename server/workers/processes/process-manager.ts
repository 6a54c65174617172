// The one interface between the workers' service and what keeps their processes up: the supervisor inside the service, or the
// supervisord of a server.
import type { ProcessState, StopSignal, WorkerLog } from "../../../contract/workers/worker.ts";
import type { Account } from "../../hosts/account.ts";

/** The program of a worker, and how it is kept up. Fields have the meaning that they have for supervisord. */
export type Program = {
  /** The worker's id. */
  id: number;
  /** An argument list, never a shell string. */
  args: readonly string[];
  /** Absolute path of the site's folder, which contains the working directory, links followed. */
  root: string;
  /** Working directory as the user typed it: absolute, or relative to `root`; null = `root`. Resolved at each start. */
  directory: string | null;
  /** The account that it runs as, or why there is none, as a sentence. */
  account: Account | { problem: string };
  processes: number;
  startsecs: number;
  startretries: number;
  stopwaitsecs: number;
  stopsignal: StopSignal;
  /** Whether a restart signals the leader's group instead of the leader alone. A stop always signals the group. */
  stopasgroup: boolean;
  /**
   * Number of the worker's newest order. A restart leaves processes alone that were started for this order or a later one; null =
   * it restarts all.
   */
  order: number | null;
  /** Number of these settings. Processes with other settings can be replaced. */
  settings: number;
  /** A process ends by itself after this number of jobs, or of seconds; 0 = never. */
  maxJobs: number;
  maxTime: number;
  /** The site's deployment at the start of a process; null = unknown. */
  deployment: number | null;
  /** Processes of older deployments must be replaced; null = none. */
  requiredDeployment: number | null;
};

/** The time from an unexpected exit until the process is up again, or should no longer be up. Milliseconds since 1970. */
export type Outage = { at: number; backAt: number | null };

export type ProcessStatus = {
  /** Number of the process within the worker, counted from 1. */
  number: number;
  pid: number | null;
  state: ProcessState;
  since: Date;
  /** Exit code of the last run; null = none has exited, a signal ended it, it could not be started, or the exit was not observed. */
  exitCode: number | null;
  /** Automatic restarts since the last order. */
  restarts: number;
  /** Why the process is not up, for the operator. */
  reason: string | null;
  /** Whether it was stopped on its server and not by an order of Quarterdeck. */
  isStoppedElsewhere?: boolean;
  /** The site's deployment when it was started; null = unknown. */
  deployment: number | null;
  /** The settings that it was started with, see `Program`. */
  settings: number;
  /** Whether it has just ended because of `max_jobs` or `max_time`, and its successor is starting. */
  isBetweenRuns: boolean;
  /** When it last exited by itself while up; null = it has not since the last stop. Milliseconds since 1970. */
  upAt: number | null;
  /** Recent outages, oldest first. */
  outages: readonly Outage[];
  /** How the newest outage began, as a sentence; null = not observed. */
  lastEnd: string | null;
};

/** Resource usage of a process and its descendants in the last hour. Milliseconds since 1970. */
export type ProcessUsage = {
  starts: number[];
  /** `cpu` is percent of one core since the sample before; `memory` is resident bytes. */
  samples: { atMs: number; cpu: number; memory: number }[];
};

/** A worker's manager cannot reach its server; `reason` is a sentence that says what to do. */
export type Away = { since: Date; reason: string };

/** A process that was killed because it exceeded the stop seconds. */
export type Kill = { number: number; reason: string };

/** Receives the reports of a process manager about the workers that it was given. */
export type ProcessListener = {
  /** Called after each change of a process, whose status `processes(id)` returns. */
  onChange(id: number): void;
  onKill(id: number, kill: Kill): void;
};

export type Resumed = {
  program: Program;
  up: boolean;
  /** Newest restart order: processes that were started before it have to be replaced. */
  restartOrder?: number | null;
  /** Program before an interrupted change, which is resumed. */
  previous?: Program | null;
  /** Records of its processes by the instance that looked after it before; if not given, this instance's own. */
  records?: string | undefined;
};

/** An order was withdrawn before it was carried out. */
export class OrderWithdrawn extends Error {
  override name = "OrderWithdrawn";
}

export type LogPosition = { lines: number } | { offset: number };

export type ProcessManager = {
  /**
   * Called once, first: adopts the running processes of the given programs, starts what should be up, resumes restarts that were
   * interrupted, and ends what should be down or belongs to no program. It does not wait for servers that do not respond; `away`
   * tells whether it is complete.
   */
  resume(programs: readonly Resumed[]): Promise<void>;
  /** Registers a worker that should have no processes, so that `away` covers it as well. */
  know(program: Program): void | Promise<void>;
  /** Starts processes that are not up, and leaves the others alone. Resets the count of failed starts. */
  start(program: Program): void;
  /** Stops the worker; resolves once all of its processes are gone. */
  stop(id: number): Promise<void>;
  /** Stops each process gracefully and starts it again; resolves once the last one is starting. */
  restart(program: Program): Promise<void>;
  /**
   * Replaces processes with other settings one after the other, each once the one before is up. Until its turn, a process keeps
   * the settings of `previous`. Surplus processes go last. It waits for a process that does not come up.
   */
  change(program: Program, previous: Program): Promise<void>;
  /** Ends a change: replaces all processes with other settings than the program's at once. */
  undo(program: Program): Promise<void>;
  /** Replaces processes of deployments older than the program requires. */
  deploy(program: Program): Promise<void>;
  /**
   * Removes a worker: ends all of its processes and deletes its files. Rejects where the files cannot be deleted, and with
   * OrderWithdrawn after `withdraw`.
   */
  remove(id: number): Promise<void>;
  /**
   * Withdraws orders given while the server was away, and undoes those that were carried out after all.
   * @param isUp whether its processes should be up again; null = each as it was
   */
  withdraw(program: Program, isUp: boolean | null): void | Promise<void>;
  /** @returns ids of all workers that it knows */
  known(): number[];
  /** @returns usage of process `number`; empty where it is unknown */
  usage(id: number, number: number): ProcessUsage;
  /** Seconds between samples. */
  usageEvery: number;
  /** @returns the processes; none for an unknown worker */
  processes(id: number): ProcessStatus[];
  /**
   * Reads at most 64 KiB of the log: its last lines, or what follows an offset. Offsets count the worker's bytes from the first
   * one, through all rotations.
   * @returns a log that cannot be read as empty, with the reason
   */
  readLog(id: number, from: LogPosition): Promise<WorkerLog>;
  /** @returns why no worker can run on a server, and what to do, as sentences; null = no reason is known */
  refusal(serverId: number): Promise<string | null>;
  /**
   * @returns null where the worker's server responds. Orders given meanwhile are carried out once it does. `unseen` = it has not
   *   responded since the start of the service, so that its processes are as last recorded
   */
  away(id: number): Away | "unseen" | null;
  /** @returns when the state in `processes` was observed, in milliseconds since 1970; 0 = not since the start of the service */
  seenAt(id: number): number;
  /** Whether the server has responded since the newest order was given. */
  hasTaken(id: number): boolean;
  /** @returns what was changed on the server other than a process, as a sentence; null = nothing */
  notice(id: number): string | null;
  stopAll(): Promise<void>;
  /** Stops at once and leaves the processes to the next start of the service. */
  release(): void;
};

/** A process manager that polls. */
export type LookingManager = ProcessManager & {
  /** Polls now. */
  wake(): void;
};
