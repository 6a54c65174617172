import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { learnServiceTime, serviceNow } from "./service-clock.ts";

const browserMs = Date.parse("2026-11-26T03:00:00Z");
const dayMs = 24 * 3_600_000;

/** Returns the estimated offset of the service's clock from the browser's. */
const aheadMs = () => serviceNow() - browserMs;
const dateAt = (ms: number) => new Date(browserMs + ms).toUTCString();

beforeEach(() => {
  vi.useFakeTimers({ now: browserMs });
  learnServiceTime(dateAt(0), browserMs);
});
afterEach(() => vi.useRealTimers());

test("uses the service's time if the browser's is wrong, until that is corrected", () => {
  learnServiceTime(dateAt(dayMs), browserMs);
  expect(aheadMs()).toBe(dayMs);
  learnServiceTime(dateAt(0), browserMs);
  expect(aheadMs()).toBe(0);
  learnServiceTime(dateAt(-dayMs), browserMs);
  expect(aheadMs()).toBe(-dayMs);
});

test("keeps its offset while responses differ from it by less than a minute", () => {
  learnServiceTime(dateAt(59_000), browserMs);
  expect(aheadMs()).toBe(0);
  learnServiceTime(dateAt(dayMs), browserMs);
  learnServiceTime(dateAt(dayMs - 59_000), browserMs);
  expect(aheadMs()).toBe(dayMs);
});

test("ignores responses without a date, and slow ones", () => {
  learnServiceTime(null, browserMs);
  learnServiceTime("yesterday", browserMs);
  learnServiceTime(dateAt(dayMs), browserMs - 6_000);
  expect(aheadMs()).toBe(0);
});
