// The words that every part of the supervisor shares.
import type { ProcessState, StopSignal } from "../../../contract/workers/worker.ts";
import type { Account } from "../../hosts/account.ts";

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
  /** The newest deployment when it was started; null = none was known. */
  deployment: number | null;
  /** It ended as `max_jobs` or `max_time` wanted, and its successor is on its way. */
  isBetweenRuns: boolean;
  /** When it was last up and ended by itself; null = it has not, since somebody last asked it to stop. Milliseconds since 1970. */
  upAt: number | null;
  /** When it was not up and should have been: the newest of them, oldest first. */
  outages: readonly Outage[];
};

/** Compatible with pino. */
export type Log = Record<"info" | "warn" | "error", (fields: object, message: string) => void>;

/**
 * The process that a slot started, which leads its own session and process group.
 * A pid alone can be another process tomorrow; with the kernel's start time it cannot.
 */
export type Leader = {
  pid: number;
  /** Clock ticks since boot; null on a system without /proc. */
  startTime: string | null;
};
