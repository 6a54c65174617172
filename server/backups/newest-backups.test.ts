// Tests that the state that a trigger keeps of the newest backups leads to the same result as all backups.
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { backupStates, backupTriggers } from "../../contract/backups/backup.ts";
import { copyTarget } from "../../contract/backups/copies.ts";
import { protectionOf } from "../../contract/backups/protection.ts";
import { toTimestamp, toTimestampOrNull } from "../../contract/values.ts";
import { desc, eq } from "../store/drizzle.ts";
import { backupConfigurations, backups } from "../store/tables/backups.ts";
import { createTestDatabase, type TestDatabase } from "../testing/database.ts";
import { makeRandom } from "../testing/random.ts";
import { warningsOf } from "./configuration-warnings.ts";
import {
  decidingRuns,
  protectionByRuns,
  readConfigurations,
  readJudgeable,
} from "./protection-store.ts";

const now = new Date();
let database: TestDatabase;
const query = async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
  (await database.db.$client.query<Row>(text, values)).rows;

beforeAll(async () => {
  database = await createTestDatabase();
  await query(`insert into servers (id, name, entry) values (1, 'here', '{}')`);
  await query(
    `insert into sites (id, server_id, name, entry) select n, 1, 'site ' || n, '{}' from generate_series(1, 60) n`,
  );
  await query(
    `insert into storage_providers (id, name, entry) values (1, 'disk', '{}'), (2, 'second', '{}'), (3, 'third', '{}')`,
  );
});
afterAll(() => database.close());
beforeEach(() => query("truncate backup_configurations, backups cascade"));

const makeConfiguration = async (site = 1): Promise<number> => {
  const [row] = await query<{ id: number }>(
    `insert into backup_configurations (server_id, name, frequency, hold, directory, storage_provider_id, type, site_id, status)
     values (1, 'nightly', '0 3 * * *', 7, 'nightly', 1, 'site', $1, 'installed') returning id`,
    [site],
  );
  return row?.id ?? 0;
};
const insert = `insert into backups (configuration_id, storage_provider_id, trigger, status, ended_at) values ($1, 1, 'manual', $2, now()) returning id`;
const sumOf = (configuration: number) =>
  query("select * from newest_backups where configuration_id = $1", [configuration]);

async function fillAtRandom(): Promise<void> {
  const random = makeRandom(7);
  const roll = (sides: number) => Math.floor(random() * sides);
  const oneOf = <Value>(values: readonly Value[]) => values[roll(values.length)];
  for (let site = 1; site <= 60; site++) {
    const id = await makeConfiguration(site);
    const isPlain = roll(2) === 0;
    await query(
      `update backup_configurations set status = $2, missed_since = $3, install_warnings = $4, drill = $5, last_proven_at = $6,
         copy_storage_provider_id = $7 where id = $1`,
      [
        id,
        oneOf(isPlain ? ["installed"] : ["installed", "installed", "failed", "installing"]),
        oneOf(isPlain ? [null] : [null, null, null, now]),
        oneOf(isPlain ? [[]] : [[], [], ["A restore would be refused."]]),
        oneOf([null, null, 7]),
        oneOf([
          null,
          new Date(now.getTime() - 8 * 86_400_000),
          new Date(now.getTime() - 86_400_000),
        ]),
        oneOf([null, null, 2]),
      ],
    );
    for (let count = roll(14); count > 0; count--) {
      const storage = oneOf([1, 1, 1, 2]);
      const [made] = await query<{ id: number; trigger: string }>(
        `insert into backups (configuration_id, storage_provider_id, trigger, status, damage, warnings, ended_at)
         values ($1, $2, $3, $4, $5, $6, $7) returning id, trigger`,
        [
          id,
          storage,
          oneOf(isPlain ? ["schedule"] : backupTriggers),
          oneOf(isPlain ? ["finished"] : backupStates),
          oneOf(isPlain ? [null] : [null, null, "It has 3 bytes."]),
          oneOf(isPlain ? [[]] : [[], [], [], ["Nearly empty."]]),
          oneOf([now, null, new Date(now.getTime() - roll(20) * 86_400_000)]),
        ],
      );
      if (made?.trigger !== "copy" && roll(isPlain ? 8 : 2) !== 0)
        await query(
          `insert into backups (configuration_id, storage_provider_id, trigger, status, damage, copy_of_id)
           values ($1, $2, 'copy', $3, $4, $5)`,
          [
            id,
            oneOf(storage === 2 ? [1, 1, 3] : [2, 2, 2, 3]),
            oneOf(isPlain ? ["finished"] : ["finished", "finished", "failed"]),
            oneOf(isPlain ? [null] : [null, null, "It is gone."]),
            made?.id,
          ],
        );
      if (roll(isPlain ? 30 : 15) === 0)
        await query(
          `update backup_configurations set failed_drill_id = $2, failed_drill_at = now() where id = $1`,
          [id, made?.id],
        );
    }
  }
}

/** Judges a configuration like a list: from its ten newest backups. */
async function judgeByList(id: number) {
  const [one] = await database.db
    .select()
    .from(backupConfigurations)
    .where(eq(backupConfigurations.id, id));
  if (one === undefined) throw new Error("The configuration is gone.");
  const all = await database.db
    .select()
    .from(backups)
    .where(eq(backups.configuration_id, id))
    .orderBy(desc(backups.id));
  const newest = all.filter(({ trigger }) => trigger !== "copy").slice(0, 10);
  const isOfRun = ({ trigger }: (typeof all)[number]) => trigger !== "safety" && trigger !== "copy";
  const finished = all.filter((row) => row.status === "finished" && isOfRun(row));
  const good = finished.find(({ damage }) => damage === null);
  const copied = all.find(
    ({ status, trigger, damage, copy_of_id, storage_provider_id }) =>
      [status, trigger, damage].join() === "finished,copy," &&
      copy_of_id !== null &&
      good !== undefined &&
      storage_provider_id === copyTarget(good, one),
  );
  const isMissing =
    one.copy_storage_provider_id !== null &&
    good !== undefined &&
    (copied?.copy_of_id ?? 0) < good.id;
  const shown = newest.map((row) => ({ ...row, ended_at: toTimestampOrNull(row.ended_at) }));
  const { state, reason, warning } = protectionOf(
    {
      ...one,
      backups: shown,
      last_backup: shown[0] ?? null,
      missed_since: toTimestampOrNull(one.missed_since),
      last_proven_at: toTimestampOrNull(one.last_proven_at),
      failed_drill:
        one.failed_drill_id === null
          ? null
          : { backup_id: one.failed_drill_id, at: toTimestamp(now) },
      copy_missing: isMissing
        ? {
            storage: copyTarget(good, one) === 1 ? "disk" : "second",
            since: toTimestamp(now),
          }
        : null,
      last_finished_at: toTimestampOrNull(good?.ended_at ?? null),
      warnings: warningsOf(one, shown),
    },
    now.getTime(),
  );
  return { state, reason, warning };
}

test("judges protection by the ten newest backups, and reports as well only configurations that they show as protected", async () => {
  await fillAtRandom();
  const all = await readConfigurations(database.db, null);
  expect(all).toHaveLength(60);
  const found = await readJudgeable(database.db, null, now);
  expect(found).toMatchObject({ total: 60, other_sites: [] });
  const sorted = ({ sites, ...rest }: typeof found) => ({
    ...rest,
    sites: sites.toSorted((a, b) => a - b),
  });
  expect(sorted(await readJudgeable(database.db, [1], now))).toEqual(sorted(found));
  expect(found.unwell).toEqual(all.filter(({ id }) => found.unwell.some((one) => one.id === id)));
  const unwell = new Set(found.unwell.map(({ site_id }) => site_id));
  const well = new Set(found.sites.filter((id) => !unwell.has(id)));
  expect(unwell.size + well.size).toBe(60);
  // Otherwise the seed would test nothing.
  expect(well.size).toBeGreaterThan(5);
  const states = new Set<string>();
  for (const one of all) {
    const judged = protectionByRuns(one, decidingRuns(one), now.getTime());
    expect(judged, `configuration ${one.id}`).toMatchObject(await judgeByList(one.id));
    states.add(judged.state);
    if (well.has(one.site_id ?? 0))
      expect(judged).toMatchObject({ state: "protected", warning: null });
  }
  expect(states.size).toBe(3);
  expect(all.some(({ copy_missing: missing }) => missing !== null)).toBe(true);
});

test("follows each change of a backup, and is deleted with its configuration", async () => {
  const id = await makeConfiguration();
  expect(await sumOf(id)).toEqual([]);
  const [run] = await query<{ id: number }>(insert, [id, "pending"]);
  expect(await sumOf(id)).toMatchObject([{ status: "pending", begun_at: null, good_id: null }]);
  await query("update backups set status = 'finished', size = 5 where id = $1", [run?.id]);
  expect(await sumOf(id)).toMatchObject([
    { status: "finished", good_id: run?.id, good_size: "5", stored_id: run?.id, runs: null },
  ]);
  await query("update backups set damage = 'It is gone.' where id = $1", [run?.id]);
  expect(await sumOf(id)).toMatchObject([
    { is_damaged: true, good_id: null, stored_id: run?.id, runs: [{ damage: "It is gone." }] },
  ]);
  await query("delete from backups");
  expect(await sumOf(id)).toMatchObject([
    { status: null, good_id: null, stored_id: null, runs: null },
  ]);
  await query("delete from backup_configurations");
  expect(await sumOf(id)).toEqual([]);
});

test("covers both of two concurrent transactions, and makes neither wait for the other's backup", async () => {
  const id = await makeConfiguration();
  const [older] = await query<{ id: number }>(insert, [id, "running"]);
  const [newer] = await query<{ id: number }>(insert, [id, "running"]);
  const clients = [new pg.Client(database.connection), new pg.Client(database.connection)] as const;
  try {
    for (const client of clients) {
      await client.connect();
      await client.query("begin; set local deadlock_timeout = '50ms'");
    }
    const [one, other] = clients;
    const finish = "update backups set status = 'finished' where id = $1";
    await one.query(finish, [older?.id]);
    await other.query(finish, [newer?.id]);
    // If the first change locked the sum, each transaction would wait for the other.
    await one.query("select from backup_configurations where id = $1 for update", [id]);
    const waiting = one.query("update backups set verified_at = now() where id = $1", [newer?.id]);
    await other.query("commit");
    await waiting;
    await one.query("commit");
  } finally {
    for (const client of clients) await client.end();
  }
  expect(await sumOf(id)).toMatchObject([{ status: "finished", good_id: newer?.id, runs: null }]);
});
