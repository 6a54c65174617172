// One heavy job at a time for a server, in the order in which they were asked for. The tasks' rows are the queue, so
// what waits survives the service, and its place can be told.
import type { Logger } from "pino";
import type { Clock } from "../clock.ts";
import type { TaskRow, TaskStore } from "./task-store.ts";
import { Interrupted } from "./words.ts";

export type LaneOptions = {
  tasks: TaskStore;
  /** Does a task and ends it; the outcome is stored, whatever it is. */
  perform(task: TaskRow, signal: AbortSignal): Promise<void>;
  /** Ends a task that was begun and that nobody does any more, and says why. */
  settle(task: TaskRow, reason: Interrupted): Promise<void>;
  clock: Clock;
  log: Logger;
};

/** No dump or restore of ours should take longer; a tool that hangs for good must not hold all others up. */
export const longestTaskMs = 24 * 3600 * 1000;
/** The database may be away for a moment. */
const retryMs = 5000;
/** So long a task may take to put things in order once it was told to end; then nobody waits for it any more. */
const endingMs = 3600 * 1000;

export const cutOff = "Interrupted: the service stopped or crashed during the run.";
const notStored = "Couldn't store the result. See the service's log for the reason.";
const endless = "Timed out after 24 hours.";

/** A deadline or somebody ended it; otherwise its outcome is what went wrong. */
const reasonOf = ({ aborted, reason }: AbortSignal): Interrupted =>
  aborted && reason instanceof Interrupted ? reason : new Interrupted(notStored);

export function createLane({ tasks, perform, settle, clock, log }: LaneOptions) {
  const running = new Map<number, Promise<void>>();
  const woken = new Set<number>();
  /** Begun by a service that was cut off, or ended without its outcome stored; they come before all others. */
  const unsettled: { task: TaskRow; reason: Interrupted }[] = [];
  const stop = new AbortController();
  /** What was cancelled, by the task's id; also between the moment that it is taken and the one that it begins. */
  const cancelled = new Map<number, Interrupted>();
  const performing = new Map<number, AbortController>();

  async function performWithDeadline(task: TaskRow): Promise<void> {
    const deadline = new AbortController();
    const signal = AbortSignal.any([stop.signal, deadline.signal]);
    performing.set(task.id, deadline);
    const reason = cancelled.get(task.id);
    if (reason !== undefined) deadline.abort(reason);
    const cancels = [clock.after(longestTaskMs, () => deadline.abort(new Interrupted(endless)))];
    // A program that was killed may have left one that holds its output open: it is not waited for, for ever.
    const isLost = new Promise<never>((_, reject) => {
      const lose = () => reject(new Error("A heavy job did not end when it was told to."));
      const limit = () => void cancels.push(clock.after(endingMs, lose));
      if (signal.aborted) limit();
      else signal.addEventListener("abort", limit);
    });
    try {
      await Promise.race([perform(task, signal), isLost]);
    } catch (error) {
      unsettled.push({ task, reason: reasonOf(deadline.signal) });
      throw error;
    } finally {
      for (const cancel of cancels) cancel();
      performing.delete(task.id);
      cancelled.delete(task.id);
    }
  }

  async function settleAll(serverId: number): Promise<void> {
    for (const one of unsettled.filter(({ task }) => task.server_id === serverId)) {
      await settle(one.task, one.reason);
      unsettled.splice(unsettled.indexOf(one), 1);
    }
  }

  async function work(serverId: number): Promise<void> {
    while (woken.delete(serverId))
      try {
        await settleAll(serverId);
        let task = await tasks.take(serverId, new Date(clock.now()));
        while (task !== null) {
          await performWithDeadline(task);
          if (stop.signal.aborted) return;
          task = await tasks.take(serverId, new Date(clock.now()));
        }
      } catch (error) {
        log.error({ err: error, server: serverId }, "the server's heavy jobs pause");
        if (!stop.signal.aborted) clock.after(retryMs, () => wake(serverId));
        return;
      }
  }

  /** Looks for work of a server, now or once the job under way has ended. */
  function wake(serverId: number): void {
    if (stop.signal.aborted) return;
    woken.add(serverId);
    if (running.has(serverId)) return;
    running.set(
      serverId,
      work(serverId).finally(() => {
        running.delete(serverId);
        // Somebody may have called between the last look and this line.
        if (woken.has(serverId)) wake(serverId);
      }),
    );
  }

  return {
    wake,

    /** Goes on with what a service before this one has left. */
    async resume(): Promise<void> {
      const begun = await tasks.begun();
      unsettled.push(...begun.map((task) => ({ task, reason: new Interrupted(cutOff) })));
      for (const { server_id } of [...begun, ...(await tasks.waiting())]) wake(server_id);
    },

    /** Ends a task that has begun. @returns false when nobody performs it: it is only left to be settled */
    cancel(task: TaskRow, reason: Interrupted): boolean {
      if (!running.has(task.server_id) || unsettled.some((one) => one.task.id === task.id))
        return false;
      cancelled.set(task.id, reason);
      performing.get(task.id)?.abort(reason);
      return true;
    },

    /** Interrupts what runs and waits until that is stored. */
    async stop(): Promise<void> {
      stop.abort(new Interrupted("Interrupted: the service stopped during the run."));
      await Promise.all(running.values());
    },
  };
}

export type Lane = ReturnType<typeof createLane>;
