import fc from "fast-check";
import { expect, test, vi } from "vitest";
import {
  type Changes,
  createSelection,
  inverse,
  type Owner,
  withChanges,
} from "./channel-selection.ts";

const changes = (...pairs: [number, boolean][]): Changes => new Map(pairs);

test("a change appends and removes ids, and keeps the others in place", () => {
  expect(withChanges([3, 1, 2], changes([4, true], [1, false], [2, true], [9, false]))).toEqual([
    3, 2, 4,
  ]);
});

test("the inverse of a change restores the previous set", () => {
  const ids = fc.uniqueArray(fc.integer({ min: 1, max: 8 }));
  const wanted = fc.array(fc.tuple(fc.integer({ min: 1, max: 8 }), fc.boolean()));
  fc.assert(
    fc.property(ids, wanted, (before, pairs) => {
      const changed = new Map(pairs.filter(([id, isChosen]) => before.includes(id) !== isChosen));
      const back = withChanges(withChanges(before, changed), inverse(changed));
      expect(new Set(back)).toEqual(new Set(before));
    }),
  );
});

/** Fakes a service that responds when the test says so. */
function makeService(ids: number[]) {
  const asked: { ids: readonly number[]; answer: (error?: Error) => Promise<void> }[] = [];
  let stored: readonly number[] = ids;
  const selection = createSelection({
    current: () => stored,
    save: (wanted) =>
      new Promise((resolve, reject) => {
        asked.push({
          ids: wanted,
          answer: async (error) => {
            if (error === undefined) {
              stored = wanted;
              resolve();
            } else reject(error);
            // Waits until the effects of the response have happened.
            await new Promise((done) => setTimeout(done));
          },
        });
      }),
  });
  const shown = () => withChanges(stored, selection.unsaved.get());
  const saves = () => asked.map((one) => one.ids);
  const answer = (index: number, error?: Error) => asked[index]?.answer(error);
  return { selection, shown, saves, answer };
}

const makeOwner = () => ({ saved: vi.fn<Owner["saved"]>(), refused: vi.fn<Owner["refused"]>() });

test("saves two quick changes one after the other, the second with both", async () => {
  const { selection, shown, saves, answer } = makeService([1]);
  const owner = makeOwner();
  selection.change(changes([2, true]), owner);
  selection.change(changes([3, true]), owner);
  expect([shown(), saves()]).toEqual([[1, 2, 3], [[1, 2]]]);
  await answer(0);
  expect([shown(), saves()]).toEqual([
    [1, 2, 3],
    [
      [1, 2],
      [1, 2, 3],
    ],
  ]);
  await answer(1);
  expect(owner.saved.mock.calls).toEqual([[changes([2, true])], [changes([3, true])]]);
  expect(selection.unsaved.get().size).toBe(0);
});

test("saves waiting changes together, and only their final state", async () => {
  const { selection, shown, saves, answer } = makeService([]);
  const owner = makeOwner();
  selection.change(changes([1, true]), owner);
  selection.change(changes([2, true]), owner);
  selection.change(changes([3, true]), owner);
  selection.change(changes([2, false]), owner);
  expect(shown()).toEqual([1, 3]);
  await answer(0);
  expect(saves()).toEqual([[1], [1, 3]]);
});

test("does not send a change that was reverted before its turn", async () => {
  const { selection, saves, answer } = makeService([]);
  const owner = makeOwner();
  selection.change(changes([1, true]), owner);
  selection.change(changes([1, false]), owner);
  selection.change(changes([1, true]), owner);
  await answer(0);
  expect(saves()).toEqual([[1]]);
});

test("reverts a refused change, and still saves a later one", async () => {
  const { selection, shown, saves, answer } = makeService([1]);
  const owner = makeOwner();
  selection.change(changes([2, true]), owner);
  selection.change(changes([1, false]), owner);
  const error = new Error("refused");
  await answer(0, error);
  expect(owner.refused.mock.calls).toEqual([[error, changes([2, true]), [1, 2]]]);
  expect([shown(), saves()]).toEqual([[], [[1, 2], []]]);
  await answer(1);
  expect(shown()).toEqual([]);
});

test("saves changes of different owners separately, so that a refusal affects only one", async () => {
  const { selection, saves, answer } = makeService([]);
  const [boxes, form] = [makeOwner(), makeOwner()];
  selection.change(changes([1, true]), boxes);
  selection.change(changes([99, true]), form);
  selection.change(changes([2, true]), boxes);
  await answer(0);
  await answer(1, new Error("There is no channel 99."));
  await answer(2);
  expect(saves()).toEqual([[1], [1, 99], [1, 2]]);
  expect([form.refused.mock.calls.length, boxes.refused.mock.calls.length]).toEqual([1, 0]);
});

test("saves a change that is made while a response is handled, too", async () => {
  const { selection, saves, answer } = makeService([]);
  const owner = makeOwner();
  owner.saved.mockImplementationOnce(() => selection.change(changes([2, true]), owner));
  selection.change(changes([1, true]), owner);
  await answer(0);
  await answer(1);
  expect(saves()).toEqual([[1], [1, 2]]);
});

test("applies a change to the current state of the service, and fails if that is unavailable", async () => {
  let stored: readonly number[] = [1];
  let isAway = false;
  const save = vi.fn<(ids: readonly number[]) => Promise<void>>(async (ids) => void (stored = ids));
  const { change, unsaved } = createSelection({
    refresh: async () => {
      if (isAway) throw new Error("away");
      // Another user has selected the channel meanwhile.
      stored = [...new Set([...stored, 7])];
    },
    current: () => stored,
    save,
  });
  const owner = makeOwner();
  change(changes([2, true]), owner);
  await vi.waitFor(() => expect(owner.saved).toHaveBeenCalledOnce());
  expect(save.mock.calls).toEqual([[[1, 7, 2]]]);
  isAway = true;
  change(changes([3, true]), owner);
  await vi.waitFor(() => expect(owner.refused).toHaveBeenCalledOnce());
  expect(unsaved.get().size).toBe(0);
  expect(stored).toEqual([1, 7, 2]);
});
