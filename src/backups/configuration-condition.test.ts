import { expect, test } from "vitest";
import type { BackupConfiguration } from "../../contract/backups/backup.ts";
import { conditionOf } from "./configuration-condition.ts";
import { finished as good } from "./testing/backups.ts";

const today = "2026-06-10T02:30:00.000000Z";

const plain: BackupConfiguration = {
  id: 1,
  name: "orders",
  frequency: "30 2 * * *",
  hold: 7,
  directory: "orders",
  status: "installed",
  storage_provider_id: 1,
  type: "database",
  backupable: { id: 1, name: "orders", status: "installed", created_at: today },
  last_backup: good,
  last_backup_at: today,
  backups: [good],
};

const warnings = ["Nearly empty: 1 kB."];

test.each<[string, Partial<BackupConfiguration>, [string, string, string | undefined]]>([
  ["all is well", {}, ["good", "protected", undefined]],
  ["it has a warning", { warnings }, ["warn", "needs attention", "Nearly empty: 1 kB."]],
  [
    "it has two warnings",
    { warnings: [...warnings, "Late."] },
    ["warn", "needs attention", "2 warnings: Nearly empty: 1 kB."],
  ],
  ["nothing is stored", { last_backup: null, backups: [] }, ["bad", "unprotected", undefined]],
  ["it was adopted", { adopted_at: today }, ["idle", "adopted", undefined]],
  [
    "it holds imports, and was saved before a restore since",
    {
      adopted_at: today,
      last_backup: { ...good, id: 3, trigger: "safety" },
      backups: [
        { ...good, id: 3, trigger: "safety" },
        { ...good, id: 2, trigger: "import" },
      ],
    },
    ["idle", "imported", undefined],
  ],
  ["it was adopted, and warns", { adopted_at: today, warnings }, ["warn", "adopted", warnings[0]]],
  [
    "it was adopted, and is tested",
    { adopted_at: today, status: "installing" },
    ["busy", "installing", undefined],
  ],
  ["it has failed, with a warning", { status: "failed", warnings }, ["bad", "failed", undefined]],
])("has one mark, one color, and one sentence: %s", (_, change, expected) => {
  const { tone, word, warning } = conditionOf({ ...plain, ...change }, Date.parse(today));
  expect([tone, word, warning]).toEqual(expected);
});
