// Lets a number of things happen at once; the others wait in line.

export type Limiter = {
  /** Waits for its turn, then runs. @throws the signal's reason while it waits */
  run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
};

export function createLimiter(atOnce: number): Limiter {
  let running = 0;
  const waiting = new Set<() => void>();

  async function enter(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (running < atOnce) {
      running += 1;
      return;
    }
    const turn = Promise.withResolvers<void>();
    const abort = () => {
      waiting.delete(turn.resolve);
      turn.reject(signal?.reason);
    };
    signal?.addEventListener("abort", abort, { once: true });
    // Its place is handed over by whoever leaves.
    waiting.add(turn.resolve);
    await turn.promise.finally(() => signal?.removeEventListener("abort", abort));
  }

  function leave(): void {
    const [next] = waiting;
    if (next === undefined) running -= 1;
    else {
      waiting.delete(next);
      next();
    }
  }

  return {
    async run(work, signal) {
      await enter(signal);
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
