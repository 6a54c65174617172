// Repeats work: when it is woken, and after a time. It never overlaps itself.
import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";

type LoopOptions = {
  /** What the loop does, for the log. */
  name: string;
  /** The longest wait between turns, or a function that is asked after each turn; null = it waits to be woken. */
  everyMs: number | (() => number | null);
  /** The shortest wait between turns, so that one turn serves many wakes, by how long the last one took; if not given, none. */
  restMs?: number | ((turnMs: number) => number);
  /** One turn, which does all that is due. An error is logged, and the next turn tries again. */
  turn(signal: AbortSignal): Promise<void>;
  clock: Clock;
  log: Pick<Log, "error">;
};

export type Loop = {
  /** Starts a turn now, or another one after the one that runs. */
  wake(): void;
  /** Starts no further turn; resolves once the one that runs has ended. */
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
      const startedMs = performance.now();
      try {
        await turn(stopping.signal);
      } catch (error) {
        if (!stopping.signal.aborted) log.error({ err: error }, `${name}: this is tried again`);
      }
      const turnMs = performance.now() - startedMs;
      const leastMs = typeof restMs === "number" ? restMs : restMs(turnMs);
      if (leastMs > 0)
        await wait(leastMs, null, { signal: stopping.signal }).catch(() => undefined);
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
