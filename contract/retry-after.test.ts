import { expect, test, vi } from "vitest";
import { readRetryAfter } from "./retry-after.ts";

test.each([
  ["120", 120_000],
  ["99999999999", 99_999_999_999_000],
  [" 5 ", 5000],
  ["0.25", 250],
  ["Wed, 21 Oct 2015 07:28:30 GMT", 30_000],
  ["Wednesday, 21-Oct-15 07:28:30 GMT", 30_000],
  ["Wed Oct 21 07:28:30 2015", 30_000],
  ["Wed, 21 Oct 2015 07:27:00 GMT", 0],
  ["soon", null],
  ["-1", null],
  ["1e99", null],
  ["", null],
  [null, null],
  [undefined, null],
])("Retry-After: %s means to wait for %s ms", (header, waitMs) => {
  vi.stubEnv("TZ", "America/New_York");
  expect(readRetryAfter(header, Date.parse("2015-10-21T07:28:00Z"))).toBe(waitMs);
});
