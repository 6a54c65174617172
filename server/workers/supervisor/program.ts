// The words that every part of the supervisor shares.
import type { ProcessState, StopSignal } from "../../../contract/workers/worker.ts";

/** What a worker runs and how it is kept up; the fields mean what they mean to supervisord. */
export type Program = {
  /** The worker's id. */
  id: number;
  /** Never a shell string. */
  args: readonly string[];
  /** Absolute; as root it also decides which account the worker runs as. */
  directory: string;
  processes: number;
  startsecs: number;
  startretries: number;
  stopwaitsecs: number;
  stopsignal: StopSignal;
};

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
