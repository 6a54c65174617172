import { expect, test } from "vitest";
import { backupConfigurationStates } from "../../contract/backups/backup.ts";
import { refusal } from "./actions.ts";

const inState = (status: string, last: string | null = null) => ({
  status,
  last_backup: last === null ? null : { status: last },
});

test("an action that the service would refuse is refused here, with the reason", () => {
  const refused = backupConfigurationStates.filter((status) => refusal("run", inState(status)));
  expect(refused).toEqual(["installing", "removing"]);
  expect(refusal("update", inState("removing"))).toBe("Can't edit while the status is removing.");
});

test("while a backup is made, another one is not asked for and nothing is deleted, but settings may change", () => {
  expect(refusal("run", inState("installed", "running"))).toBe(
    "Can't run while a backup is running.",
  );
  expect(refusal("remove", inState("installed", "pending"))).toBe(
    "Can't delete while a backup is pending.",
  );
  expect(refusal("update", inState("installed", "running"))).toBeUndefined();
});

test("one that failed can be run, changed and deleted: each of them may mend it", () => {
  for (const action of ["run", "update", "remove"] as const)
    expect(refusal(action, inState("failed", "failed"))).toBeUndefined();
});

test("a state that only the service knows refuses nothing", () => {
  for (const action of ["run", "update", "remove"] as const)
    expect(refusal(action, inState("hibernated"))).toBeUndefined();
});
