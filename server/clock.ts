// The clock, passed in wherever it matters, so that tests control the time.

export type Clock = {
  /** Milliseconds since 1970, like `Date.now()`. */
  now(): number;
  /**
   * Calls `run` once after `delayMs` milliseconds.
   * @returns a function that cancels it
   */
  after(delayMs: number, run: () => void): () => void;
};

/** Longest delay of a Node timer; a longer one would fire at once. */
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
