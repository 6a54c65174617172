import { expect, test } from "vitest";
import type { Backup } from "../../contract/backups/backup.ts";
import { sizeTrend } from "./backup-facts.ts";
import { awaitedCopy } from "./copies.ts";
import { finished } from "./testing/backups.ts";
import { runShare, workOf } from "./work.ts";

const backup = (id: number, change: Partial<Backup> = {}): Backup => ({
  ...finished,
  id,
  size: 1_000_000,
  ...change,
});

const workIn = (...backups: Backup[]) => {
  // The function reads only the backups of a configuration.
  const found = workOf({ backups, last_backup: backups[0] ?? null } as Parameters<
    typeof workOf
  >[0]);
  return found && [found.backup.id, found.kind];
};

test.each<[string, Backup[], [number, string] | null]>([
  ["nothing without a running task", [backup(2), backup(1)], null],
  ["a waiting run", [backup(2, { status: "pending" }), backup(1)], [2, "run"]],
  ["an older restore", [backup(2), backup(1, { restore_status: "running" })], [1, "restore"]],
  [
    "the restore that a safety backup belongs to",
    [backup(2, { status: "running", trigger: "safety" }), backup(1, { restore_status: "running" })],
    [1, "restore"],
  ],
  ["a drill", [backup(2, { drill_status: "running" })], [2, "drill"]],
])("what can be canceled of a configuration is %s", (_what, backups, work) => {
  expect(workIn(...backups)).toEqual(work);
});

test.each([
  [1_020_000, "usual size"],
  [1_290_000, "29% larger than usual"],
  [900_000, "10% smaller than usual"],
  [2_500_000, "usually about 1 MB"],
  [1_000, "usually about 1 MB"],
])("describes %i bytes after backups of 1 MB as: %s", (size, words) => {
  const before = [backup(3), backup(2, { size: 1_040_000 }), backup(1, { size: 990_000 })];
  const failed = backup(4, { status: "failed", size: 0 });
  const safety = backup(5, { trigger: "safety", size: 9_000_000 });
  const newest = backup(6, { size });
  expect(sizeTrend(newest, [newest, safety, failed, ...before])).toBe(words);
});

test("a run waits for its copy, but not for a failed one", () => {
  const run = (status: string, copy: string) =>
    awaitedCopy(backup(1, { status, copies: [{ id: 9, storage_provider_id: 2, status: copy }] }))
      ?.id;
  expect([run("running", "pending"), run("running", "running")]).toEqual([9, 9]);
  expect([run("running", "failed"), run("finished", "running")]).toEqual([undefined, undefined]);
});

test("compares an incremental backup by its content, and an import with nothing", () => {
  const full = backup(1, { size: 8_500_000, plain_size: 17_000_000 });
  const patch = (plain_size: number) => backup(2, { base_id: 1, size: 81_300, plain_size });
  expect(sizeTrend(patch(17_100_000), [full])).toBe("usual size");
  expect(sizeTrend(patch(20_400_000), [full])).toBe("20% larger than usual");
  expect(sizeTrend(patch(1_000_000), [full])).toBe("usually about 17 MB before compression");
  expect(sizeTrend(backup(2, { trigger: "import" }), [full])).toBeNull();
});

test("has no trend for a first size, or for a failed run", () => {
  expect(sizeTrend(backup(1), [backup(1)])).toBeNull();
  expect(sizeTrend(backup(2, { status: "failed" }), [backup(1)])).toBeNull();
});

test("the progress of a run is relative to the size of the previous one, and unknown once it is larger", () => {
  const before = backup(1, { plain_size: 200 });
  const read = (bytes: number) =>
    runShare(backup(2, { progress: { plain_bytes: bytes, stored_bytes: 1 } }), [before]);
  expect([read(50), read(200), read(201)]).toEqual([0.25, 1, null]);
  expect(runShare(backup(1), [])).toBeNull();
});
