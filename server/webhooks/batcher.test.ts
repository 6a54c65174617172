import { expect, test } from "vitest";
import { createBatcher } from "./batcher.ts";
import { soon } from "../testing/soon.ts";

/** Creates a batcher whose batches the test ends. */
function makeBatcher(restMs?: number) {
  const begun: { items: number[]; end(): void; fail(error: Error): void }[] = [];
  const double = createBatcher(async (items: number[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    begun.push({ items, end: resolve, fail: reject });
    await promise;
    return (item: number) =>
      item < 0 ? Promise.reject(new Error(`${item} is negative.`)) : item * 2;
  }, restMs);
  /** Waits until a batch has started. */
  const batch = (index: number) =>
    soon(() => {
      const found = begun[index];
      if (found === undefined) throw new Error(`Batch ${index} has not begun.`);
      return found;
    });
  return { begun, batch, double };
}

test("batches calls made during the previous batch, in order", async () => {
  const { begun, batch, double } = makeBatcher();
  const first = double(1);
  await batch(0);
  const later = Promise.all([double(2), double(3)]);
  expect(begun.map(({ items }) => items)).toEqual([[1]]);
  begun[0]?.end();
  expect(await first).toBe(2);
  (await batch(1)).end();
  expect(await later).toEqual([4, 6]);
  expect(begun.map(({ items }) => items)).toEqual([[1], [2, 3]]);
});

test("batches calls of one turn of the event loop, if batches rest", async () => {
  const { batch, double } = makeBatcher(1);
  const both = Promise.all([double(1), Promise.resolve().then(() => double(2))]);
  const { items, end } = await batch(0);
  expect(items).toEqual([1, 2]);
  end();
  expect(await both).toEqual([2, 4]);
});

test("collects calls during the rest after a batch", async () => {
  const { begun, batch, double } = makeBatcher(20);
  const first = double(1);
  (await batch(0)).end();
  await first;
  const second = double(2);
  const third = double(3);
  expect(begun).toHaveLength(1);
  (await batch(1)).end();
  expect(await Promise.all([second, third])).toEqual([4, 6]);
});

test("fails every call of a failing batch, and none of the next", async () => {
  const { batch, double } = makeBatcher();
  const failed = Promise.allSettled([double(1), double(2)]);
  const { fail } = await batch(0);
  const next = double(3);
  fail(new Error("The database is away."));
  expect((await failed).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  (await batch(1)).end();
  expect(await next).toBe(6);
});

test("fails a single call if only its result is a failure", async () => {
  const { batch, double } = makeBatcher();
  const settled = Promise.allSettled([double(1), double(-1)]);
  (await batch(0)).end();
  expect((await settled).map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
});
