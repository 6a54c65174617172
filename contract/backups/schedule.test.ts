import { describe, expect, test } from "vitest";
import { clockChangeNote, expectedGapMs, nextRun, nextRuns, previousRun } from "./schedule.ts";

const berlin = "Europe/Berlin";
const hourMs = 3_600_000;

/** The next runs as UTC month, day and minute. */
const runsOf = (frequency: string, timeZone: string, after: string, count: number) =>
  nextRuns(frequency, timeZone, new Date(after), count)
    .map((run) => run.toISOString().slice(5, 16))
    .join(" ");

describe("a time that is skipped in spring runs once, at the first minute after the gap", () => {
  test.each([
    ["30 2 * * *", berlin, "2026-03-28T12:00Z", "03-29T01:00 03-30T00:30 03-31T00:30"],
    ["*/20 * * * *", berlin, "2026-03-29T00:20Z", "03-29T00:40 03-29T01:00 03-29T01:20"],
    ["30 2,3 * * *", berlin, "2026-03-28T12:00Z", "03-29T01:00 03-29T01:30 03-30T00:30"],
    ["0 2,3 * * *", berlin, "2026-03-28T12:00Z", "03-29T01:00 03-30T00:00 03-30T01:00"],
    ["*/30 2 * * *", berlin, "2026-03-28T12:00Z", "03-29T01:00 03-30T00:00 03-30T00:30"],
    ["15 * * * *", berlin, "2026-03-29T00:10Z", "03-29T00:15 03-29T01:00 03-29T01:15"],
    ["0 0 * * *", "America/Santiago", "2026-09-05T12:00Z", "09-06T04:00 09-07T03:00 09-08T03:00"],
    ["30 0 * * 5", "Africa/Cairo", "2026-04-22T12:00Z", "04-23T22:00 04-30T21:30 05-07T21:30"],
    ["15 0 * * *", "Asia/Beirut", "2026-03-28T12:00Z", "03-28T22:00 03-29T21:15 03-30T21:15"],
    ["15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00Z", "10-03T15:30 10-04T15:15"],
    ["45 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00Z", "10-03T15:45 10-04T15:45"],
    ["30 2 * * *", "America/New_York", "2026-03-07T12:00Z", "03-08T07:00 03-09T06:30"],
  ])("%s in %s", (frequency, timeZone, after, runs) => {
    expect(runsOf(frequency, timeZone, after, runs.split(" ").length)).toBe(runs);
  });
});

describe("a time that is repeated in autumn runs once, at the first occurrence", () => {
  test.each([
    ["30 2 * * *", berlin, "2026-10-24T12:00Z", "10-25T00:30 10-26T01:30 10-27T01:30"],
    ["30 2 * * *", berlin, "2026-10-25T00:45Z", "10-26T01:30"],
    ["30 2 * * *", berlin, "2026-10-25T01:10Z", "10-26T01:30"],
    ["0 * * * *", berlin, "2026-10-24T23:30Z", "10-25T00:00 10-25T02:00 10-25T03:00"],
    ["*/30 * * * *", berlin, "2026-10-25T00:00Z", "10-25T00:30 10-25T02:00 10-25T02:30"],
    ["*/15 * * * *", berlin, "2026-10-25T01:20Z", "10-25T02:00 10-25T02:15"],
    ["30 23 * * *", "America/Santiago", "2026-04-04T12:00Z", "04-05T02:30 04-06T03:30"],
    ["45 1 * * *", "Australia/Lord_Howe", "2026-04-04T12:00Z", "04-04T14:45 04-05T15:15"],
    ["30 23 * * *", "Africa/Cairo", "2026-10-29T12:00Z", "10-29T20:30 10-30T21:30"],
  ])("%s in %s", (frequency, timeZone, after, runs) => {
    expect(runsOf(frequency, timeZone, after, runs.split(" ").length)).toBe(runs);
  });
});

describe("the calendar", () => {
  test.each([
    ["30 2 * * *", "2026-05-01T02:29:59.999Z", "05-01T02:30"],
    ["30 2 * * *", "2026-05-01T02:30:00.000Z", "05-02T02:30"],
    ["30 2 * * *", "2026-05-01T02:30:30.500Z", "05-02T02:30"],
    ["0 3 * * 7", "2026-05-01T00:00Z", "05-03T03:00 05-10T03:00"],
    ["0 3 * * FRI-SUN", "2026-05-01T12:00Z", "05-02T03:00 05-03T03:00 05-08T03:00"],
    ["0 0 31 * *", "2026-01-31T12:00Z", "03-31T00:00 05-31T00:00"],
    ["0 0 13 * FRI", "2026-02-07T00:00Z", "02-13T00:00 02-20T00:00 02-27T00:00 03-06T00:00"],
    ["0 0 31 2 MON", "2026-02-20T00:00Z", "02-23T00:00 02-01T00:00"],
    ["0 0 */10 * SUN", "2026-05-01T12:00Z", "05-03T00:00 05-10T00:00 05-11T00:00"],
  ])("%s after %s", (frequency, after, runs) => {
    expect(runsOf(frequency, "UTC", after, runs.split(" ").length)).toBe(runs);
  });

  test("a leap day is found within five years, but not from 2096 on", () => {
    expect(nextRun("0 0 29 2 *", "UTC", new Date("2025-01-01Z"))?.getUTCFullYear()).toBe(2028);
    expect(nextRun("0 0 29 2 *", "UTC", new Date("2096-03-01Z"))).toBeNull();
    expect(nextRuns("0 0 29 2 *", "UTC", new Date("2091-01-01Z"), 5)).toHaveLength(2);
  });

  test("a date that does not exist has no run", () => {
    expect(nextRun("0 0 31 2 *", berlin, new Date("2026-01-01Z"))).toBeNull();
  });
});

describe("the last run before a time", () => {
  test.each([
    ["30 2 * * *", "2026-05-10T00:30:00Z", "2026-05-09T00:30"],
    ["30 2 * * *", "2026-05-10T00:30:30Z", "2026-05-10T00:30"],
    ["30 2 * * *", "2026-03-29T01:00:00Z", "2026-03-28T01:30"],
    ["30 2 * * *", "2026-03-29T01:00:01Z", "2026-03-29T01:00"],
    // The clocks show 02:10 for the second time, so 02:45 is over.
    ["45 2 * * *", "2026-10-25T01:10:00Z", "2026-10-25T00:45"],
    ["* * * * *", "2026-10-25T01:10:00Z", "2026-10-25T00:59"],
    ["0 0 29 2 *", "2026-01-01T00:00:00Z", "2024-02-28T23:00"],
  ])("%s before %s", (frequency, before, run) => {
    const found = previousRun(frequency, berlin, new Date(before));
    expect(found?.toISOString().slice(0, 16)).toBe(run);
  });
});

describe("the interval before a run", () => {
  test.each([
    ["30 2 * * *", "2026-05-10T00:30Z", 24],
    ["30 2 * * *", "2026-03-29T01:00Z", 23.5],
    ["30 2 * * *", "2026-03-30T00:30Z", 23.5],
    ["30 2 * * *", "2026-10-26T01:30Z", 25],
    ["0 * * * *", "2026-10-25T02:00Z", 2],
    ["0 3 1 * *", "2026-03-01T02:00Z", 28 * 24],
    ["0 0 29 2 *", "2028-02-28T23:00Z", 1461 * 24],
  ])("%s at %s: %d hours", (frequency, due, hours) => {
    expect(expectedGapMs(frequency, berlin, new Date(due))).toBe(hours * hourMs);
  });
});

describe("describes the effect of a clock change", () => {
  test.each([
    [
      "30 2 * * *",
      berlin,
      "2026-01-01Z",
      "On 29 March 2026 clocks go from 02:00 to 03:00: the run of 02:30 happens at 03:00.",
    ],
    [
      "*/15 2 * * *",
      berlin,
      "2026-01-01Z",
      "On 29 March 2026 clocks go from 02:00 to 03:00: the runs of 02:00 to 02:45 happen once, at 03:00.",
    ],
    [
      "30 2 * * *",
      berlin,
      "2026-04-10T11:22:33Z",
      "On 25 October 2026 clocks go back from 03:00 to 02:00: the run of 02:30 happens at the first of the two times.",
    ],
    [
      "0 * * * *",
      berlin,
      "2026-01-01Z",
      "On 25 October 2026 clocks go back from 03:00 to 02:00: the run of 02:00 happens at the first of the two times.",
    ],
    [
      "0 0 * * *",
      "America/Santiago",
      "2026-01-01Z",
      "On 6 September 2026 clocks go from 00:00 to 01:00: the run of 00:00 happens at 01:00.",
    ],
    [
      "15 2 * * *",
      "Australia/Lord_Howe",
      "2026-05-01Z",
      "On 4 October 2026 clocks go from 02:00 to 02:30: the run of 02:15 happens at 02:30.",
    ],
    ["0 3 * * *", berlin, "2026-01-01Z", null],
    ["30 2 * * MON", berlin, "2026-01-01Z", null],
    ["30 2 * * *", "Asia/Tokyo", "2026-01-01Z", null],
    ["30 2 * * *", "UTC", "2026-01-01Z", null],
  ])("%s in %s after %s", (frequency, timeZone, after, note) => {
    expect(clockChangeNote(frequency, timeZone, new Date(after))).toBe(note);
  });
});
