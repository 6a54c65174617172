// Limits how many operations run at once; the others wait in a queue.

export type Limiter = {
  /**
   * Waits for a free slot, then runs the work.
   * @param canWait queues behind all work that cannot wait
   * @throws the signal's reason while it waits
   */
  run<Result>(
    work: () => Promise<Result>,
    signal?: AbortSignal,
    canWait?: boolean,
  ): Promise<Result>;
};

export function createLimiter(atOnce: number): Limiter {
  let running = 0;
  const lines = { first: new Set<() => void>(), last: new Set<() => void>() };

  async function enter(waiting: Set<() => void>, signal?: AbortSignal): Promise<void> {
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
    // `leave` hands the slot over.
    waiting.add(turn.resolve);
    await turn.promise.finally(() => signal?.removeEventListener("abort", abort));
  }

  function leave(): void {
    const [next] = [...lines.first, ...lines.last];
    if (next === undefined) running -= 1;
    else {
      for (const line of Object.values(lines)) line.delete(next);
      next();
    }
  }

  return {
    async run(work, signal, canWait = false) {
      await enter(canWait ? lines.last : lines.first, signal);
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
