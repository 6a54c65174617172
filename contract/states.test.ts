import { expect, test } from "vitest";
import { backupConfigurationStates, backupStates, drillStates } from "./backups/backup.ts";
import { isInTransit } from "./states.ts";
import { canWorker, workerStates } from "./workers/worker.ts";

test.each([
  ["installing", true],
  ["pending", true],
  ["running", true],
  ["removing", true],
  ["installed", false],
  ["failed", false],
  ["stopped", false],
  ["finished", false],
  ["", false],
  [null, false],
  [undefined, false],
])("%s is in transit: %s", (state, expected) => {
  expect(isInTransit(state)).toBe(expected);
});

test("every state of the interface is either in transit or a known settled state", () => {
  const settled = new Set(
    [...workerStates, ...backupStates, ...backupConfigurationStates, ...drillStates].filter(
      (state) => !isInTransit(state),
    ),
  );
  expect([...settled].sort()).toEqual([
    "canceled",
    "failed",
    "finished",
    "installed",
    "interrupted",
    "stopped",
  ]);
});

test.each(["start", "stop", "restart"] as const)(
  "%s is refused while a worker is installing or removing, and only then",
  (action) => {
    const refused = workerStates.filter((status) => !canWorker[action]({ status }));
    expect(refused).toEqual(["installing", "removing"]);
  },
);
