import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { BackupCounts } from "../../contract/backups/counts.ts";
import { casesOf } from "../testing/long-form.ts";
import { createBackupTestService, type BackupTestService } from "./testing/backup-service.ts";

let service: BackupTestService;
beforeAll(async () => {
  service = await createBackupTestService();
});
afterAll(() => service?.close());
beforeEach(() => {
  service.sql("drop table if exists items");
  service.sql("delete from orders");
  service.sql("insert into orders (customer) values ('ada'), ('grace')");
});

const countsOf = async (id: number) =>
  (await service.json<BackupCounts>("GET", `/api/backup-configuration/${id}/counts`)).body;
const fill = (rows: number) =>
  service.sql(
    `insert into orders (customer) with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows}) select 'customer ' || i from n`,
  );

test("each backup adds its counts, which are null for a table that it lacks", async () => {
  const { id } = await service.installed();
  expect(await countsOf(id)).toEqual({ unit: "rows", backups: [], series: [], left_out: 0 });
  const first = await service.run(id);
  service.sql("create table items (id integer)");
  fill(3);
  const second = await service.run(id);
  const { unit, backups, series, left_out: leftOut } = await countsOf(id);
  expect([unit, leftOut]).toEqual(["rows", 0]);
  expect(backups.map((one) => one.id)).toEqual([first.id, second.id]);
  expect(series).toEqual([
    { name: "orders", counts: [2, 5] },
    { name: "items", counts: [null, 0] },
  ]);
});

test("counts files and folders of a site", async () => {
  const { id } = await service.installed({ backupable_type: "site" });
  await service.run(id);
  await writeFile(join(service.folder, "shop/new.php"), "<?php\\n");
  await service.run(id);
  const { unit, series } = await countsOf(id);
  expect(unit).toBe("entries");
  const [before = 0, after] = series[0]?.counts ?? [];
  expect(after).toBe((before ?? 0) + 1);
});

test("omits counts of an adopted manifest in another form", async () => {
  const { id } = await service.installed();
  const first = await service.run(id);
  const second = await service.run(id);
  const client = new pg.Client(service.connection);
  await client.connect();
  await client.query("update backups set manifest = $2 where id = $1", [
    first.id,
    { kind: "database", tables: { orders: "many", items: -1 } },
  ]);
  await client.end();
  const { backups } = await countsOf(id);
  expect(backups.map((one) => one.id)).toEqual([second.id]);
});

test("a run warns about a table that lost many rows, once", async () => {
  fill(98);
  const { id } = await service.installed();
  for (let count = 0; count < 3; count++) expect((await service.run(id)).warnings).toEqual([]);
  service.sql("delete from orders where id > 55");
  const warned = await service.run(id);
  expect(warned.warnings).toEqual([
    "Far fewer rows than in the last backup: orders −45% (55, before 100).",
  ]);
  expect((await service.show(id)).warnings).toEqual([
    `Backup ${warned.id}: ${warned.warnings?.[0]}`,
  ]);
  expect((await service.run(id)).warnings).toEqual([]);
});

const sources = {
  "its own": async (id: number) => id,
  another: async () => (await service.installed()).id,
};

test.each(casesOf(sources, ["another"]))(
  "does not warn about rows that a restore from %s configuration removed",
  async (_, sourceOf) => {
    const { id } = await service.installed();
    const source = await sourceOf(id);
    const small = await service.run(source);
    fill(98);
    for (let count = 0; count < 3; count++) await service.run(id);
    await service.statusOf("PUT", `/api/backup/${small.id}`);
    await service.restored(small.id, "finished");
    const after = await service.run(id);
    expect(after.warnings).not.toContainEqual(expect.stringMatching(/rows/));
    const { series } = await countsOf(id);
    expect(series[0]?.counts.slice(-4)).toEqual([100, 100, 100, 2]);
  },
);
