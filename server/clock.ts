// Time, passed in wherever it matters, so that a test decides what time it is.

export type Clock = {
  /** Milliseconds since 1970, like `Date.now()`. */
  now(): number;
  /** Calls `run` once in `delayMs` milliseconds; the answer cancels it. */
  after(delayMs: number, run: () => void): () => void;
};

/** What a timer of Node can wait at the most; beyond it, it would fire at once. */
const longestTimerMs = 2_147_483_647;

export const systemClock: Clock = {
  now: Date.now,
  after(delayMs, run) {
    const dueMs = Date.now() + delayMs;
    let timer: NodeJS.Timeout;
    const arm = () => {
      const leftMs = dueMs - Date.now();
      timer =
        leftMs > longestTimerMs
          ? setTimeout(arm, longestTimerMs)
          : setTimeout(run, Math.max(0, leftMs));
    };
    arm();
    return () => clearTimeout(timer);
  },
};
