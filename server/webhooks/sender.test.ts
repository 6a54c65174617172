import { expect, test } from "vitest";
import { createBatcher } from "./sender.ts";

/** A batcher whose batches end when the test says so. */
function makeBatcher() {
  const begun: { items: number[]; end(): void; fail(error: Error): void }[] = [];
  const double = createBatcher(async (items: number[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    begun.push({ items, end: resolve, fail: reject });
    await promise;
    return (item: number) => item * 2;
  });
  return { begun, double };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("carries out together what was asked while the batch before was under way, in its order", async () => {
  const { begun, double } = makeBatcher();
  const first = double(1);
  await turn();
  const later = Promise.all([double(2), double(3)]);
  await turn();
  expect(begun.map(({ items }) => items)).toEqual([[1]]);
  begun[0]?.end();
  expect(await first).toBe(2);
  await turn();
  expect(begun.map(({ items }) => items)).toEqual([[1], [2, 3]]);
  begun[1]?.end();
  expect(await later).toEqual([4, 6]);
});

test("fails every call of a batch that fails, and none of the next", async () => {
  const { begun, double } = makeBatcher();
  const failed = Promise.allSettled([double(1), double(2)]);
  await turn();
  const next = double(3);
  begun[0]?.fail(new Error("The database is away."));
  expect((await failed).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await turn();
  begun[1]?.end();
  expect(await next).toBe(6);
});
