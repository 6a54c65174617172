// Tests when a run stores changes, and that retention never separates them from the full that they need.
import {
  array,
  assert,
  boolean,
  constantFrom,
  integer,
  nat,
  oneof,
  property,
  record,
} from "fast-check";
import { expect, test } from "vitest";
import { chooseBase, machineComplaint } from "./choose-base.ts";
import { maxContentBytes } from "./patch.ts";
import { expiredSafety, removedAfterRun, removedByNextRun } from "../retention/retention.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const now = new Date("2026-06-10T02:30:00Z");

type Copy = Parameters<typeof chooseBase>[0][number] & {
  ended_at: Date;
  pinned_at: Date | null;
};

const copy = (change: Partial<Copy>): Copy => ({
  id: 1,
  base_id: null,
  storage_provider_id: 1,
  trigger: "schedule",
  damage: null,
  checksum: "0".repeat(64),
  path: "shop/4/1-20260609T023000Z-1.dump.zst",
  size: 1000,
  plain_size: 10_000,
  started_at: new Date(now.getTime() - dayMs),
  ended_at: new Date(now.getTime() - dayMs),
  pinned_at: null,
  ...change,
});
const coming = { storageProviderId: 1, folder: "shop/4", willBeEncrypted: false, at: now };
const patches = (count: number, size = 10) =>
  Array.from({ length: count }, (_, index) => copy({ id: 100 - index, base_id: 1, size }));

test.each([
  ["there is no backup", [], /no full backup yet/],
  ["it is in another storage", [copy({ storage_provider_id: 2 })], /no full backup yet/],
  ["it was made before a restore", [copy({ trigger: "safety" })], /no full backup yet/],
  [
    "it is damaged, though an older one is not",
    [copy({ id: 2, damage: "gone" }), copy({})],
    /backup 2, .* is damaged/,
  ],
  ["it has no checksum", [copy({ checksum: null })], /no checksum/],
  ["it is in another directory", [copy({ path: "old/4/1.dump.zst" })], /another directory/],
  [
    "it is encrypted, and the run is not",
    [copy({ path: "shop/4/1.dump.zst.age" })],
    /is encrypted/,
  ],
  ["it is empty", [copy({ plain_size: 0 })], /empty/],
  ["it is too large", [copy({ plain_size: maxContentBytes + 1 })], /larger than 2.1 GB/],
  ["it is 7 days old", [copy({ started_at: new Date(now.getTime() - 7 * dayMs) })], /7 days old/],
  ["30 backups need it", [...patches(30), copy({})], /30 backups need backup 1/],
  ["the last changes were large", [...patches(1, 501), copy({})], /more than half of backup 1/],
])("stores a full if %s", (_, finished, reason) => {
  expect(chooseBase(finished, coming)).toEqual({ reason: expect.stringMatching(reason) });
});

test("stores changes otherwise, relative to the newest full of the storage", () => {
  const full = copy({ id: 3 });
  const finished = [copy({ id: 5, storage_provider_id: 2 }), ...patches(29, 500), full, copy({})];
  expect(chooseBase(finished, coming)).toEqual({ base: full });
});

test.each([
  ["the content is empty", { contentBytes: 0 }, {}, /empty/],
  ["the content is too large", { contentBytes: maxContentBytes + 1 }, {}, /larger than 2.1 GB/],
  [
    "memory is short",
    {},
    { memoryBytes: 4e8 },
    /400 MB of memory free, and the changes take 48\d MB/,
  ],
  ["the disk is short", {}, { diskBytes: 2e8 }, /200 MB free, and the changes take 26\d MB/],
  ["nothing is short", {}, {}, null],
  ["the disk is short by what is written already", { isWritten: true }, { diskBytes: 2e8 }, null],
])("judges the machine's resources when %s", (_, sizes, machine, reason) => {
  const found = machineComplaint(
    { memoryBytes: 1e9, diskBytes: 1e9, ...machine },
    { baseBytes: 1e8, contentBytes: 1e8, ...sizes },
  );
  if (reason === null) expect(found).toBe(null);
  else expect(found).toMatch(reason);
});

const steps = array(
  oneof(
    {
      weight: 6,
      arbitrary: record({
        run: constantFrom("schedule", "manual"),
        share: integer({ min: 1, max: 90 }),
      }),
    },
    record({ run: constantFrom("safety"), share: integer({ min: 1, max: 90 }) }),
    record({ damaged: nat(20) }),
    record({ pinned: nat(20) }),
    record({ deleted: nat(20) }),
    record({ hours: integer({ min: 1, max: 100 }) }),
    record({ hold: integer({ min: 1, max: 6 }) }),
    record({ moves: boolean() }),
  ),
  { maxLength: 40 },
);

test("over 1,000 random histories every listed backup has the full that it needs", () => {
  let needing = 0;
  assert(
    property(steps, constantFrom(0, 0, 0, 2), (list, weekly) => {
      let stored: Copy[] = [];
      let [atMs, hold, storage, id] = [now.getTime(), 2, 1, 0];
      const without = (gone: readonly Copy[]) =>
        (stored = stored.filter((one) => !gone.includes(one)));
      for (const step of list) {
        atMs += hourMs;
        const at = new Date(atMs);
        if ("hold" in step) hold = step.hold;
        else if ("hours" in step) atMs += step.hours * hourMs;
        else if ("moves" in step) storage = step.moves ? 2 : 1;
        else if ("run" in step) {
          const choice = chooseBase(stored, { ...coming, storageProviderId: storage, at });
          const base = step.run !== "safety" && "base" in choice ? choice.base.id : null;
          const keeping = { hold, keep: weekly === 0 ? null : { weekly }, timeZone: "UTC" };
          const preview = removedByNextRun(stored, keeping, at, base);
          const made = copy({
            id: ++id,
            base_id: base,
            storage_provider_id: storage,
            trigger: step.run,
            size: base === null ? 1000 : step.share * 10,
            started_at: at,
            ended_at: at,
          });
          stored = [made, ...stored];
          if (step.run !== "safety") {
            const gone = removedAfterRun(stored, keeping, at);
            expect(stored.filter((one) => gone.includes(one)).toReversed()).toEqual(preview);
            without(gone);
          }
        } else if ("damaged" in step) {
          const hurt = stored[step.damaged];
          for (const one of stored)
            if (hurt !== undefined && (one === hurt || one.base_id === hurt.id))
              one.damage = "gone";
        } else if ("pinned" in step) {
          const one = stored[step.pinned];
          if (one !== undefined) one.pinned_at = one.pinned_at === null ? at : null;
        } else {
          // A deletion by hand, which is refused for a full that another backup needs.
          const one = stored[step.deleted];
          if (one !== undefined && !stored.some(({ base_id: baseId }) => baseId === one.id))
            without([one]);
        }
        without(expiredSafety(stored, new Date(atMs)));
        const ids = new Set(stored.map((one) => one.id));
        for (const { base_id: baseId } of stored) {
          if (baseId === null) continue;
          needing += 1;
          expect(ids).toContain(baseId);
        }
      }
    }),
    { numRuns: 1000 },
  );
  expect(needing).toBeGreaterThan(1000);
});
