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
  /** Ends a task that was begun and that nobody does any more. */
  settle(task: TaskRow): Promise<void>;
  clock: Clock;
  log: Logger;
};

/** No dump or restore of ours should take longer; a tool that hangs for good must not hold all others up. */
export const longestTaskMs = 24 * 3600 * 1000;
/** The database may be away for a moment. */
const retryMs = 5000;

export function createLane({ tasks, perform, settle, clock, log }: LaneOptions) {
  const running = new Map<number, Promise<void>>();
  const woken = new Set<number>();
  /** Begun by a service that was cut off, or ended without its outcome stored; they come before all others. */
  const unsettled: TaskRow[] = [];
  const stop = new AbortController();

  async function performWithDeadline(task: TaskRow): Promise<void> {
    const deadline = new AbortController();
    const cancel = clock.after(longestTaskMs, () =>
      deadline.abort(new Interrupted("It took longer than 24 hours and was ended.")),
    );
    try {
      await perform(task, AbortSignal.any([stop.signal, deadline.signal]));
    } finally {
      cancel();
    }
  }

  async function settleAll(serverId: number): Promise<void> {
    for (const task of unsettled.filter(({ server_id }) => server_id === serverId)) {
      await settle(task);
      unsettled.splice(unsettled.indexOf(task), 1);
    }
  }

  async function work(serverId: number): Promise<void> {
    while (woken.delete(serverId))
      try {
        await settleAll(serverId);
        let task = await tasks.take(serverId, new Date(clock.now()));
        while (task !== null) {
          await performWithDeadline(task).catch((error: unknown) => {
            if (task !== null) unsettled.push(task);
            throw error;
          });
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
      unsettled.push(...(await tasks.begun()));
      const waiting = await tasks.waiting();
      for (const { server_id } of [...unsettled, ...waiting]) wake(server_id);
    },

    /** Interrupts what runs and waits until that is stored. */
    async stop(): Promise<void> {
      stop.abort(new Interrupted("Interrupted: the service was stopped while it ran."));
      await Promise.all(running.values());
    },
  };
}

export type Lane = ReturnType<typeof createLane>;
