// Tests restores of single tables into the live database over HTTP, with the same tests for this machine and a remote server.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Backup } from "../../../contract/backups/backup.ts";
import type { ArchiveObjects } from "../../../contract/backups/contents.ts";
import { eachMachine } from "../../ssh/testing/remote-server.ts";
import { readEntries } from "../sources/postgres/archive.ts";
import { findTables } from "../sources/postgres/restore-tables.ts";
import { fingerprint } from "../sources/postgres/testing/fixtures.ts";
import {
  createBackupTestService,
  createHold,
  heldSite,
  type BackupTestService,
} from "../testing/backup-service.ts";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "../testing/postgres-server.ts";

const database = 4;
/** Id of the same database with an account that does not own everything. */
const narrow = 5;
const identity = await generateX25519Identity();
const recipient = await identityToRecipient(identity);
const sealed = 3;
const held = 2;
const awful = String.raw`we'ird "tä.ble" \n`;
const quoted = `"${awful.replaceAll('"', '""')}"`;

const schema = `
create type mood as enum ('calm', 'odd');
create table customers (id int primary key, name text);
create table orders (
  id int generated always as identity primary key,
  customer int not null references customers, note text, twice int generated always as (id * 2) stored
);
comment on constraint orders_customer_fkey on orders is 'who pays';
create table items (id serial primary key, "order" int references orders on delete cascade deferrable);
create table log (what text);
create function noted() returns trigger language plpgsql as $$ begin insert into log values (tg_op); return new; end $$;
create trigger noted after insert or delete on orders for each row execute function noted();
create trigger silent after insert on orders for each row execute function noted();
alter table orders disable trigger silent;
create trigger emptied after truncate on orders execute function noted();
alter table orders enable always trigger emptied;
create view shown as select note from orders;
create schema side; create role reader; create table side.things (id int primary key);
create table side.taken (id serial primary key, item int references side.things, mood mood default 'calm' check (mood <> 'odd'), note text);
create index by_note on side.taken (note) where note is not null;
create statistics side.pairs on item, note from side.taken;
create trigger noted after insert on side.taken for each row execute function noted();
create policy mine on side.taken using (note = current_user); alter table side.taken enable row level security;
create rule quiet as on delete to side.taken do also insert into log values ('gone');
comment on column side.taken.note is 'what it says'; grant select (note) on side.taken to reader; grant usage on sequence side.taken_id_seq to reader;
create table side.refers (taken int references side.taken);
create table days (day date) partition by range (day);
create table days_2026 partition of days for values from ('2026-01-01') to ('2027-01-01');
create table ${quoted} (note text);
insert into customers values (1, 'ada'), (2, 'grace');
insert into orders (customer, note) values (1, 'one'), (2, 'two');
insert into items ("order") values (1), (2);
insert into ${quoted} values ('kept');
insert into side.things values (1), (2); insert into side.taken (item, note) values (1, 'first'), (2, null); insert into side.refers values (1);
insert into days values ('2026-05-05');
truncate log;
create role narrow login password 'x'; grant pg_read_all_data to narrow;
alter table customers owner to narrow;
`;

let postgres: PostgresServer;
beforeAll(async () => {
  if (!hasPostgresServer) return;
  postgres = await startPostgresServer();
  await postgres.createDatabase("template_shop");
  await postgres.query("template_shop", schema);
  await postgres.query("postgres", "create database shop template template_shop");
});
afterAll(() => postgres?.stop());

describe.runIf(hasPostgresServer).each(eachMachine())(
  "tables of a database on $machine",
  ({ machine, connectionOf, isWhole }) => {
    let service: BackupTestService;
    let backup: Backup;
    const sql = (text: string) => postgres.query("shop", text);

    beforeAll(async () => {
      service = await createBackupTestService(
        {
          secrets: {
            PG: postgres.url("shop"),
            NARROW: postgres.url("shop", { user: "narrow", password: "x" }),
          },
        },
        {
          connection: await connectionOf(),
          sites: (folder) => heldSite(folder, held),
          databases: () => `
  - { id: ${database}, server: 1, name: pg, engine: postgres, url: env:PG }
  - { id: ${narrow}, server: 1, name: narrow, engine: postgres, url: env:NARROW }`,
          providers: (folder) =>
            `  - { id: ${sealed}, name: sealed, type: local, path: ${folder}/sealed, recipients: ["${recipient}"] }`,
        },
      );
      const { id } = await service.installed({ backupable_id: database });
      backup = await service.run(id);
    });
    afterAll(() => service?.close());
    beforeEach(async () => {
      await postgres.query("postgres", "drop database shop with (force)");
      await postgres.query("postgres", "create database shop template template_shop");
    });

    const into = (tables: string[], more: object = {}, target = database) =>
      service.json<Backup>("POST", `/api/database/${target}/restore`, {
        backup_id: backup.id,
        tables,
        ...more,
      });
    const restore = async (
      tables: string[],
      status: string,
      more: object = {},
      target = database,
    ) => {
      const answer = await into(tables, more, target);
      expect(answer.status, JSON.stringify(answer.body)).toBe(202);
      return service.restored(backup.id, status);
    };
    /** The first test on this machine covers safety backups. */
    const unsaved = { skip_safety_backup: true };
    const notes = () => sql("select id, note from orders order by id");
    const two = [
      { id: 1, note: "one" },
      { id: 2, note: "two" },
    ];

    test("get their rows back, and everything around them stays unchanged", async () => {
      await sql(
        "update orders set note = 'spoiled'; insert into customers values (3, 'later'); truncate log",
      );
      await sql(
        "insert into orders (customer, note) values (3, 'third'); delete from orders where note = 'third'; truncate log",
      );
      const before = await sql(
        "select conname, pg_get_constraintdef(oid) as is, obj_description(oid) as note from pg_constraint where contype = 'f' order by 1",
      );
      const triggers = "select tgname, tgenabled from pg_trigger where not tgisinternal order by 1";
      const enabled = await sql(triggers);
      const restored = await restore(["public.orders"], "finished", isWhole ? {} : unsaved);
      expect(restored.restore_target).toMatchObject({ name: "pg", part: "public.orders" });
      expect(await notes()).toEqual(two);
      expect(await sql("select * from shown order by 1")).toEqual([
        { note: "one" },
        { note: "two" },
      ]);
      expect(await sql("select count(*)::int as n from items")).toEqual([{ n: 2 }]);
      expect(await sql("select count(*)::int as n from customers")).toEqual([{ n: 3 }]);
      // No trigger has fired, and triggers and foreign keys are unchanged.
      expect(await sql("select * from log")).toEqual([]);
      expect(await sql(triggers)).toEqual(enabled);
      expect(
        await sql(
          "select conname, pg_get_constraintdef(oid) as is, obj_description(oid) as note from pg_constraint where contype = 'f' order by 1",
        ),
      ).toEqual(before);
      // An assigned number is not assigned again.
      expect(
        await sql("insert into orders (customer, note) values (1, 'next') returning id"),
      ).toEqual([{ id: 4 }]);
      if (!isWhole) return;
      const [safety] = (await service.show(backup.configuration_id ?? 0)).backups;
      expect(safety).toMatchObject({ trigger: "safety", status: "finished" });
    });

    // Tests of shared code paths run on this machine only, because SSH is slow.
    test.each(
      machine === "this machine"
        ? ["that were dropped are recreated, with everything that was dropped with them"]
        : [],
    )("%s", async () => {
      const whole = () => fingerprint(postgres, "shop");
      const before = await whole();
      await sql("drop table side.taken cascade; drop table orders cascade");
      expect(await whole()).not.toEqual(before);
      const both = await restore(["side.taken", "public.orders"], "finished", unsaved);
      expect(both.restore_output).toContain("Creating public.orders, which is not there.");
      expect(both.restore_output).not.toContain("Left out");
      await sql("create view shown as select note from orders");
      expect(await whole()).toEqual(before);
      // Where the other table of a foreign key is missing, the rest is restored without the key.
      await sql("drop table side.taken cascade; drop table side.refers, side.things");
      const alone = await restore(["side.taken"], "finished", unsaved);
      expect(alone.restore_output).toContain(
        "Left out: foreign key side refers refers_taken_fkey, because side refers is not there.",
      );
      expect(alone.restore_output).toContain("foreign key side taken taken_item_fkey");
      expect(await sql("select id, note from side.taken order by id")).toEqual([
        { id: 1, note: "first" },
        { id: 2, note: null },
      ]);
    });

    test.each(
      machine === "this machine"
        ? ["are listed with the other content of a backup, even an encrypted one"]
        : [],
    )("%s", async () => {
      const look = (id: number, body: object = {}) =>
        service.json<ArchiveObjects>("POST", `/api/backup/${id}/objects`, body);
      const { status, body } = await look(backup.id);
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body).toMatchObject({ is_complete: true, per_page: 200 });
      expect(body.total).toBe(body.objects.length);
      expect(body.objects).toEqual(
        expect.arrayContaining([
          { kind: "view", name: "public.shown" },
          { kind: "function", name: "public.noted()" },
          { kind: "type", name: "public.mood" },
          { kind: "schema", name: "side" },
          { kind: "sequence", name: "side.taken_id_seq" },
          { kind: "index", name: "side.by_note" },
          { kind: "statistics", name: "side.pairs" },
          { kind: "trigger", name: "silent on public.orders" },
          { kind: "policy", name: "mine on side.taken" },
          { kind: "rule", name: "quiet on side.taken" },
          { kind: "constraint", name: "orders_pkey on public.orders" },
          { kind: "foreign key", name: "orders_customer_fkey on public.orders" },
        ]),
      );
      expect(body.kinds).toContainEqual({ kind: "trigger", count: 4 });
      const found = await look(backup.id, { kind: "trigger", search: "NOTED" });
      expect(found.body.objects).toEqual([
        { kind: "trigger", name: "noted on public.orders" },
        { kind: "trigger", name: "noted on side.taken" },
      ]);
      expect(found.body.kinds).toContainEqual({ kind: "function", count: 1 });
      expect((await look(backup.id, { search: "no such" })).body).toMatchObject({
        total: 0,
        kinds: [],
        objects: [],
      });

      await mkdir(join(service.folder, "sealed"));
      const { id } = await service.installed({
        backupable_id: database,
        storage_provider_id: sealed,
      });
      const secret = await service.run(id);
      const path = `/api/backup/${secret.id}/objects`;
      expect(await service.errorsOf("POST", path, {})).toHaveProperty("identity");
      const opened = await look(secret.id, { identity });
      expect(opened.body.objects).toEqual(body.objects);
      const { listing } = opened.body;
      expect((await look(secret.id, { listing, kind: "view" })).body.total).toBe(1);
    });

    if (!isWhole) return;

    test("change nothing if other rows would lose the rows that they refer to", async () => {
      await sql(
        "insert into orders (customer, note) values (1, 'third'); insert into items (\"order\") values (3)",
      );
      const before = await notes();
      const failed = await restore(["public.orders"], "failed", unsaved);
      expect(failed.restore_output).toMatch(/pg is unchanged: .*foreign key.*items_order_fkey/);
      expect(await notes()).toEqual(before);
      await sql("delete from orders where id = 2");
      await sql("delete from customers where id = 2");
      const other = await restore(["public.orders"], "failed", unsaved);
      expect(other.restore_output).toMatch(/orders_customer_fkey|items_order_fkey/);
      expect(await sql("select count(*)::int as n from pg_constraint where contype = 'f'")).toEqual(
        [{ n: 4 }],
      );
    });

    test("are restored together if they refer to each other, whatever their names", async () => {
      await sql(
        `truncate customers, orders, items restart identity; delete from ${quoted}; truncate log`,
      );
      await restore(
        ["public.items", "public.orders", "public.customers", `public.${awful}`],
        "finished",
        unsaved,
      );
      expect(await notes()).toEqual(two);
      expect(await sql("select count(*)::int as n from items")).toEqual([{ n: 2 }]);
      expect(await sql(`select * from ${quoted}`)).toEqual([{ note: "kept" }]);
      // The sequences had been reset, and are advanced behind the restored rows.
      expect(await sql('insert into items ("order") values (1) returning id')).toEqual([{ id: 3 }]);
      expect(await sql("insert into orders (customer) values (1) returning id")).toEqual([
        { id: 3 },
      ]);
    });

    test("that cannot be restored safely are refused with a message, and nothing changes", async () => {
      const refused = async (table: string, words: RegExp) => {
        const { restore_output: output } = await restore([table], "failed", unsaved);
        expect(output).toMatch(words);
        expect(await notes()).toEqual(two);
      };
      await refused("public.days_2026", /shares its rows with another table/);
      await sql("drop table days_2026");
      await refused("public.days_2026", /days_2026, which is not there any more, is a partition/);
      await sql("drop table items; create view items as select 1 as id");
      await refused("public.items", /public\.items is no ordinary table any more/);
      await sql("drop view items; drop table log cascade; alter schema side rename to other");
      await refused("side.taken", /schema "side" does not exist/);
      await sql("alter table customers add column needed int not null default 1");
      await sql("alter table customers drop column name");
      await refused("public.customers", /column "name" of relation "customers" does not exist/);
      const { restore_output: output } = await restore(
        ["public.orders"],
        "failed",
        unsaved,
        narrow,
      );
      expect(output).toMatch(/the account does not own public\.orders/);
      expect(await notes()).toEqual(two);
    });

    test("of a SQLite database are restored over HTTP", async () => {
      const { id } = await service.installed({ backupable_id: 1 });
      const { id: taken } = await service.run(id);
      service.sql("drop table orders");
      service.sql("create table later (x)");
      const body = { backup_id: taken, tables: ["orders"], ...unsaved };
      expect(await service.statusOf("POST", "/api/database/1/restore", body)).toBe(202);
      const restored = await service.restored(taken, "finished");
      expect(restored.restore_target).toMatchObject({ name: "orders", part: "orders" });
      expect(service.sql("select customer from orders")).toEqual([
        { customer: "ada" },
        { customer: "grace" },
      ]);
      expect(service.sql("select * from later")).toEqual([]);
      service.sql("drop table later");
      expect(await service.messageOf("POST", `/api/backup/${taken}/objects`, {})).toBe(
        "Only backups of PostgreSQL have a table of contents.",
      );
    });

    test("whose names end with a space are distinct", async () => {
      const { id } = await service.installed({ backupable_id: 1 });
      service.sql('create table "orders " (customer text)');
      const { id: taken } = await service.run(id);
      service.sql("insert into orders (customer) values ('later')");
      service.sql("insert into \"orders \" values ('later')");
      const body = { backup_id: taken, tables: ["orders "], ...unsaved };
      expect(await service.statusOf("POST", "/api/database/1/restore", body)).toBe(202);
      await service.restored(taken, "finished");
      expect(service.sql('select * from "orders "')).toEqual([]);
      expect(service.sql("select count(*) as n from orders")).toEqual([{ n: 3 }]);
      service.sql('drop table "orders "');
    });

    test("must exist in the database and in the backup", async () => {
      const errors = (path: string, body: object) =>
        service.errorsOf("POST", `/api/database/${path}/restore`, {
          backup_id: backup.id,
          ...body,
        });
      const tables = ["public.orders"];
      expect(await errors("1", { tables })).toHaveProperty("backup_id");
      expect(await errors(String(database), { tables, database: "copy" })).toHaveProperty("tables");
      expect(await errors(String(database), { tables: [] })).toHaveProperty("tables");
      // Refused before the safety backup.
      const unknown = [...tables, "public.nothing", "nowhere.orders"];
      expect(await errors(String(database), { tables: unknown })).toEqual({
        tables: ["The backup contains no table public.nothing, nowhere.orders."],
      });
    });

    test("are restored once at a time", async () => {
      await sql("update orders set note = 'spoiled'");
      const hold = await createHold(service, held);
      await hold.begin();
      const { status } = await into(["public.orders"], unsaved);
      expect(status).toBe(202);
      expect((await into(["public.orders"])).status).toBe(409);
      await hold.letGo();
      await service.restored(backup.id, "finished");
      expect(await notes()).toEqual(two);
    });
  },
);

test("a name that matches several tables is refused", () => {
  const entries = readEntries(
    [
      "1; 0 1 TABLE DATA public a b owner",
      "2; 0 2 TABLE DATA public a owner",
      "3; 0 3 TABLE public a owner",
      "4; 0 4 TABLE DATA x.y z owner",
    ].join("\n"),
  );
  const find = (name: string) => () => findTables(entries, [name], { "x.y.z": 3 });
  // `a b` of an owner, or `a` of an owner `b owner`: the list is ambiguous.
  expect(find("public.a")).toThrow("fits several tables");
  expect(find("public.a b")()).toMatchObject([{ rows: { id: "1" } }]);
  expect(find("x.y.z")()).toMatchObject([
    { schema: "x.y", name: "z", count: 3, rows: { id: "4" } },
  ]);
  expect(find("public.b")).toThrow("holds no rows");
});
