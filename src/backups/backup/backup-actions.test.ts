import { expect, test } from "vitest";
import { backupStates } from "../../../contract/backups/backup.ts";
import { type BackupAction, backupActionLabels, refusal } from "./backup-actions.ts";

type Facts = {
  status: string;
  restore_status?: string | null;
  drill_status?: string | null;
  pinned_at?: string | null;
  locked_until?: string | null;
};

// The function reads only the state of a backup.
const refusalOf = (action: BackupAction, facts: Facts) =>
  refusal(action, { restore_status: null, ...facts });

const allowed = (facts: Facts) =>
  // Cast, because `Object.keys` returns strings.
  (Object.keys(backupActionLabels) as BackupAction[]).filter(
    // A pinned backup can be unpinned in any state.
    (action) => action !== "unpin" && refusalOf(action, facts) === undefined,
  );

test.each<[Facts, BackupAction[]]>([
  [{ status: "pending" }, ["cancel"]],
  [{ status: "running" }, ["cancel"]],
  [{ status: "finished" }, ["restore", "elsewhere", "download", "drill", "pin", "remove"]],
  [{ status: "failed" }, ["remove"]],
  [{ status: "deleting" }, []],
  [{ status: "finished", restore_status: "running" }, ["download", "pin", "cancel"]],
  [
    { status: "finished", restore_status: "failed" },
    ["restore", "elsewhere", "download", "drill", "pin", "remove"],
  ],
  [{ status: "finished", drill_status: "running" }, ["download", "pin", "cancel"]],
  [
    { status: "finished", pinned_at: "2026-11-24 00:00:00" },
    ["restore", "elsewhere", "download", "drill", "pin"],
  ],
  [
    { status: "finished", locked_until: "2999-01-01T00:00:00Z" },
    ["restore", "elsewhere", "download", "drill", "pin"],
  ],
  [
    { status: "finished", locked_until: "2001-01-01T00:00:00Z" },
    ["restore", "elsewhere", "download", "drill", "pin", "remove"],
  ],
  // The service decides about states that the dashboard does not know.
  [{ status: "archived" }, ["restore", "elsewhere", "download", "drill", "pin", "remove"]],
])("%j allows %j", (facts, expected) => {
  expect(allowed(facts)).toEqual(expected);
});

test("covers every state of the interface", () => {
  for (const status of backupStates.filter((state) => state !== "finished"))
    expect(refusalOf("restore", { status })).toBe(`Can't restore while the status is ${status}.`);
});
