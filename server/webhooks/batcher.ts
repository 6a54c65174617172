// Batches calls: those that come while a batch runs are carried out together in the next one.
import { setImmediate as turnOfEventLoop, setTimeout as wait } from "node:timers/promises";

type Call<Item, Result> = {
  item: Item;
  resolve(result: Result | Promise<Result>): void;
  reject(error: unknown): void;
};

/**
 * @param perform carries out a batch, and resolves with what says the result of each of its items; what it throws is every call's
 * @param restMs between the end of a batch and the next one. The first call after a while waits for nothing.
 */
export function createBatcher<Item, Result>(
  perform: (items: Item[]) => Promise<(item: Item) => Result | Promise<Result>>,
  restMs = 0,
): (item: Item) => Promise<Result> {
  let waiting: Call<Item, Result>[] = [];
  let isUnderWay = false;

  async function performBatch(): Promise<void> {
    const batch = waiting;
    waiting = [];
    try {
      const resultOf = await perform(batch.map(({ item }) => item));
      for (const { item, resolve } of batch) resolve(resultOf(item));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  async function performAll(): Promise<void> {
    isUnderWay = true;
    while (waiting.length > 0) {
      // Calls later in the same turn join the batch.
      await (restMs > 0 ? turnOfEventLoop() : null);
      await performBatch();
      if (restMs > 0) await wait(restMs);
    }
    isUnderWay = false;
  }

  return (item) => {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    waiting.push({ item, resolve, reject });
    if (!isUnderWay) void performAll();
    return promise;
  };
}
