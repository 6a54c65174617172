import { expect, test } from "vitest";
import type { Backup, BackupConfiguration } from "../../../contract/backups/backup.ts";
import { protectionRows, type Target } from "./protection-rows.ts";
import { finished } from "../testing/backups.ts";

const now = Date.parse("2026-06-10T12:00:00Z");
const yesterday = "2026-06-09T02:30:00.000000Z";
const today = "2026-06-10T02:30:00.000000Z";

const backup = (change: Partial<Backup> = {}): Backup => ({ ...finished, ...change });

const configuration = (
  id: number,
  type: Target["type"],
  backupableId: number,
  backups: Backup[],
): BackupConfiguration => ({
  id,
  name: `configuration ${id}`,
  frequency: "30 2 * * *",
  hold: 7,
  directory: "shop",
  status: "installed",
  storage_provider_id: 1,
  type,
  backupable: { id: backupableId, name: "as configured", status: "installed", created_at: today },
  last_backup: backups[0] ?? null,
  last_backup_at: backups[0]?.started_at ?? null,
  backups,
});

const orders: Target = { type: "database", id: 1, name: "orders" };
const shop: Target = { type: "site", id: 1, name: "shop" };
const good = backup();
const failed = backup({ id: 2, status: "failed" });
const older = backup({ ended_at: yesterday });
const damaged = backup({ damage: "its checksum differs" });

type Short = [name: string, state: string, configuration: number | null, newestAt: string | null];

test.each<[string, Target[], BackupConfiguration[], Short[]]>([
  ["nothing to protect", [], [], []],
  ["no configuration", [orders], [], [["orders", "unprotected", null, null]]],
  [
    "a good backup",
    [orders],
    [configuration(5, "database", 1, [good])],
    [["orders", "protected", 5, today]],
  ],
  [
    "a site is not the database of the same id",
    [orders, shop],
    [configuration(5, "database", 1, [good])],
    [
      ["shop", "unprotected", null, null],
      ["orders", "protected", 5, today],
    ],
  ],
  [
    "a configuration that never ran",
    [orders],
    [configuration(5, "database", 1, [])],
    [["orders", "unprotected", 5, null]],
  ],
  [
    "the last run failed",
    [orders],
    [configuration(5, "database", 1, [failed, good])],
    [["orders", "late", 5, today]],
  ],
  [
    "the newest backup is damaged, so an older one counts",
    [orders],
    [configuration(5, "database", 1, [damaged, older])],
    [["orders", "late", 5, yesterday]],
  ],
  [
    "of two configurations the better one protects, and the other one is shown",
    [orders],
    [configuration(5, "database", 1, [failed]), configuration(6, "database", 1, [good])],
    [["orders", "protected", 5, today]],
  ],
  [
    "of two good ones the newer one counts",
    [orders],
    [configuration(5, "database", 1, [older]), configuration(6, "database", 1, [good])],
    [["orders", "protected", 6, today]],
  ],
  [
    "of two good ones the one with a warning is shown",
    [orders],
    [
      { ...configuration(5, "database", 1, [older]), warnings: ["Nearly empty: 1 kB."] },
      configuration(6, "database", 1, [good]),
    ],
    [["orders", "protected", 5, today]],
  ],
  [
    "a source that only a configuration lists",
    [],
    [configuration(5, "site", 9, [good])],
    [["as configured", "protected", 5, today]],
  ],
  [
    "the worst first",
    [orders, shop, { type: "site", id: 2, name: "blog" }],
    [configuration(5, "database", 1, [good]), configuration(6, "site", 1, [failed, good])],
    [
      ["blog", "unprotected", null, null],
      ["shop", "late", 6, today],
      ["orders", "protected", 5, today],
    ],
  ],
])("%s", (_, targets, configurations, expected) => {
  expect(
    protectionRows(targets, configurations, now).map(
      ({ target, state, configuration, newestAt }) => [
        target.name,
        state,
        configuration?.id ?? null,
        newestAt,
      ],
    ),
  ).toEqual(expected);
});

test("adopted backups protect nothing, because no new ones are made", () => {
  const adopted = { ...configuration(1, "database", 1, [good]), adopted_at: today };
  expect(protectionRows([orders], [adopted], now)).toMatchObject([
    { state: "unprotected", reason: "No backup configured.", configuration: null },
  ]);
});
