import { expect, test } from "vitest";
import { scheduleText } from "./schedule-text.ts";

test.each([
  ["30 2 * * *", "At 02:30, every day"],
  ["0 0 * * *", "At 00:00, every day"],
  ["0 2,14 * * *", "At 02:00 and 14:00, every day"],
  ["* * * * *", "Every minute"],
  ["*/15 * * * *", "Every 15 minutes"],
  ["0 * * * *", "Every hour"],
  ["15 * * * *", "At 15 minutes past the hour"],
  ["0 */6 * * *", "On the hour, every 6 hours"],
  ["0 9-17 * * 1-5", "Every hour, between 09:00 and 17:00, Monday through Friday"],
  ["0 3 * * SUN", "At 03:00, only on Sunday"],
  ["0 3 * * 7", "At 03:00, only on Sunday"],
  ["30 2 * * 1,3,5", "At 02:30, only on Monday, Wednesday, and Friday"],
  ["0 3 1 * *", "At 03:00, on day 1 of the month"],
  ["0 3 1,15 * *", "At 03:00, on day 1 and 15 of the month"],
  ["0 0 1 */3 *", "At 00:00, on day 1 of the month, every 3 months"],
  ["0 0 29 2 *", "At 00:00, on day 29 of the month, only in February"],
])("describes %s as: %s", (frequency, words) => {
  expect(scheduleText(frequency)).toBe(words);
});

test.each([
  ["0 3 13 * FRI", "At 03:00, on day 13 of the month or on Friday"],
  ["0 3 1-7 * MON-FRI", "At 03:00, between day 1 and 7 of the month or Monday through Friday"],
  ["59 23 31 12 7", "At 23:59, on day 31 of the month or on Sunday, only in December"],
  [
    "0 0 */2 3-5 6,0",
    "At 00:00, every 2 days in a month or on Sunday and Saturday, March through May",
  ],
])("says for %s that either day matches: %s", (frequency, words) => {
  expect(scheduleText(frequency)).toBe(words);
});

test.each(["", "nonsense", "99 2 * * *", "0 0 L * FRI#9", "* * * *", "0 0 * * 1,*"])(
  "returns %o unchanged, because it is not a valid schedule",
  (text) => {
    expect(scheduleText(text)).toBe(text);
  },
);
