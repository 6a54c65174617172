// Batches calls: those that come while a batch runs are carried out together in the next one.
import { setImmediate as turnOfEventLoop, setTimeout as wait } from "node:timers/promises";

type Call<Item, Result> = {
  item: Item;
  resolve(result: Result | Promise<Result>): void;
  reject(error: unknown): void;
};

/**
 * @param perform carries out a batch, and resolves with a function that returns the result of an item; if it rejects, so does every call
 * @param restMs pause between two batches. A call after a longer pause does not wait.
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
