// Runs the heavy jobs that the engine hands out: with a deadline, until somebody cancels them, or to the end of one
// that another runner left. The engine keeps their order, and one at a time for a server.
import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../clock.ts";
import { ClaimLost, type Claim } from "../jobs/job-runner.ts";
import { describeDatabaseError } from "../store/database-error.ts";
import type { TaskRow, TaskStore } from "./task-store.ts";
import { Interrupted } from "./failure-message.ts";

export type TaskRunnerOptions = {
  tasks: TaskStore;
  /** Does a task and ends it; the outcome is stored, whatever it is. */
  perform(task: TaskRow, signal: AbortSignal): Promise<void>;
  /** Ends a task that was begun and that nobody does any more, and says why. */
  settle(task: TaskRow, reason: Interrupted): Promise<void>;
  clock: Clock;
};

/** So long a task may wait. */
export const longestWaitMs = 24 * 3600 * 1000;
/**
 * No dump or restore of ours should take longer; a tool that hangs for good must not hold all others up. With the time
 * to put things in order it is less than the engine gives a job.
 */
export const longestTaskMs = 22 * 3600 * 1000;
/** So long a task may take to put things in order once it was told to end; then nobody waits for it any more. */
const endingMs = 3600 * 1000;
/** A job is claimed a moment before its runner can be told to end it. */
const beginningMs = 2000;

export const cutOff = "Interrupted: the service stopped or crashed during the run.";
const hung = "Interrupted: the service hung, or was cut off from its database, during the run.";
const notStored = "Couldn't store the result.";
const endless = "Timed out after 22 hours.";

/** A deadline or somebody ended it; otherwise its outcome is what went wrong. */
function reasonOf({ aborted, reason }: AbortSignal, error: unknown): Interrupted {
  if (aborted && reason instanceof Interrupted) return reason;
  // It was given to this very instance again, which was thought dead.
  if (error instanceof ClaimLost) return new Interrupted(hung);
  const database = describeDatabaseError(error);
  const why =
    database === null
      ? "See the service's log for the reason."
      : `Quarterdeck couldn't use its own database. ${database}`;
  return new Interrupted(`${notStored} ${why}`);
}

export function createTaskRunner({ tasks, perform, settle, clock }: TaskRunnerOptions) {
  const stop = new AbortController();
  /** Why a task that ended here without its outcome stored did so, for whoever settles it; by its id. */
  const reasons = new Map<string, Interrupted>();
  /** What runs here, by the task's id. */
  const performing = new Map<string, AbortController>();
  const running = new Set<Promise<void>>();
  /** The newest task of each server; one whose claim was lost may still be ending when the next one comes. */
  const last = new Map<number, Promise<void>>();

  async function performWithDeadline(task: TaskRow, claim: AbortSignal): Promise<void> {
    const ending = new AbortController();
    const signal = AbortSignal.any([stop.signal, ending.signal, claim]);
    performing.set(task.id, ending);
    const cancels = [clock.after(longestTaskMs, () => ending.abort(new Interrupted(endless)))];
    // A program that was killed may have left one that holds its output open: it is not waited for, for ever.
    const isLost = new Promise<never>((_, reject) => {
      const lose = () => reject(new Error("A job did not end when it was canceled."));
      const limit = () => void cancels.push(clock.after(endingMs, lose));
      if (signal.aborted) limit();
      else signal.addEventListener("abort", limit);
    });
    try {
      await Promise.race([perform(task, signal), isLost]);
    } catch (error) {
      reasons.set(task.id, reasonOf(ending.signal, error));
      throw error;
    } finally {
      for (const cancel of cancels) cancel();
      performing.delete(task.id);
    }
  }

  async function begin(task: TaskRow, signal: AbortSignal): Promise<void> {
    if (stop.signal.aborted)
      throw new Error("The service is being stopped; the job has not begun.");
    if (task.started_at !== null) {
      await settle(task, reasons.get(task.id) ?? new Interrupted(cutOff));
      reasons.delete(task.id);
      return;
    }
    const startedAt = new Date(clock.now());
    await tasks.begin(task, startedAt);
    await performWithDeadline({ ...task, started_at: startedAt }, signal);
  }

  async function take(claim: Claim, signal: AbortSignal): Promise<void> {
    const found = await tasks.byId(claim.id);
    if (found === null) return;
    // The claim's attempt, not the row's: by now somebody else may have the job.
    const task = { ...found, ...claim };
    const before = last.get(task.server_id) ?? Promise.resolve();
    const done = before.then(() => begin(task, signal));
    const settled = done.catch(() => undefined);
    last.set(task.server_id, settled);
    try {
      await done;
    } finally {
      if (last.get(task.server_id) === settled) last.delete(task.server_id);
    }
  }

  /** Whether a task runs here; one that was claimed a moment ago is given time to begin. */
  async function performs({ id, is_claimed }: TaskRow): Promise<boolean> {
    const untilMs = performance.now() + (is_claimed ? beginningMs : 0);
    while (!performing.has(id) && performance.now() < untilMs) await wait(20);
    return performing.has(id);
  }

  return {
    /** Takes a claimed job to its end. What it leaves behind when it throws is settled by the next claim. */
    async run(claim: Claim, signal: AbortSignal): Promise<void> {
      const done = take(claim, signal);
      running.add(done);
      await done.finally(() => running.delete(done));
    },

    performs,

    /** Whether anything runs here for a server. */
    isBusyWith: (serverId: number): boolean => last.has(serverId),

    /** Ends a task that has begun. @returns false when nobody here performs it: it is only left to be settled */
    async cancel(task: TaskRow, reason: Interrupted): Promise<boolean> {
      const isHere = await performs(task);
      performing.get(task.id)?.abort(reason);
      return isHere;
    },

    /** Interrupts what runs and waits until that is stored. */
    async stop(): Promise<void> {
      stop.abort(new Interrupted("Interrupted: the service stopped during the run."));
      await Promise.allSettled(running);
    },
  };
}

export type TaskRunner = ReturnType<typeof createTaskRunner>;
