import { expect, test } from "vitest";
import type { Overview } from "../../../contract/overview.ts";
import { failureCount, iconOf } from "./failures.ts";

const none: Overview = {
  workers: { total: 3, up: 3, stopped: 0, problems: [] },
  webhooks: { total: 1, problems: [] },
  channels: { total: 1, problems: [] },
};

test("counts failures, including those that are not listed, and excludes what is not configured", () => {
  expect(failureCount(none)).toBe(0);
  const protection = { total: 9, protected: 4, unconfigured: 3, configurations: 6, problems: [] };
  expect(failureCount({ ...none, protection })).toBe(2);
  expect(failureCount({ ...none, workers: { ...none.workers, failing: 120 } })).toBe(120);
});

test("shows the number on the icon, and none for zero", () => {
  expect(iconOf(0)).toBe("/favicon.svg");
  expect(decodeURIComponent(iconOf(3))).toContain(">3</text>");
  expect(decodeURIComponent(iconOf(12))).toContain(">9+</text>");
});
