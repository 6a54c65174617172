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
])("what moves for %i ms is asked for every %i ms", (elapsedMs, expected) => {
  expect(pollMs(moving, elapsedMs)).toBe(expected);
});

test("a list on which nothing moves is asked for slowly", () => {
  expect(pollMs(settled, 0)).toBe(10_000);
  expect(pollMs([], 0)).toBe(10_000);
});

test("a page that has settled may stop asking", () => {
  expect(pollMs(settled, 0, false)).toBe(false);
  expect(pollMs(moving, 0, false)).toBe(500);
});

test("a state word of another service that ends in -ing counts as moving", () => {
  expect(pollMs([{ status: "provisioning" }], 0)).toBe(500);
});

test("asking slows down while the same thing drags on, and starts anew with the next", () => {
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

test("one thing that ends does not hurry the one that drags on", () => {
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

test("what was just changed is watched for a while, although it does not seem to move", () => {
  let nowMs = 1_000_000;
  const poll = makePoller(() => nowMs);
  expectNews(nowMs);
  expect(poll(settledOnes)).toBe(1_000);
  expect(poll(settledOnes, false)).toBe(1_000);
  nowMs += 10_000;
  expect(poll(settledOnes)).toBe(10_000);
  expect(poll(settledOnes, false)).toBe(false);
});
