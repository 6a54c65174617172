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

test("tabs are all, what is wrong, the rest, and what moves as one; none for what no row is", () => {
  expect(shown()).toEqual([
    ["All", 9, true],
    ["Failed", 1, false],
    ["Crash-looping", 2, false],
    ["Installed", 2, false],
    ["In progress", 4, false],
  ]);
});

test("what the address wants has a tab, whatever it is and however few rows are it", () => {
  expect(shown("stopped")).toContainEqual(["Stopped", 0, true]);
  expect(shown("crash_looping,failed")).toContainEqual(["Crash-looping, failed", 3, true]);
  expect(shown("stopping,starting")).toContainEqual(["In progress", 4, true]);
});

test("a list by its numbers can be read from either end, and what the address wants is a choice", () => {
  expect(sortChoices(["attention", "id", "name"], "-name").map(({ text }) => text)).toEqual([
    "Needs attention first",
    "Newest first",
    "Oldest first",
    "By name",
    "By name, descending",
  ]);
  expect(perPageChoices("7").map(({ value }) => value)).toEqual(["20", "50", "100", "7"]);
});

test("a filter is named by what it looks for", () => {
  expect(filterText({ q: "emails", status: "failed,crash_looping" })).toBe(
    "“emails” and status failed or crash-looping",
  );
});
