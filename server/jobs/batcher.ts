// Gathers calls while those before them are carried out, and carries them out together: one query instead of many, and none
// waits for a timer.

/**
 * @param perform carries out a batch, and resolves with what says the result of each of its items; what it throws is every call's
 */
export function createBatcher<Item, Result>(
  perform: (items: Item[]) => Promise<(item: Item) => Result>,
): (item: Item) => Promise<Result> {
  let waiting: { item: Item; resolve(result: Result): void; reject(error: unknown): void }[] = [];
  let last = Promise.resolve();

  async function performBatch(): Promise<void> {
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    try {
      const resultOf = await perform(batch.map(({ item }) => item));
      for (const { item, resolve } of batch) resolve(resultOf(item));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return (item) => {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    waiting.push({ item, resolve, reject });
    last = last.then(performBatch);
    return promise;
  };
}
