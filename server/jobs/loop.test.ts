import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { createLog } from "../log.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { createLoop } from "./loop.ts";
import { soon } from "../testing/soon.ts";

const log = createLog("silent");
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

test("runs after each wake, and by itself without one", async () => {
  const clock = createFakeClock();
  let turns = 0;
  const loop = createLoop({
    name: "test",
    everyMs: 1000,
    turn: async () => void turns++,
    clock,
    log,
  });
  loop.wake();
  await settle();
  expect(turns).toBe(1);
  clock.advance(1000);
  await settle();
  expect(turns).toBe(2);
  await loop.stop();
  clock.advance(5000);
  await settle();
  expect(turns).toBe(2);
});

test("the next turn starts when the last one says, or only on a wake", async () => {
  const clock = createFakeClock();
  let turns = 0;
  let delayMs: number | null = 200;
  const loop = createLoop({
    name: "test",
    everyMs: () => delayMs,
    turn: async () => void turns++,
    clock,
    log,
  });
  loop.wake();
  await settle();
  delayMs = null;
  clock.advance(200);
  await settle();
  expect(turns).toBe(2);
  clock.advance(1_000_000);
  await settle();
  expect(turns).toBe(2);
  loop.wake();
  await settle();
  expect(turns).toBe(3);
  await loop.stop();
});

test("turns never overlap; wakes during one cause one more", async () => {
  const clock = createFakeClock();
  const ends: (() => void)[] = [];
  let atOnce = 0;
  let most = 0;
  const loop = createLoop({
    name: "test",
    everyMs: 1000,
    async turn() {
      most = Math.max(most, ++atOnce);
      await new Promise<void>((resolve) => ends.push(resolve));
      atOnce--;
    },
    clock,
    log,
  });
  loop.wake();
  loop.wake();
  loop.wake();
  await settle();
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await settle();
  expect(ends).toHaveLength(2);
  ends[1]?.();
  await settle();
  expect(ends).toHaveLength(2);
  expect(most).toBe(1);
  await loop.stop();
});

test("a failed turn is followed by the next one", async () => {
  const clock = createFakeClock();
  let turns = 0;
  const loop = createLoop({
    name: "test",
    everyMs: 1000,
    async turn() {
      turns++;
      throw new Error("The database is away.");
    },
    clock,
    log,
  });
  loop.wake();
  await settle();
  clock.advance(1000);
  await settle();
  expect(turns).toBe(2);
  await loop.stop();
});

test("pauses between turns, and one turn serves all wakes during the pause", async () => {
  const clock = createFakeClock();
  const atMs: number[] = [];
  const loop = createLoop({
    name: "test",
    everyMs: 1000,
    restMs: 30,
    turn: async () => void atMs.push(performance.now()),
    clock,
    log,
  });
  loop.wake();
  await settle();
  expect(atMs).toHaveLength(1);
  loop.wake();
  loop.wake();
  await soon(() => expect(atMs).toHaveLength(2));
  const [first = 0, second = 0] = atMs;
  // Node's timers may fire early by a fraction of a millisecond.
  expect(second - first).toBeGreaterThan(29);
  // A stop does not wait for the rest of the pause.
  await loop.stop();
  expect(atMs).toHaveLength(2);
});

test("the pause can depend on how long a turn took", async () => {
  const tookMs: number[] = [];
  const loop = createLoop({
    name: "test",
    everyMs: 1000,
    restMs(turnMs) {
      tookMs.push(turnMs);
      return 0;
    },
    turn: () => wait(20),
    clock: createFakeClock(),
    log,
  });
  loop.wake();
  await soon(() => expect(tookMs).toHaveLength(1));
  // Node's timers may fire early by a fraction of a millisecond.
  expect(tookMs[0]).toBeGreaterThan(19);
  await loop.stop();
});
