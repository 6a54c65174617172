import { expect, test } from "vitest";
import { nextRun } from "../../../contract/backups/schedule.ts";
import { createBackupConfigurationBody } from "../../../contract/backups/bodies.ts";
import { keysOf } from "../../../contract/keys-of.ts";
import { bodyOf, frequencyOf, spreads, unprotectedOf } from "./protect-all.ts";

const sites = [{ id: 1, name: "shop", label: "shop" }];
const databases = [
  { id: 1, name: "shop", label: "shop (postgres)" },
  { id: 2, name: "blog", label: "blog (mysql)" },
];
const plan = (spread: keyof typeof spreads, count: number) =>
  Array.from({ length: count }, (_, index) => frequencyOf(spread, index, count));

test("spreads the night's backups over four hours", () => {
  expect(plan("night", 4)).toEqual(["0 1 * * *", "0 2 * * *", "0 3 * * *", "0 4 * * *"]);
  expect(plan("night", 3)).toEqual(["0 1 * * *", "20 2 * * *", "40 3 * * *"]);
  expect(plan("quarter", 2)).toEqual(["0 0,6,12,18 * * *", "0 3,9,15,21 * * *"]);
  expect(plan("hour", 3)).toEqual(["0 * * * *", "20 * * * *", "40 * * * *"]);
});

test("starts no more backups in the same minute than necessary", () => {
  for (const spread of keysOf(spreads))
    for (const count of [1, 7, 60, 61, 500]) {
      const minutes = new Map<number, number>();
      for (const frequency of plan(spread, count)) {
        const at = nextRun(frequency, "UTC", new Date("2026-03-01T00:00:00Z"))?.getTime() ?? 0;
        minutes.set(at, (minutes.get(at) ?? 0) + 1);
      }
      expect(Math.max(...minutes.values()), `${spread} ${count}`).toBe(
        Math.ceil(count / spreads[spread].minutes),
      );
    }
});

test("finds what has no backup, and distinguishes a site from a database with the same id", () => {
  const backedUp = (type: "site" | "database", id: number, status = "installed") => ({
    type,
    status,
    backupable: { type, id, name: "" },
  });
  const keys = (configurations: (ReturnType<typeof backedUp> & { adopted_at?: string })[]) =>
    unprotectedOf({ databases, sites }, configurations).map(({ type, id }) => `${type} ${id}`);
  expect(keys([])).toEqual(["database 1", "database 2", "site 1"]);
  expect(keys([backedUp("site", 1), backedUp("database", 2, "failed")])).toEqual(["database 1"]);
  expect(keys([backedUp("site", 1, "removing")])).toContain("site 1");
  expect(keys([{ ...backedUp("site", 1), adopted_at: "2026-01-01" }])).toContain("site 1");
});

test("creates valid requests", () => {
  const [target] = unprotectedOf({ databases, sites }, []);
  if (target === undefined) throw new Error("There is a database without a backup.");
  const values = { spread: "night", hold: 7, drill: null, storage_provider_id: 3 } as const;
  expect(createBackupConfigurationBody.parse(bodyOf(values, target, 1, 2))).toEqual({
    name: "shop",
    frequency: "0 3 * * *",
    hold: 7,
    drill: null,
    storage_provider_id: 3,
    backupable_type: "database",
    backupable_id: 1,
  });
});
