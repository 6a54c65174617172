import { expect, test } from "vitest";
import { expectNews, makePoller, pollMs } from "./poll.ts";

const moving = [{ status: "installed" }, { status: "stopping" }];
const settled = [{ status: "installed" }, { status: "failed" }];

test.each([
  [0, 500],
  [9_999, 500],
  [10_000, 1_000],
  [30_000, 3_000],
  [120_000, 10_000],
  [86_400_000, 10_000],
])("polls what has been in transit for %i ms every %i ms", (elapsedMs, expected) => {
  expect(pollMs(moving, elapsedMs)).toBe(expected);
});

test("polls a settled list slowly", () => {
  expect(pollMs(settled, 0)).toBe(10_000);
  expect(pollMs([], 0)).toBe(10_000);
});

test("stops polling a settled page", () => {
  expect(pollMs(settled, 0, false)).toBe(false);
  expect(pollMs(moving, 0, false)).toBe(500);
});

test("treats a state of another service that ends in -ing as in transit", () => {
  expect(pollMs([{ status: "provisioning" }], 0)).toBe(500);
});

test("polls more slowly while the same object stays in transit, and starts again with the next", () => {
  let nowMs = 0;
  const poll = makePoller(() => nowMs);
  const stuck = { id: 1, status: "stopping" };
  expect(poll([stuck])).toBe(500);
  nowMs = 60_000;
  expect(poll([stuck])).toBe(3_000);
  expect(poll([stuck, { id: 2, status: "starting" }])).toBe(500);
  nowMs = 75_000;
  expect(poll([stuck, { id: 2, status: "starting" }])).toBe(1_000);
});

test("an object that settles does not speed up polling for one that stays in transit", () => {
  let nowMs = 0;
  const poll = makePoller(() => nowMs);
  poll([
    { id: 1, status: "stopping" },
    { id: 2, status: "starting" },
  ]);
  nowMs = 60_000;
  expect(
    poll([
      { id: 1, status: "stopping" },
      { id: 2, status: "installed" },
    ]),
  ).toBe(3_000);
});

const settledOnes = [{ id: 1, status: "active" }];

test("polls a changed object for a while, although it does not seem to be in transit", () => {
  let nowMs = 1_000_000;
  const poll = makePoller(() => nowMs);
  expectNews(nowMs);
  expect(poll(settledOnes)).toBe(1_000);
  expect(poll(settledOnes, false)).toBe(1_000);
  nowMs += 10_000;
  expect(poll(settledOnes)).toBe(10_000);
  expect(poll(settledOnes, false)).toBe(false);
});
