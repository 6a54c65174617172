import { expect, test } from "vitest";
import { maxAttempts } from "../../contract/webhooks/delivery.ts";
import { retryWaitMs } from "./judge-attempts.ts";

const hour = 3600 * 1000;

test("makes ten attempts, with waits of 0 s, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h", () => {
  const waits = Array.from({ length: maxAttempts }, (_, index) => retryWaitMs(index + 1, null, 0));
  expect(waits).toEqual([
    5000,
    300_000,
    1_800_000,
    2 * hour,
    5 * hour,
    10 * hour,
    14 * hour,
    20 * hour,
    24 * hour,
    null,
  ]);
});

test("jitter extends a wait by at most a fifth, and never shortens it", () => {
  expect(retryWaitMs(1, null, 1)).toBe(6000);
});

test("never retries before a receiver's Retry-After, which is limited to a day", () => {
  expect(retryWaitMs(1, 60_000, 0)).toBe(60_000);
  expect(retryWaitMs(2, 60_000, 0)).toBe(300_000);
  expect(retryWaitMs(1, 1000 * hour, 0)).toBe(24 * hour);
  expect(retryWaitMs(maxAttempts, 60_000, 0)).toBeNull();
});
