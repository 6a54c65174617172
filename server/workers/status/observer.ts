// Observes workers whose processes changed, one after another, and again later where the database did not respond.
import type { Logger } from "pino";
import type { Clock } from "../../clock.ts";

const retryMs = 1000;

type Observer = {
  /** Called when a process of the worker has changed. */
  notice(id: number): void;
  /** Resolves once all changes noticed so far are observed. */
  settled(): Promise<void>;
  /** Observes nothing more; resolves once the observation under way has ended. */
  stop(): Promise<void>;
};

export function createObserver(
  observe: (id: number) => Promise<void>,
  clock: Clock,
  log: Logger,
): Observer {
  const changed = new Set<number>();
  let running: Promise<void> | null = null;
  let stopped = false;

  const run = async () => {
    // A Set keeps the order of ids. An id that is added during its own observation gets another turn.
    for (const id of changed) {
      if (stopped) return;
      changed.delete(id);
      try {
        await observe(id);
      } catch (error) {
        log.warn({ err: error, worker: id }, "a worker's change could not be stored yet");
        clock.after(retryMs, () => notice(id));
      }
    }
  };

  const notice = (id: number) => {
    changed.add(id);
    if (stopped) return;
    running ??= run().finally(() => {
      running = null;
    });
  };

  return {
    notice,
    async settled() {
      await running;
    },
    async stop() {
      stopped = true;
      await running;
    },
  };
}
