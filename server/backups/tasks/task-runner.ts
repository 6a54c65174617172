// Runs the tasks that pg-boss hands out: until they end, are canceled, or reach their deadline; and settles those that another
// runner left. pg-boss keeps their order, and runs one at a time for each server.
import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../../clock.ts";
import { ClaimLost, type Claim } from "../../jobs/job-runner.ts";
import { describeDatabaseError } from "../../store/database-error.ts";
import type { TaskRow, TaskStore } from "./task-store.ts";
import { Interrupted, TimedOut } from "../failure-message.ts";

export type TaskRunnerOptions = {
  tasks: TaskStore;
  /** Performs a task, stores its outcome and ends it. */
  perform(task: TaskRow, signal: AbortSignal): Promise<void>;
  /** Ends a task that its runner has abandoned, and stores why. */
  settle(task: TaskRow, reason: Interrupted): Promise<void>;
  clock: Clock;
};

/** How long a task may wait. */
export const longestWaitMs = 24 * 3600 * 1000;
/**
 * How long a task may run, so that a tool that hangs does not hold up all others. Together with `endingMs` it is less than
 * pg-boss allows a job.
 */
export const longestTaskMs = 22 * 3600 * 1000;
/** How long a task may take to clean up once it was told to end; then it is abandoned. */
const endingMs = 3600 * 1000;
/** How long after a claim its task may not be registered here yet. */
const beginningMs = 2000;

export const cutOff = "Interrupted: the service stopped or crashed during the run.";
const hung = "Interrupted: the service hung, or was cut off from its database, during the run.";
const notStored = "Couldn't store the result.";
const endless = "Timed out after 22 hours.";

/** @returns the reason of the deadline or cancellation; otherwise the error */
function reasonOf({ aborted, reason }: AbortSignal, error: unknown): Interrupted {
  if (aborted && reason instanceof Interrupted) return reason;
  // This instance was considered dead and has claimed its own task again.
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
  /** By id of the task: why it ended here without a stored outcome, for the runner that settles it. */
  const reasons = new Map<string, Interrupted>();
  /** Tasks that run here, by id. */
  const performing = new Map<string, AbortController>();
  const running = new Set<Promise<void>>();
  /** The newest task of each server; a task whose claim was lost may still be ending when the next one begins. */
  const last = new Map<number, Promise<void>>();

  async function performWithDeadline(task: TaskRow, claim: AbortSignal): Promise<void> {
    const ending = new AbortController();
    const signal = AbortSignal.any([stop.signal, ending.signal, claim]);
    performing.set(task.id, ending);
    const cancels = [clock.after(longestTaskMs, () => ending.abort(new TimedOut(endless)))];
    // A program that was killed may leave a child that keeps its output open, which must not be waited for forever.
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
    // The attempt of the claim, because the row may already be claimed by another runner.
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

  /** Whether a task runs here; waits for one that was just claimed. */
  async function performs({ id, is_claimed }: TaskRow): Promise<boolean> {
    const untilMs = performance.now() + (is_claimed ? beginningMs : 0);
    while (!performing.has(id) && performance.now() < untilMs) await wait(20);
    return performing.has(id);
  }

  return {
    /** Performs a claimed task. If it throws, the next claim settles what is left. */
    async run(claim: Claim, signal: AbortSignal): Promise<void> {
      const done = take(claim, signal);
      running.add(done);
      await done.finally(() => running.delete(done));
    },

    performs,

    /** Whether a task of the server runs here. */
    isBusyWith: (serverId: number): boolean => last.has(serverId),

    /**
     * Cancels a task that has begun.
     * @returns false where it does not run here and only has to be settled
     */
    async cancel(task: TaskRow, reason: Interrupted): Promise<boolean> {
      const isHere = await performs(task);
      performing.get(task.id)?.abort(reason);
      return isHere;
    },

    /** Interrupts all tasks, and waits until their outcomes are stored. */
    async stop(): Promise<void> {
      stop.abort(new Interrupted("Interrupted: the service stopped during the run."));
      await Promise.allSettled(running);
    },
  };
}

export type TaskRunner = ReturnType<typeof createTaskRunner>;
