// Work that is done again and again: when somebody wakes it, and now and then by itself. It never overlaps itself.
import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";

type LoopOptions = {
  /** What it does, for the log. */
  name: string;
  /** Waits at most so long for somebody to wake it, or as long as is said after a turn; null = until somebody does. */
  everyMs: number | (() => number | null);
  /** From the end of a turn to the next one at least, so that one turn does what many ask for; none if not given. */
  restMs?: number;
  /** One turn. It looks at everything that is to be done; an error is logged, and the next turn tries again. */
  turn(signal: AbortSignal): Promise<void>;
  clock: Clock;
  log: Pick<Log, "error">;
};

export type Loop = {
  /** Does a turn now, or once more after the one under way. */
  wake(): void;
  /** Resolves when the turn under way has ended; none follows. */
  stop(): Promise<void>;
};

export function createLoop(options: LoopOptions): Loop {
  const { name, everyMs, restMs = 0, turn, clock, log } = options;
  const stopping = new AbortController();
  let running: Promise<void> | null = null;
  let isWanted = false;
  let cancel: () => void = () => undefined;

  async function run(): Promise<void> {
    while (isWanted && !stopping.signal.aborted) {
      isWanted = false;
      try {
        await turn(stopping.signal);
      } catch (error) {
        if (!stopping.signal.aborted) log.error({ err: error }, `${name}: this is tried again`);
      }
      if (restMs > 0) await wait(restMs, null, { signal: stopping.signal }).catch(() => undefined);
    }
    running = null;
    if (stopping.signal.aborted) return;
    const delayMs = typeof everyMs === "number" ? everyMs : everyMs();
    if (delayMs !== null) cancel = clock.after(delayMs, wake);
  }

  function wake(): void {
    if (stopping.signal.aborted) return;
    isWanted = true;
    if (running !== null) return;
    cancel();
    running = run();
  }

  return {
    wake,
    async stop() {
      stopping.abort();
      cancel();
      await running;
    },
  };
}
