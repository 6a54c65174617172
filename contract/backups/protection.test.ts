import { expect, test } from "vitest";
import type { Backup, BackupConfiguration } from "./backup.ts";
import { judgeSource, protectionOf, protectionRank, type Protection } from "./protection.ts";

const now = Date.parse("2026-06-10T12:00:00Z");
const at = "2026-06-10T02:30:00.000000Z";

const backup = (change: Partial<Backup> = {}): Backup => ({
  id: 1,
  path: "shop/1/1-20260610T023000Z.sqlite.zst",
  size: 4096,
  output: "",
  status: "finished",
  restore_output: null,
  restore_status: null,
  started_at: at,
  ended_at: at,
  restored_at: null,
  duration: "1 second",
  ...change,
});

const configuration = (
  backups: Backup[],
  change: Partial<BackupConfiguration> = {},
): BackupConfiguration => ({
  id: 1,
  name: "Shop",
  frequency: "30 2 * * *",
  hold: 7,
  directory: "shop",
  status: "installed",
  storage_provider_id: 1,
  type: "database",
  backupable: { id: 1, name: "orders", status: "installed", created_at: at },
  last_backup: backups[0] ?? null,
  last_backup_at: backups[0]?.started_at ?? null,
  backups,
  missed_since: null,
  ...change,
});

const failed = backup({ id: 3, status: "failed" });
const damaged = backup({ id: 2, damage: "its checksum differs" });

test.each<[string, BackupConfiguration, Protection["state"], RegExp]>([
  ["never ran", configuration([]), "unprotected", /No backup yet/],
  ["only failed", configuration([failed]), "unprotected", /There is no finished backup/],
  [
    "a good one older than all listed ones",
    configuration([failed], { last_finished_at: at }),
    "late",
    /An earlier good backup exists/,
  ],
  ["only damaged backups", configuration([damaged]), "unprotected", /damaged/],
  ["one good backup", configuration([backup()]), "protected", /good and on time/],
  [
    "one good backup, from a service that does not report overdue runs",
    configuration([backup()], { missed_since: undefined }),
    "protected",
    /is good\.$/,
  ],
  ["a failed run since", configuration([failed, backup()]), "late", /last run failed/],
  ["a damaged one since", configuration([damaged, backup()]), "late", /newest backup is damaged/],
  ["an overdue run", configuration([backup()], { missed_since: at }), "late", /overdue/],
  [
    "a failed configuration",
    configuration([backup()], { status: "failed" }),
    "late",
    /configuration has failed/,
  ],
  [
    "an overdue restore drill",
    configuration([backup()], { drill: 7, last_proven_at: "2026-06-01T02:30:00.000000Z" }),
    "late",
    /restore drill is overdue/,
  ],
  [
    "a failed restore drill",
    configuration([backup()], { drill: 7, failed_drill: { backup_id: 1, at }, last_proven_at: at }),
    "late",
    /^Backup 1 failed its restore drill\.$/,
  ],
  [
    "a failed restore drill of an earlier backup, where another drill will follow",
    configuration([backup({ id: 2 }), backup()], {
      drill: 7,
      failed_drill: { backup_id: 1, at },
      last_proven_at: at,
    }),
    "late",
    /^Backup 1 failed/,
  ],
  [
    "a failed restore drill of the newest backup, without drills by schedule",
    configuration([backup()], { failed_drill: { backup_id: 1, at } }),
    "late",
    /^Backup 1 failed/,
  ],
  [
    "a failed restore drill of an earlier backup, without drills by schedule",
    configuration([backup({ id: 2 }), backup()], { failed_drill: { backup_id: 1, at } }),
    "protected",
    /good/,
  ],
  [
    "a timely restore drill",
    configuration([backup()], { drill: 7, last_proven_at: "2026-06-05T02:30:00.000000Z" }),
    "protected",
    /good/,
  ],
])("%s", (_, one, state, reason) => {
  expect(protectionOf(one, now)).toMatchObject({
    state,
    reason: expect.stringMatching(reason),
  });
});

test("shows a warning only while protected, and ranks it below protection without a warning", () => {
  const warnings = ["Nearly empty: 1 kB.", "Unusual size."];
  const of = (backups: Backup[], some?: string[]) =>
    protectionOf(configuration(backups, { warnings: some }), now);
  expect(of([backup()], warnings)).toMatchObject({
    state: "protected",
    warning: "2 warnings: Nearly empty: 1 kB.",
  });
  expect(of([backup()], ["Nearly empty: 1 kB."]).warning).toBe("Nearly empty: 1 kB.");
  // The reason shows a worse problem instead of the warnings.
  expect(of([damaged, backup()], warnings)).toMatchObject({ state: "late", warning: null });
  const ranked = [of([backup()]), of([backup()], warnings), of([damaged, backup()]), of([])];
  expect(ranked.map(protectionRank)).toEqual([3, 2, 1, 0]);
});

test("a restore would use the newest undamaged backup", () => {
  expect(protectionOf(configuration([damaged, backup()]), now).newest?.id).toBe(1);
});

test("a source is as protected as by its best configuration, and warns about each other one with a problem", () => {
  const of = (id: number, ...backups: Backup[]) => {
    const { state, reason, warning } = protectionOf(configuration(backups), now);
    return { id, name: `backup-${id}`, state, reason, warning, atMs: null };
  };
  const [good, alsoGood] = [of(1, backup()), of(2, backup())];
  const [late, unprotected] = [of(3, failed, backup()), of(4)];
  expect(judgeSource([])).toBeNull();
  expect(judgeSource([good, alsoGood])).toMatchObject({ state: "protected", warning: null });
  const warned = { id: 3, state: "protected", warning: "“backup-3”: The last run failed." };
  expect(judgeSource([good, late])).toMatchObject(warned);
  expect(judgeSource([late], true)).toMatchObject(warned);
  expect(judgeSource([late, good, unprotected])).toMatchObject({
    id: 4,
    state: "protected",
    warning: "2 configurations need attention. “backup-4”: No backup yet.",
  });
  expect(judgeSource([unprotected, late])).toMatchObject({
    id: 3,
    state: "late",
    reason: "2 configurations need attention. The last run failed.",
    warning: null,
  });
  expect(judgeSource([late])).toEqual(late);
});
