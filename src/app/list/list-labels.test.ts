import { expect, test } from "vitest";
import { filterText, perPageChoices, sortChoices, tabsOf } from "./list-labels.ts";

const counts = {
  all: 9,
  failed: 1,
  crash_looping: 2,
  starting: 1,
  stopping: 3,
  installed: 2,
  stopped: 0,
};

const shown = (wanted?: string) =>
  tabsOf(counts, wanted).map(({ label, count, isCurrent }) => [label, count, isCurrent]);

test("has tabs for all, failures, the other statuses, and all in transit together, and none for a status without rows", () => {
  expect(shown()).toEqual([
    ["All", 9, true],
    ["Failed", 1, false],
    ["Crash-looping", 2, false],
    ["Installed", 2, false],
    ["In progress", 4, false],
  ]);
});

test("has a tab for the status in the URL, even without rows", () => {
  expect(shown("stopped")).toContainEqual(["Stopped", 0, true]);
  expect(shown("crash_looping,failed")).toContainEqual(["Crash-looping, failed", 3, true]);
  expect(shown("stopping,starting")).toContainEqual(["In progress", 4, true]);
});

test("sorts by id in both directions, and offers the values in the URL as choices", () => {
  expect(sortChoices(["attention", "id", "name"], "-name").map(({ text }) => text)).toEqual([
    "Needs attention first",
    "Newest first",
    "Oldest first",
    "By name",
    "By name, descending",
  ]);
  expect(perPageChoices("7").map(({ value }) => value)).toEqual(["20", "50", "100", "7"]);
});

test("describes a filter by its search and statuses", () => {
  expect(filterText({ q: "emails", status: "failed,crash_looping" })).toBe(
    "“emails” and status failed or crash-looping",
  );
});
