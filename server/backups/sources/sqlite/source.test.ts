import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { isLongForm } from "../../../testing/long-form.ts";
import { createCollector } from "../../testing/collector.ts";
import type { Attempt, Manifest } from "../source.ts";
import {
  attempt,
  contentOf,
  dump,
  exec,
  folder,
  path,
  query,
  rich,
  source,
  startPairWriter,
  strays,
  createMachines,
  inTemporaryFolder,
} from "./testing/fixtures.ts";

const isRoot = userInfo().uid === 0;

describe.each(createMachines())("a SQLite database on $machine", ({ machine, hostOf }) => {
  // SSH is slow, and the writer here uses a whole processor.
  const isNear = machine === "this machine";
  const rounds = isLongForm && isNear ? 5 : 1;

  inTemporaryFolder(hostOf);

  describe.each(isNear || isLongForm ? ["delete", "wal"] : ["wal"])(
    "in journal mode %s",
    (mode) => {
      test("a restore brings back the dumped content, without later changes", async () => {
        exec(`pragma journal_mode = ${mode}; ${rich}`);
        const before = contentOf();
        const { content, manifest } = await dump();
        expect(manifest).toMatchObject({ kind: "database", tables: { customers: 2, sums: 2 } });
        exec("delete from customers; drop view named; create table later (x)");
        await source().restore(Readable.from([content]), attempt());
        expect(contentOf()).toBe(before);
        expect(await strays()).toEqual([]);
      });

      test("a program that has it open reads the restored rows, and can continue to write", async () => {
        exec(`pragma journal_mode = ${mode}; ${rich}`);
        const { content } = await dump();
        const open = new DatabaseSync(path, { timeout: 5000 });
        open.exec("delete from customers");
        await source().restore(Readable.from([content]), attempt());
        expect(open.prepare("select count(*) as n from customers").get()).toEqual({ n: 2 });
        open.exec("insert into customers (id, name) values (3, 'later')");
        open.close();
        expect(query("select note from customers where id = 3")).toEqual([{ note: "new" }]);
      });

      test("a dump during writes is a consistent snapshot", async () => {
        exec(`pragma journal_mode = ${mode}; create table pairs (a integer, b integer)`);
        const writer = await startPairWriter(path);
        try {
          for (let round = 0; round < rounds; round++) {
            const { content } = await dump();
            const copy = join(folder, `copy-${round}`);
            await writeFile(copy, content);
            // Each of the writer's transactions leaves both sums equal.
            expect(query("select sum(a) = sum(b) as equal from pairs", copy)).toEqual([
              { equal: 1 },
            ]);
          }
        } finally {
          writer.kill("SIGKILL");
        }
      });
    },
  );

  test("reports a function that an application defines, and backs up and restores its tables", async () => {
    exec(rich);
    const database = new DatabaseSync(path);
    database.function("twice", { deterministic: true }, (value) => Number(value) * 2);
    database.exec(`create table numbers (n integer, m as (twice(n)));
    create index by_twice on numbers (twice(n)); insert into numbers (n) values (1), (2);
    create table held (n integer check (twice(n) > 0)); insert into held values (1)`);
    database.close();
    const { into, content } = createCollector();
    const said: string[] = [];
    const say = (line: string) => void said.push(line);
    const manifest = await source().dump(into, attempt({ say }));
    expect(manifest).toMatchObject({ tables: { customers: 2, sums: 2, numbers: 2, held: 1 } });
    expect(said.at(-1)).toMatch(
      /integrity check passed\. Table numbers uses the function twice\(\),/,
    );
    expect(await source().drill(Readable.from([content()]), manifest, attempt())).toMatch(
      /^4 tables with 7 rows restored exactly\. Table numbers uses the function twice\(\), which an application defines: /,
    );
    exec("drop table sums");
    await source().restore(Readable.from([content()]), attempt());
    expect(query("select count(*) as rows from numbers")).toEqual([{ rows: 2 }]);
    expect(query("select count(*) as rows from sums")).toEqual([{ rows: 2 }]);
  });

  test("reports a collation that an application defines, and backs up and restores its tables", async () => {
    exec(`${rich}; create table names (name text collate nocase, note text);
    create index by_names on names (name); insert into names values ('Zoë', 'x')`);
    // Edits the schema to use an application's collation, which node:sqlite cannot register.
    const database = new DatabaseSync(path);
    database.enableDefensive(false);
    database.exec(`pragma writable_schema = on;
    update sqlite_schema set sql = replace(sql, 'nocase', 'german') where name = 'names';
    pragma writable_schema = reset`);
    database.close();
    const [warning, ...more] = await source().warnings(new AbortController().signal);
    expect(warning).toMatch(
      /^Table names uses the collation german, which an application defines: /,
    );
    expect(more).toEqual([]);
    const { into, content } = createCollector();
    const manifest = await source().dump(into, attempt());
    expect(manifest).toMatchObject({ tables: { customers: 2, sums: 2, names: 1 } });
    expect(await source().drill(Readable.from([content()]), manifest, attempt())).toMatch(
      /^3 tables with 5 rows restored exactly\. Table names uses the collation german/,
    );
    exec("drop table sums");
    await source().restore(Readable.from([content()]), attempt());
    expect(query("select note from names not indexed")).toEqual([{ note: "x" }]);
  });

  test("restores an empty database, and a missing one", async () => {
    exec("vacuum");
    const { content } = await dump();
    await rm(path);
    expect(await source().exists()).toBe(false);
    await source().restore(Readable.from([content]), attempt());
    expect(query("select count(*) as n from sqlite_schema")).toEqual([{ n: 0 }]);
    expect((await stat(path)).mode & 0o777).toBe(0o640);
  });

  test("restores one that was moved away with its mode and owner", async () => {
    exec(rich);
    await chmod(path, 0o604);
    const { uid } = await stat(path);
    const gid = isRoot ? 65_534 : (await stat(path)).gid;
    await chown(path, uid, gid);
    const { content, manifest } = await dump();
    expect(manifest).toMatchObject({ file: { mode: 0o604, uid, gid } });
    await rename(path, join(folder, "aside.sqlite"));
    await source().restore(Readable.from([content]), attempt(), manifest);
    expect(await stat(path)).toMatchObject({ uid, gid });
    expect((await stat(path)).mode & 0o777).toBe(0o604);
  });

  test("restores a missing or invalid one at the target of a link", async () => {
    exec(rich);
    const before = contentOf();
    const { content } = await dump();
    await mkdir(join(folder, "releases/1"), { recursive: true });
    await mkdir(join(folder, "shared"));
    await symlink("releases/1", join(folder, "current"));
    await symlink("../../shared/real.sqlite", join(folder, "releases/1/shop.sqlite"));
    const [link, real] = [join(folder, "current/shop.sqlite"), join(folder, "shared/real.sqlite")];
    for (const wreck of [() => rm(real, { force: true }), () => writeFile(real, "no database")]) {
      await wreck();
      await source({ at: link }).restore(Readable.from([content]), attempt());
      expect((await lstat(link)).isSymbolicLink()).toBe(true);
      expect(contentOf(real)).toBe(before);
      expect(await readdir(join(folder, "releases/1"))).toEqual(["shop.sqlite"]);
      expect(await readdir(join(folder, "shared"))).toEqual(["real.sqlite"]);
    }
  });

  test("never applies the leftover journal of another file to a new database", async () => {
    exec(rich);
    const before = contentOf();
    const { content } = await dump();
    await rm(path);
    await writeFile(`${path}-wal`, "left over");
    await writeFile(`${path}-journal`, "left over");
    await source().restore(Readable.from([content]), attempt());
    expect(contentOf()).toBe(before);
  });

  test.each([
    ["is missing", async () => undefined, /shop.sqlite is not there/],
    [
      "is no database",
      () => writeFile(path, "a text file, and a long one at that"),
      /isn't a SQLite/,
    ],
  ])("the rehearsal and the dump report a file that %s", async (_, prepare, words) => {
    await prepare();
    const refused = { name: "SourceError", message: expect.stringMatching(words) };
    await expect(source().rehearse(new AbortController().signal)).rejects.toMatchObject(refused);
    await expect(dump()).rejects.toMatchObject(refused);
  });

  test("refuses to back up a damaged database", async () => {
    exec(`create table filler (x); create index by_x on filler (x);
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
    insert into filler select printf('%050d', i) from n`);
    const size = (await stat(path)).size;
    await truncate(path, Math.floor(size / 2));
    await expect(dump()).rejects.toMatchObject({ name: "SourceError" });
    expect(await strays()).toEqual([]);
  });

  test("a broken stream or file leaves the database unchanged", async () => {
    exec(rich);
    const { content } = await dump();
    exec("insert into customers (id, name) values (9, 'now')");
    const before = contentOf();
    const broken = new Readable({
      read() {
        this.push(content.subarray(0, 4096));
        this.destroy(new Error("the copy is damaged"));
      },
    });
    await expect(source().restore(broken, attempt())).rejects.toThrow("the copy is damaged");
    await expect(
      source().restore(Readable.from([content.subarray(0, 8192)]), attempt()),
    ).rejects.toMatchObject({ name: "SourceError" });
    expect(contentOf()).toBe(before);
    expect(await strays()).toEqual([]);
  });

  test("an abort reports its reason, however early", async () => {
    exec(rich);
    const { content, manifest } = await dump();
    const before = contentOf();
    for (const act of [
      (its: Attempt) => source().restore(Readable.from([content]), its),
      (its: Attempt) => source().drill(Readable.from([content]), manifest, its),
      (its: Attempt) => source().dump(createCollector().into, its),
    ]) {
      const controller = new AbortController();
      const acting = act(attempt({ signal: controller.signal }));
      controller.abort(new Error("enough"));
      await expect(acting).rejects.toThrow("enough");
    }
    expect(contentOf()).toBe(before);
    expect(await strays()).toEqual([]);
  });

  test("a drill counts what it restored, and deletes it", async () => {
    exec(rich);
    const { content, manifest } = await dump();
    expect(await source().drill(Readable.from([content]), manifest, attempt())).toBe(
      "2 tables with 4 rows restored exactly.",
    );
    const wrong: Manifest = { kind: "database", tables: { customers: 3, sums: 2 } };
    await expect(source().drill(Readable.from([content]), wrong, attempt())).rejects.toMatchObject({
      message: expect.stringMatching(/customers has 2 rows and should have 3 rows/),
    });
    expect(await strays()).toEqual([]);
  });

  test("reports a missing folder with a message", async () => {
    exec(rich);
    const { content } = await dump();
    const gone = source({ at: join(folder, "gone/shop.sqlite") });
    await expect(gone.restore(Readable.from([content]), attempt())).rejects.toMatchObject({
      name: "SourceError",
      message: expect.stringMatching(/could not be written: its folder is not there/),
    });
  });
});
