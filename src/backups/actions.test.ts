import { expect, test } from "vitest";
import { backupConfigurationStates } from "../../contract/backups/backup.ts";
import { refusal } from "./actions.ts";

const inState = (status: string, last: string | null = null) => ({
  status,
  last_backup: last === null ? null : { status: last },
});

test("disables an action that the service would refuse, with the reason", () => {
  const refused = backupConfigurationStates.filter((status) => refusal("run", inState(status)));
  expect(refused).toEqual(["installing", "removing"]);
  expect(refusal("update", inState("removing"))).toBe("Can't edit while the status is removing.");
});

test("disables runs and deletion while a backup is running, but not editing", () => {
  expect(refusal("run", inState("installed", "running"))).toBe(
    "Can't run while a backup is running.",
  );
  expect(refusal("remove", inState("installed", "pending"))).toBe(
    "Can't delete while a backup is pending.",
  );
  expect(refusal("update", inState("installed", "running"))).toBeUndefined();
});

test("allows running, editing and deleting a failed configuration, because each may fix it", () => {
  for (const action of ["run", "update", "remove"] as const)
    expect(refusal(action, inState("failed", "failed"))).toBeUndefined();
});

test("refuses nothing in a state that only the service knows", () => {
  for (const action of ["run", "update", "remove"] as const)
    expect(refusal(action, inState("hibernated"))).toBeUndefined();
});
