import { expect, test } from "vitest";
import { nextRuns } from "../../contract/backups/schedule.ts";
import { holdText, sampledRuns } from "./hold-text.ts";

const after = new Date("2026-11-20T20:00:00Z");
const runs = (frequency: string) => nextRuns(frequency, "Europe/Berlin", after, sampledRuns);

test.each([
  ["30 2 * * *", 7, "7 backups cover about 1 week"],
  ["30 2 * * *", 14, "14 backups cover about 2 weeks"],
  ["30 2 * * *", 3, "3 backups cover about 3 days"],
  ["0 * * * *", 1, "1 backup covers about 1 hour"],
  ["0 * * * *", 8760, "8,760 backups cover about 12 months"],
  ["30 2 * * 0", 52, "52 backups cover about 12 months"],
  ["30 2 1 * *", 36, "36 backups cover about 3 years"],
  // It is Friday evening: the weekend counts, although the next two runs are a quarter of an hour apart.
  ["*/15 9-17 * * 1-5", 180, "180 backups cover about 1 week"],
])("%s, with a hold of %d", (frequency, hold, words) => {
  expect(holdText(runs(frequency), hold)).toBe(words);
});

test("returns nothing for an invalid number, or for a single run", () => {
  expect(holdText(runs("30 2 * * *"), Number.NaN)).toBeNull();
  expect(holdText(runs("30 2 * * *"), 0)).toBeNull();
  expect(holdText(runs("30 2 * * *").slice(0, 1), 7)).toBeNull();
});
