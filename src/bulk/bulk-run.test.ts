import { expect, test } from "vitest";
import { ApiError } from "../api/api-error.ts";
import { createRun, hasFailed, hasWaiting, spokenOf, summaryOf } from "./bulk-run.ts";

/** Fakes a service that responds when the test says so. */
function makeService() {
  const asked: number[] = [];
  const open = new Map<number, PromiseWithResolvers<void>>();
  return {
    asked,
    open,
    act(id: number) {
      asked.push(id);
      const answer = Promise.withResolvers<void>();
      open.set(id, answer);
      return answer.promise.finally(() => open.delete(id));
    },
    async answer(id: number, error?: Error) {
      if (error === undefined) open.get(id)?.resolve();
      else open.get(id)?.reject(error);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

const conflict = new ApiError(409, "The worker is removing.");

test("sends at most four requests at once, and the next as soon as one has ended", async () => {
  const { act, asked, answer, open } = makeService();
  const run = createRun({ ids: [1, 2, 3, 4, 5, 6], act, onDone: () => {} });
  expect(run.state.get().phase).toBe("asking");
  void run.start("");
  expect(asked).toEqual([1, 2, 3, 4]);
  expect(hasWaiting(run.state.get())).toBe(true);
  await answer(3);
  expect(asked).toEqual([1, 2, 3, 4, 5]);
  expect(open.size).toBe(4);
});

test("shows each row's result as it arrives, and counts them in the summary", async () => {
  const { act, answer } = makeService();
  const done: number[] = [];
  const run = createRun({ ids: [1, 2, 3], act, onDone: (id) => done.push(id) });
  const over = run.start("");
  await answer(1);
  await answer(2, conflict);
  expect(run.state.get().results.get(2)).toEqual({
    kind: "refused",
    reason: "The worker is removing.",
    requestId: null,
  });
  expect(run.state.get().phase).toBe("running");
  expect(summaryOf(run.state.get())).toBe("1 done, 1 refused");
  await answer(3, new ApiError("unreachable", "The service is not responding."));
  await over;
  expect(run.state.get().phase).toBe("over");
  expect(summaryOf(run.state.get())).toBe("1 done, 1 refused, 1 failed");
  expect(done).toEqual([1]);
});

test("a retry requests what failed, and nothing twice", async () => {
  const { act, answer, asked } = makeService();
  const run = createRun({ ids: [1, 2, 3], act, onDone: () => {} });
  const first = run.start("keep");
  await answer(1);
  await answer(2, conflict);
  await answer(3, conflict);
  await first;
  const second = run.start("keep");
  expect(asked.slice(3)).toEqual([2, 3]);
  await answer(2);
  await answer(3);
  await second;
  expect(summaryOf(run.state.get())).toBe("3 done");
  expect(hasFailed(run.state.get())).toBe(false);
});

test("the rest can be skipped; pending requests still end", async () => {
  const { act, answer, asked } = makeService();
  const run = createRun({ ids: [1, 2, 3, 4, 5], act, onDone: () => {}, atOnce: 2 });
  const over = run.start("");
  run.skipRest();
  await answer(1);
  await answer(2);
  await over;
  expect(asked).toEqual([1, 2]);
  expect(summaryOf(run.state.get())).toBe("2 done, 3 skipped");
  expect(hasFailed(run.state.get())).toBe(true);
});

test("does not change the live region with every row", async () => {
  const { act, answer } = makeService();
  const run = createRun({
    ids: Array.from({ length: 20 }, (_, index) => index),
    act,
    onDone: () => {},
  });
  const spoken = new Set<string>();
  run.state.subscribe(() => spoken.add(spokenOf(run.state.get())));
  const over = run.start("");
  for (let id = 0; id < 20; id++) await answer(id);
  await over;
  expect([...spoken]).toEqual([
    "In progress.",
    "25 percent done.",
    "50 percent done.",
    "75 percent done.",
    "100 percent done.",
    "20 done.",
  ]);
});
