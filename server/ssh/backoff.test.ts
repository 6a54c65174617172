import { expect, test } from "vitest";
import { backoffMs } from "./backoff.ts";

test("retries a server soon, then less often, and at least every 5 s", () => {
  const waits = Array.from({ length: 50 }, (_, index) => backoffMs(index + 1));
  expect(waits[0]).toBeLessThanOrEqual(1000);
  expect(waits[2]).toBeGreaterThanOrEqual(3000);
  expect(Math.max(...waits)).toBeLessThanOrEqual(5000);
  expect(waits.at(-1)).toBeGreaterThanOrEqual(3750);
});
