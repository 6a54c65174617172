// Who keeps the processes of workers up: the supervisor inside the service, or the supervisord of a server. The rest of the
// room knows no more of it than this.
import type { ProcessState, StopSignal, WorkerLog } from "../../contract/workers/worker.ts";
import type { Account } from "../hosts/account.ts";

/** What a worker runs and how it is kept up; the fields mean what they mean to supervisord. */
export type Program = {
  /** The worker's id. */
  id: number;
  /** Never a shell string. */
  args: readonly string[];
  /** Absolute; what the worker runs in lies in it, links followed. */
  root: string;
  /** As it was typed: absolute, or from the root on; null = the root. Resolved at each start. */
  directory: string | null;
  /** Whom it runs as, or why there is nobody: a sentence. */
  account: Account | { problem: string };
  processes: number;
  startsecs: number;
  startretries: number;
  stopwaitsecs: number;
  stopsignal: StopSignal;
  /** A restart signals the leader's whole group at once, and not the leader alone. A stop always does. */
  stopasgroup: boolean;
  /**
   * Counts the worker's orders. A process that was started for this one or a later one is not restarted for it again;
   * null = every restart restarts.
   */
  order: number | null;
  /** Which settings these are. A process that was started with others can be replaced for that alone. */
  settings: number;
  /** After so many jobs, or seconds, a process ends by itself; 0 = never. */
  maxJobs: number;
  maxTime: number;
  /** The deployment that a process carries which is started now; null = none is known. */
  deployment: number | null;
  /** A process that carries an older one is to be replaced; null = each may stay. */
  requiredDeployment: number | null;
};

/** From an end that nobody asked for and no rule explains, until the process is up again or is not to be. Milliseconds since 1970. */
export type Outage = { at: number; backAt: number | null };

export type ProcessStatus = {
  /** Counts from 1. */
  number: number;
  pid: number | null;
  state: ProcessState;
  since: Date;
  /** Of the last process that ended here; null when none has, a signal ended it, or nobody saw it. */
  exitCode: number | null;
  /** How often it was started again without anybody asking for it, since somebody last asked. */
  restarts: number;
  /** Why it is not simply up, in the operator's words. */
  reason: string | null;
  /** Somebody stopped it on its server, and not by an order from here. */
  isStoppedElsewhere?: boolean;
  /** The newest deployment when it was started; null = none was known. */
  deployment: number | null;
  /** The settings that it was started with; see `Program`. */
  settings: number;
  /** It ended as `max_jobs` or `max_time` wanted, and its successor is on its way. */
  isBetweenRuns: boolean;
  /** When it was last up and ended by itself; null = it has not, since somebody last asked it to stop. Milliseconds since 1970. */
  upAt: number | null;
  /** When it was not up and should have been: the newest of them, oldest first. */
  outages: readonly Outage[];
  /** How the newest of them began, in a sentence; null where nobody saw that, or an earlier life of the service did. */
  lastEnd: string | null;
};

/** What a process, with all that it started, took of the machine within the last hour. Milliseconds since 1970. */
export type ProcessUsage = {
  starts: number[];
  /** `cpu` is percent of a core since the sample before, `memory` resident bytes. */
  samples: { atMs: number; cpu: number; memory: number }[];
};

/** Nothing can be asked of what keeps a worker's processes up; why = a sentence that says what to do. */
export type Away = { since: Date; reason: string };

/** A process that had to be killed, because a stop or restart had lasted its stop seconds. */
export type Kill = { number: number; reason: string };

/** What a process manager reports of a worker, at the earliest once it was given one. */
export type ProcessListener = {
  /** After each change of a process; ask `processes(id)` what it is now. */
  onChange(id: number): void;
  onKill(id: number, kill: Kill): void;
};

export type Resumed = {
  program: Program;
  up: boolean;
  /** The newest order to restart: a process that was started before it is restarted now. */
  restartOrder?: number | null;
  /** What it ran before a change that was cut off, which is gone on with. */
  previous?: Program | null;
  /** What the instance that looked after it before knew of its processes; left out: what this one knew last. */
  records?: string | undefined;
};

/** A removal was withdrawn before it was carried out. */
export class OrderWithdrawn extends Error {
  override name = "OrderWithdrawn";
}

export type LogPosition = { lines: number } | { offset: number };

export type ProcessManager = {
  /**
   * Once, before anything else: takes up the living processes of the given programs, starts what should
   * be up and is not, goes on with restarts that were cut off, and sees to the end of what should be down and of what no
   * program claims. It waits for nothing that may be away: `away` says whether that is done.
   */
  resume(programs: readonly Resumed[]): Promise<void>;
  /** Makes a worker known that is to have no processes, so that it is told as well when it cannot be asked for. */
  know(program: Program): void | Promise<void>;
  /** Brings up what is not; what runs stays as it is. The count of failed starts begins anew. */
  start(program: Program): void;
  /** Resolves when every process of the worker is gone. */
  stop(id: number): Promise<void>;
  /** Ends each process gracefully and starts it anew; resolves when the last is on its way. */
  restart(program: Program): Promise<void>;
  /**
   * Replaces each process of other settings, one after the other: the next one once its predecessor is up. Until its turn
   * comes a process keeps to those of `previous`. What is too many goes last. It waits at one that does not come up.
   */
  change(program: Program, previous: Program): Promise<void>;
  /** Ends a change: replaces at once what has other settings than the program's, and leaves the rest alone. */
  undo(program: Program): Promise<void>;
  /** Replaces each process that carries an older deployment than the program requires; the rest stays as it is. */
  deploy(program: Program): Promise<void>;
  /**
   * Of a worker that it knows: stops, ends all that is still the worker's, deletes its files. Rejects where those stay, with
   * OrderWithdrawn by `withdraw`.
   */
  remove(id: number): Promise<void>;
  /**
   * Takes back what was asked for while the worker could not be asked; what was carried out of it all the same is undone.
   * @param isUp whether its processes were to be up before that; null = each as it was
   */
  withdraw(program: Program, isUp: boolean | null): void | Promise<void>;
  /** Every worker that it was given and that was not removed. */
  known(): number[];
  /** Of process `number`; empty where nothing is known. */
  usage(id: number, number: number): ProcessUsage;
  /** Seconds between two samples of it. */
  usageEvery: number;
  /** Empty for a worker that it does not know. */
  processes(id: number): ProcessStatus[];
  /**
   * At most 64 KiB of the log: its last lines, or what follows an offset. Offsets count bytes from the
   * worker's first one, through every rotation. Where the log cannot be read, nothing and why.
   */
  readLog(id: number, from: LogPosition): Promise<WorkerLog>;
  /** Why no worker can be kept up on a server, and what to do: sentences; null = nothing is known against it. */
  refusal(serverId: number): Promise<string | null>;
  /**
   * Null where what keeps the worker up can be asked. Orders given meanwhile are carried out once it can. `unseen` = nobody
   * has looked yet since the start of the service, so that the processes are as an earlier life of it saw them last.
   */
  away(id: number): Away | "unseen" | null;
  /** When that was looked at which `processes` says; 0 = not since the start of the service. Milliseconds since 1970. */
  seenAt(id: number): number;
  /** Whether the newest order was taken up for certain: what keeps the worker up has answered since it was given. */
  hasTaken(id: number): boolean;
  /** What is not as it was left, and no matter of one process: a sentence. */
  notice(id: number): string | null;
  stopAll(): Promise<void>;
  /** Forgets everything at once and leaves the processes to the next start of the service. */
  release(): void;
};

/** One that finds out by looking now and then. */
export type LookingManager = ProcessManager & {
  /** Looks now. */
  wake(): void;
};
