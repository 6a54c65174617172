// Tests restores of single tables of a SQLite backup into the live database: the same script here and over SSH.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { isLongForm } from "../../../testing/long-form.ts";
import {
  attempt,
  createMachines,
  dump,
  exec,
  folder,
  inTemporaryFolder,
  path,
  query,
  source,
  strays,
  untilNoted,
} from "./testing/fixtures.ts";

const awful = `we'ird "tä.ble"\n.quit`;
const quoted = `"${awful.replaceAll('"', '""')}"`;

const schema = `
  create table customers (id integer primary key, name text);
  create table orders (
    id integer primary key autoincrement, customer integer not null references customers, note text default "none",
    twice integer generated always as (id * 2) stored
  ); -- what they buy
  create index by_note on orders (note) where note is not null;
  create table items (number integer primary key, "order" integer references Orders (id) on delete cascade) without rowid;
  create table loose (x, y);
  create table log (what);
  create trigger noted after insert on orders begin insert into log values ('a; b'); end;
  create trigger gone before delete on orders begin insert into log values ("gone"); end;
  create virtual table found using fts5(note, content='orders', content_rowid=id);
  create virtual table words using fts5(text);
  create table ${quoted} (note text);
  create view shown as select note from orders;
  insert into customers values (1, 'ada'), (2, 'grace');
  insert into orders (id, customer, note) values (1, 1, 'one fox'), (5, 2, 'two');
  delete from log; delete from orders where id = 7;
  insert into items values (1, 1), (2, 5);
  insert into loose (rowid, x) values (7, 'seven');
  insert into words values ('a quick fox');
  insert into ${quoted} values ('kept');
  insert into found (found) values ('rebuild'); delete from log`;

const notes = () => query("select id, note, twice from orders order by id");
const rows = [
  { id: 1, note: "one fox", twice: 2 },
  { id: 5, note: "two", twice: 10 },
];

const schemaOf = () => query("select type, name, tbl_name, sql from sqlite_schema order by 1, 2");
const made = (sql: string) => {
  const database = new DatabaseSync(path, {
    enableForeignKeyConstraints: false,
    enableDoubleQuotedStringLiterals: true,
  });
  database.exec(sql);
  database.close();
};

describe.each(createMachines())("on $machine, tables of a backup", ({ machine, hostOf }) => {
  const isNear = machine === "this machine";
  inTemporaryFolder(hostOf);

  test("are restored, and everything around them stays unchanged", async () => {
    made(`pragma journal_mode = wal; ${schema}`);
    const { content } = await dump();
    const restore = (...tables: string[]) =>
      source({ tables }).restore(Readable.from([content]), attempt());
    const before = schemaOf();
    made(`alter table orders add column later default 'x'; insert into customers values (3, 'later');
      update orders set note = 'spoiled'; insert into orders (customer, note) values (3, 'third');
      delete from orders where note = 'third'; delete from log; delete from loose`);
    const open = new DatabaseSync(path, { timeout: 5000 });
    await restore("ORDERS", "loose");
    expect(open.prepare("select count(*) as n from orders where later = 'x'").get()).toEqual({
      n: 2,
    });
    open.close();
    expect(notes()).toEqual(rows);
    expect(query("select rowid, x from loose")).toEqual([{ rowid: 7, x: "seven" }]);
    // No trigger has fired, search indexes are rebuilt, and no number is assigned twice.
    expect(query("select * from log")).toEqual([]);
    expect(query("select rowid from found where found match 'fox'")).toEqual([{ rowid: 1 }]);
    expect(query("select count(*) as n from customers")).toEqual([{ n: 3 }]);
    exec("insert into orders (customer, note) values (1, 'next')");
    expect(query("select max(id) as id from orders")).toEqual([{ id: 7 }]);
    expect(query("select count(*) as n from log")).toEqual([{ n: 1 }]);

    made(`drop table orders; drop table items; drop table ${quoted}; delete from sqlite_sequence`);
    await restore("orders", awful, "items");
    expect(schemaOf()).toEqual(before);
    expect(notes()).toEqual(rows);
    expect(query(`select * from ${quoted}`)).toEqual([{ note: "kept" }]);
    expect(query("select * from items")).toEqual([
      { number: 1, order: 1 },
      { number: 2, order: 5 },
    ]);
    expect(query("select seq from sqlite_sequence where name = 'orders'")).toEqual([{ seq: 5 }]);
    expect(query("pragma integrity_check")).toEqual([{ integrity_check: "ok" }]);
    expect(await strays()).toEqual([]);
  });

  test("whose schema contains more than one statement run none of it", async () => {
    const ran = join(folder, "ran");
    made(`create table loose (x); create table log (what); create index by_x on loose (x);
      create trigger noted after insert on loose begin insert into log values (1); end`);
    const hidden = `;\ncreate table hidden (x);\n.shell touch ${ran}\n`;
    const say = (type: string, change: string, value: string) => {
      const database = new DatabaseSync(path, { defensive: false });
      database.exec("pragma writable_schema = on");
      database
        .prepare(`update sqlite_schema set sql = ${change} where type = ? and tbl_name = 'loose'`)
        .run(value, type);
      database.close();
    };
    for (const type of isNear || isLongForm ? ["table", "index", "trigger"] : ["trigger"]) {
      say(type, "sql || ?", hidden);
      const { content } = await dump();
      say(type, "replace(sql, ?, '')", hidden);
      const before = schemaOf();
      made("drop table loose");
      const failing = source({ tables: ["loose"] }).restore(Readable.from([content]), attempt());
      await expect(failing).rejects.toMatchObject({
        name: "SourceError",
        message: expect.stringMatching(new RegExp(`${type} .* is more than one statement`)),
      });
      expect(query("select name from sqlite_schema")).toEqual([{ name: "log" }]);
      await source().restore(Readable.from([content]), attempt());
      say(type, "replace(sql, ?, '')", hidden);
      expect(schemaOf()).toEqual(before);
    }
    await expect(access(ran)).rejects.toThrow(/ENOENT/);
  });

  test("that cannot be restored without a loss are refused with a message, and nothing changes", async () => {
    made(schema);
    const { content } = await dump();
    const refused = async (tables: string[], words: RegExp | string) => {
      const before = [schemaOf(), notes()];
      const failing = source({ tables }).restore(Readable.from([content]), attempt());
      await expect(failing).rejects.toMatchObject({
        name: "SourceError",
        message: expect.stringMatching(words),
      });
      expect([schemaOf(), notes()]).toEqual(before);
      expect(await strays()).toEqual([]);
    };
    await refused(
      ["orders", "nothing"],
      /nothing was changed: the backup holds no rows of a table nothing/,
    );
    made(
      "insert into orders (customer, note) values (1, 'third'); insert into items values (3, 6)",
    );
    await refused(["orders"], /rows of items would refer to rows that are not there/);
    made("delete from items; delete from orders where id = 5; delete from customers where id = 2");
    await refused(["orders"], /rows of orders would refer to rows that are not there/);
    made("alter table loose rename column y to z");
    await refused(["loose"], /loose has no column y any more/);
    if (!isNear) return;
    await refused(["words"], /the rows of words belong to a virtual table/);
    await refused(["words_content"], /the rows of words_content belong to a virtual table/);
    made("drop table loose; create view loose as select 1 as x");
    await refused(["loose"], /loose is no ordinary table any more/);
    made("create unique index one on items (number / 100)");
    await refused(["items"], /UNIQUE constraint failed/);
    const holder = new DatabaseSync(path);
    holder.exec("begin immediate");
    const held = source({ tables: ["items"], busyMs: 100 }).restore(
      Readable.from([content]),
      attempt(),
    );
    await expect(held).rejects.toThrow(/locked by another process/);
    holder.close();
    await rm(path);
    const lost = source({ tables: ["items"] }).restore(Readable.from([content]), attempt());
    await expect(lost).rejects.toThrow(/is not there/);
    expect(await strays()).toEqual([]);
  });

  test("of another text encoding are refused with a message", async () => {
    made(schema);
    const { content } = await dump();
    await rm(path);
    made(
      "pragma encoding = 'UTF-16le'; create table items (order_id, number); insert into items values (7, 7)",
    );
    const failing = source({ tables: ["items"] }).restore(Readable.from([content]), attempt());
    await expect(failing).rejects.toMatchObject({
      name: "SourceError",
      message: expect.stringMatching(
        /: nothing was changed: the database stores texts in another encoding than the backup\. /,
      ),
    });
    expect(query("select number from items")).toEqual([{ number: 7 }]);
    expect(await strays()).toEqual([]);
  });

  // The same script runs on both machines.
  test.each(isNear || isLongForm ? ["in UTF-16 are counted and restored by their names"] : [])(
    "%s",
    async () => {
      made(
        "pragma encoding = 'UTF-16be'; create table wörter (w text); insert into wörter values ('Ü 🦜')",
      );
      const { content, manifest } = await dump();
      expect(manifest).toMatchObject({ tables: { wörter: 1 } });
      made("delete from wörter");
      await source({ tables: ["wörter"] }).restore(Readable.from([content]), attempt());
      expect(query("select w from wörter")).toEqual([{ w: "Ü 🦜" }]);
    },
  );

  test.each(
    isNear
      ? ["are restored even if rows were invalid before, in the backup or in the database"]
      : [],
  )("%s", async () => {
    made(`${schema}; insert into orders (customer) values (9)`);
    const { content } = await dump();
    made("insert into items values (9, 99); delete from orders");
    await source({ tables: ["orders"] }).restore(Readable.from([content]), attempt());
    expect(query("select count(*) as n from orders")).toEqual([{ n: 3 }]);
  });
});

describe("on this machine, a table whose columns have changed", () => {
  inTemporaryFolder();

  /** @returns the content after the restore of the backup */
  async function change(from: string, values: string, into: string) {
    made(`create table t ${from}; insert into t values ${values}`);
    const { content } = await dump();
    made(`drop table t; create table t ${into}`);
    await source({ tables: ["t"] }).restore(Readable.from([content]), attempt());
    return query("select * from t");
  }

  test.each([
    { from: "(a integer, b)", values: "(1, 2.5)", into: "(a real, b numeric)" },
    { from: "(a real, b)", values: "(1.0, 'x')", into: "(a text, b text not null)" },
    { from: "(a text, b)", values: "('7', null)", into: "(a integer, b integer)" },
  ])("from $from to $into accepts $values", async ({ from, values, into }) => {
    expect(await change(from, values, into)).toHaveLength(1);
  });

  test.each([
    { from: "(a text)", values: "('007')", into: "(a integer)" },
    { from: "(a)", values: "('1e3')", into: "(a numeric)" },
    {
      from: "(a)",
      values: "(null)",
      into: "(a not null on conflict replace default 9)",
    },
  ])("from $from to $into is refused with $values", async ({ from, values, into }) => {
    await expect(change(from, values, into)).rejects.toThrow(
      /t would not have the values of the backup, because the type of a has changed since, so nothing was changed/,
    );
    expect(query("select * from t")).toEqual([]);
  });

  test("is refused by its own check with SQLite's message", async () => {
    await expect(change("(a)", "(1)", "(a check (a > 5))")).rejects.toThrow(
      /CHECK constraint failed: a > 5/,
    );
  });

  test("assigns no number twice, not even that of a deleted row", async () => {
    made("create table t (id integer primary key autoincrement, x); insert into t (x) values (1)");
    made("insert into t (x) values (2); delete from t where id = 2");
    const { content } = await dump();
    made("delete from t; delete from sqlite_sequence");
    await source({ tables: ["t"] }).restore(Readable.from([content]), attempt());
    made("insert into t (x) values (3)");
    expect(query("select max(id) as id from t")).toEqual([{ id: 3 }]);
  });
});

describe("on this machine", () => {
  inTemporaryFolder();

  test("leftovers of an interrupted restore of tables show its progress", async () => {
    made(schema);
    const { content } = await dump();
    const file = `${path}.quarterdeck-restore-7`;
    const settled = async (version: number) => {
      await writeFile(file, content);
      await writeFile(`${file}-note`, String(version));
      return source({ tables: ["orders", "items"] }).settle(attempt());
    };
    const version = Number(query("pragma schema_version")[0]?.["schema_version"]);
    expect(await settled(version)).toBe("as it was");
    await writeFile(file, content);
    await writeFile(`${file}-note-new`, "");
    expect(await source({ tables: ["orders", "items"] }).settle(attempt())).toBe("as it was");
    expect(await strays()).toEqual([]);
    expect(await settled(version - 1)).toBe("restored");
    exec("insert into customers values (9, 'another table')");
    expect(await settled(version - 1)).toBe("restored");
    made('update items set "order" = 1');
    expect(await settled(version - 1)).toBe("unknown");
    made("drop table items");
    expect(await settled(version - 1)).toBe("unknown");
    expect(await strays()).toEqual([]);
  });

  test("a table of a restore that is killed at any moment is the old one or the new one, which is reported", async () => {
    const fill = (
      word: string,
    ) => `create table if not exists rows_ (id integer primary key, word text, filler blob);
      delete from rows_; with recursive n(i) as (select 1 union all select i + 1 from n where i < 4000)
      insert into rows_ select i, '${word}', randomblob(500) from n`;
    exec(fill("old"));
    const { content } = await dump();
    const copy = join(folder, "copy");
    await writeFile(copy, content);
    const options = {
      name: "shop",
      path,
      scratchFolder: join(folder, "scratch"),
      tables: ["rows_"],
    };
    const script = `
      import { createSqliteSource } from ${JSON.stringify(new URL("source.ts", import.meta.url).href)};
      import { createReadStream } from "node:fs";
      console.log("begun");
      await createSqliteSource(${JSON.stringify(options)}).restore(createReadStream(${JSON.stringify(copy)}), { id: 7, say() {}, signal: new AbortController().signal });`;
    for (let round = 0; round < 2; round++) {
      exec(fill("new"));
      const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const exited = once(child, "exit");
      await Promise.race([once(child.stdout, "data"), exited]);
      await untilNoted(exited);
      await wait(round * 12);
      child.kill("SIGKILL");
      await exited;
      // A restore that ended before the kill has left no files.
      const isOver = (await strays()).length === 0;
      const state = await source({ tables: ["rows_"] }).settle(attempt());
      expect(query("pragma integrity_check")).toEqual([{ integrity_check: "ok" }]);
      const [found, ...others] = query("select word, count(*) as n from rows_ group by 1");
      expect(others).toEqual([]);
      expect(found).toEqual({ n: 4000, word: isOver || state === "restored" ? "old" : "new" });
      if (!isOver) expect(state).not.toBe("unknown");
      expect(await strays()).toEqual([]);
    }
  });
});
