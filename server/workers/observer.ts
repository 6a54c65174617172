// Between the supervisor, which calls out at every change, and the database, which may be away:
// workers that changed are looked at one after another, and again later when that failed.
import type { Logger } from "pino";
import type { Clock } from "../clock.ts";

const retryMs = 1000;

type Observer = {
  /** Something changed on this worker. */
  notice(id: number): void;
  /** Resolves once what is looked at now, and what waits for that, was looked at. */
  settled(): Promise<void>;
  /** Looks at nothing from now on; resolves once it does not. */
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
    // A Set keeps the order in which ids came; one that comes again while it is looked at gets another turn.
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
