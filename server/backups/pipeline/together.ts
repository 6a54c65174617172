// Runs the parts of one pipeline side by side, so that none of them can wait for another that has failed.
import { toError } from "../../to-error.ts";

/** How long to wait for the other parts after the first failure; their signal has ended their processes. */
export const settleMs = 10_000;

type Failing = {
  /** Aborted with the first error, or with the reason of an abort from outside. */
  signal: AbortSignal;
  /** Rejects with the same. */
  failed: Promise<never>;
  /** Announces the failure of a part, which has until the time limit to throw its error; after that, `reason` is thrown. */
  expectFailure(reason?: Error): void;
};

/**
 * Runs all parts to their end. The first that fails, or an abort from outside, aborts the others.
 * @returns the results, even if an abort came after the last part had ended
 * @throws the first error, within `settleMs`
 */
export async function runTogether<Results extends readonly unknown[]>(
  outside: AbortSignal,
  start: (failing: Failing) => { [Part in keyof Results]: Promise<Results[Part]> },
): Promise<Results> {
  const failing = new AbortController();
  const { signal } = failing;
  const failed = Promise.withResolvers<never>();
  const lost = Promise.withResolvers<null>();
  failed.promise.catch(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  // The first of several reasons is kept.
  const fail = (reason: unknown) => failing.abort(reason);
  const expectFailure = (
    reason = new Error(`A part didn't end within ${settleMs / 1000} s of its failure.`),
  ) => {
    timer ??= setTimeout(() => {
      fail(reason);
      lost.resolve(null);
    }, settleMs);
  };
  signal.addEventListener("abort", () => {
    failed.reject(toError(signal.reason));
    expectFailure();
  });
  const abort = () => fail(outside.reason);
  outside.throwIfAborted();
  outside.addEventListener("abort", abort, { once: true });
  try {
    const parts: Promise<unknown>[] = [...start({ signal, failed: failed.promise, expectFailure })];
    for (const part of parts) part.catch(fail);
    const settled = await Promise.race([Promise.allSettled(parts), lost.promise]);
    if (settled === null || settled.some(({ status }) => status === "rejected"))
      throw signal.reason;
    // All of them were fulfilled, in the order in which they were started.
    return (await Promise.all(parts)) as unknown as Results;
  } finally {
    clearTimeout(timer);
    outside.removeEventListener("abort", abort);
  }
}

/** Waits for work that has no signal of its own and needs no cleanup, only until the signal is aborted. */
export async function untilAborted<Result>(
  signal: AbortSignal,
  work: Promise<Result>,
): Promise<Result> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(toError(signal.reason));
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
