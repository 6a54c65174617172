// Tests SQLite databases inside a site: copied as of one moment while they are written to, and checked by the drill.
import { execFileSync } from "node:child_process";
import {
  chmod,
  chown,
  link,
  mkdir,
  readdir,
  readFile,
  stat,
  truncate,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Readable } from "node:stream";
import { array, assert, asyncProperty, integer } from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { createLocalHost } from "../../../hosts/local.ts";
import { isLongForm } from "../../../testing/long-form.ts";
import { createCollector } from "../../testing/collector.ts";
import { createRewriter } from "./rewrite.ts";
import {
  createMachines,
  environment,
  isRoot,
  makeFolder,
  makeSource,
  run,
  sourceIn,
} from "./testing/fixtures.ts";
import { exec, query, startPageWriter } from "../sqlite/testing/fixtures.ts";
import { soon } from "../../../testing/soon.ts";

const daemon = { uid: 1, gid: 1, name: "daemon", home: "/usr/sbin" };

/** Extracts the archive into a new folder, as documented. */
async function extract(archive: Buffer): Promise<string> {
  const folder = join(await makeFolder(), "restored");
  await mkdir(folder);
  await tarOn(
    archive,
    "--extract",
    "--same-permissions",
    "--delay-directory-restore",
    "-C",
    folder,
  );
  return folder;
}

/** Passes the archive as a file: on a pipe, tar may exit before it has read the padding after the archive's end. */
async function tarOn(archive: Buffer, ...options: string[]): Promise<string> {
  const file = join(await makeFolder(), "archive.tar");
  await writeFile(file, archive);
  return execFileSync("tar", [`--file=${file}`, ...options], { encoding: "utf8" });
}

/** Returns the names in an archive; in one of another machine, all begin with `./`. */
const namesIn = async (archive: Buffer): Promise<string[]> =>
  (await tarOn(archive, "--list"))
    .trim()
    .split("\n")
    .map((name) => name.replace(/^\.\/(?=.)/, ""));

const isSound = (file: string) => {
  expect(query("pragma integrity_check", file)).toEqual([{ integrity_check: "ok" }]);
  expect(query("select count(*) as rows, count(distinct n) as numbers from pages", file)).toEqual([
    { rows: 1000, numbers: 1 },
  ]);
};

describe.each(createMachines())("on $machine", ({ machine, makeSource }) => {
  // One mode on each machine; `npm run soak -- sources` tests both on both.
  test.each(isLongForm ? ["delete", "wal"] : [machine === "this machine" ? "delete" : "wal"])(
    "a database in journal mode %s is a consistent snapshot while every page of it is written to",
    async (mode) => {
      const { root, source, dump, said, attempt } = await makeSource();
      await mkdir(join(root, "db"), { recursive: true });
      await writeFile(join(root, "index.php"), "<?php");
      const file = join(root, "db/shop.data");
      const writer = await startPageWriter(file, mode);
      onTestFinished(() => void writer.kill("SIGKILL"));
      for (let round = 0; round < (isLongForm ? 2 : 1); round += 1) {
        const { archive, manifest } = await dump();
        expect((await namesIn(archive)).toSorted()).toEqual([
          "./",
          "db/",
          "db/shop.data",
          "index.php",
        ]);
        isSound(join(await extract(archive), "db/shop.data"));
        expect(manifest.databases).toEqual([{ name: "db/shop.data", problem: null }]);
        if (round > 0) continue;
        expect(await source.drill(Readable.from([archive]), manifest, attempt())).toMatch(
          /as backed up\. 1 SQLite database in it passed the integrity check\.$/,
        );
      }
      // The folder may change: the writer creates and deletes its journal there.
      expect(said.filter((line) => /shop\.data.*(?:changed|vanished)/.test(line))).toEqual([]);
      expect(said[0]).toBe("db/shop.data is a SQLite database, copied by SQLite as of one moment.");
    },
  );

  test("detects a database by its header, not by its name, and leaves everything around it unchanged", async () => {
    const { root, source, dump, said, attempt } = await makeSource();
    const long = join(root, "long".repeat(30), "name".repeat(30));
    await mkdir(long, { recursive: true });
    exec("create table t (x); insert into t values (randomblob(20000))", join(long, "odd"));
    await link(join(long, "odd"), join(root, "odd too"));
    await writeFile(join(root, "text.sqlite"), "no database".repeat(100));
    await writeFile(join(root, "text.sqlite-wal"), "kept");
    const junk = Buffer.concat([Buffer.from("SQLite format 3\0"), Buffer.alloc(4080, "j")]);
    await writeFile(join(root, "junk"), junk);
    await writeFile(join(root, "junk-journal"), "kept");
    exec("create table t (x); insert into t values (1)", join(root, "hollow"));
    await truncate(join(root, "hollow"), 3 * 1024 * 1024);
    await run("chmod", ["640", join(long, "odd")]);
    await run("touch", ["-d", "2020-02-03 04:05:06.789", join(long, "odd")]);
    await writeFile(join(root, "zz"), "the end");

    const { archive, manifest } = await dump();
    const folder = await extract(archive);
    const where = join("long".repeat(30), "name".repeat(30), "odd");
    expect(query("select length(x) as bytes from t", join(folder, where))).toEqual([
      { bytes: 20000 },
    ]);
    const [kept, other, before] = await Promise.all(
      [join(folder, where), join(folder, "odd too"), join(root, where)].map((file) => stat(file)),
    );
    expect([kept?.mode, kept?.mtimeMs, kept?.ino]).toEqual([
      before?.mode,
      before?.mtimeMs,
      other?.ino,
    ]);
    expect(query("select x from t", join(folder, "hollow"))).toEqual([{ x: 1 }]);
    for (const name of ["text.sqlite", "text.sqlite-wal", "junk", "junk-journal", "zz"])
      expect(await readFile(join(folder, name))).toEqual(await readFile(join(root, name)));
    expect(said.find((line) => line.startsWith("junk "))).toMatch(
      /^junk begins like a SQLite database, but is kept as it lies\. SQLite cannot open it: /,
    );
    expect(manifest.databases).toHaveLength(3);
    expect(await source.drill(Readable.from([archive]), manifest, attempt())).toMatch(
      / 2 SQLite databases in it passed the integrity check, 1 did not, as in the site\.$/,
    );
    // The state in the site is unknown.
    expect(said.at(-1)).toMatch(/^junk is not sound \(.+\)\. In the site it couldn't be opened\.$/);
  });

  test("a drill fails on a torn database, even in a backup that did not look for databases", async () => {
    const { root, source, attempt } = await makeSource();
    await mkdir(root);
    const file = join(root, "shop.sqlite");
    exec(
      `create table t (x text); create index by_x on t (x);
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 500)
      insert into t select printf('%0500d', i) from n`,
      file,
    );
    const whole = await readFile(file);
    whole.fill(0, whole.length / 2, whole.length / 2 + 8192);
    await writeFile(file, whole);
    const archive = execFileSync("tar", ["--create", "--directory", root, "."]);
    await expect(source.drill(Readable.from([archive]), null, attempt())).rejects.toMatchObject({
      name: "SourceError",
      message: expect.stringMatching(
        /^1 of the SQLite databases in it is not sound: shop\.sqlite \(/,
      ),
    });
  });

  test("leaves no copy after a stop or a finished backup", async () => {
    const { root, source, dump, attempt, scratch } = await makeSource();
    await mkdir(root);
    const writer = await startPageWriter(join(root, "shop.sqlite"), "wal");
    onTestFinished(() => void writer.kill("SIGKILL"));
    const controller = new AbortController();
    const { into } = createCollector();
    const dumping = source.dump(into, attempt(controller.signal));
    controller.abort(new Error("enough"));
    await expect(dumping).rejects.toThrow("enough");
    await soon(async () => expect(await scratch()).toEqual([]));
    await dump();
    expect(await scratch()).toEqual([]);
  });

  if (!isLongForm && machine !== "this machine") return;

  test("a database with several names has the content of its log under the name that has the log", async () => {
    const { root, folder, source, dump, attempt } = await makeSource();
    const file = join(folder, "live");
    const database = new DatabaseSync(file);
    database.exec("pragma journal_mode = wal; create table t (x); pragma wal_checkpoint(truncate)");
    database.exec("insert into t values (1)");
    const [content, log] = [await readFile(file), await readFile(`${file}-wal`)];
    database.close();
    // The state after a crash. Whichever folder is archived first, a name without a log precedes one with a log.
    const [one, other] = ["one", "other"].map((name) => join("long".repeat(30), name));
    for (const [first, second] of [
      [`${one}/x`, `${other}/x`],
      [`${other}/y`, `${one}/y`],
    ] as const) {
      await mkdir(dirname(join(root, first)), { recursive: true });
      await mkdir(dirname(join(root, second)), { recursive: true });
      await writeFile(join(root, first), content);
      await link(join(root, first), join(root, second));
      await writeFile(join(root, `${second}-wal`), log);
    }
    await chmod(join(root, `${one}/x`), 0o640);

    const { archive, manifest } = await dump();
    expect((await namesIn(archive)).filter((name) => name.endsWith("-wal"))).toEqual([]);
    const restored = await extract(archive);
    for (const name of [`${other}/x`, `${one}/y`])
      expect(query("select x from t", join(restored, name)), name).toEqual([{ x: 1 }]);
    expect((await stat(join(restored, `${other}/x`))).mode & 0o777).toBe(0o640);
    expect(await source.drill(Readable.from([archive]), manifest, attempt())).toMatch(
      /as backed up\. 3 SQLite databases in it passed/,
    );
  });

  test("a database with an index on a function of the application is valid", async () => {
    const { root, source, attempt, dump, said } = await makeSource();
    await mkdir(root);
    const database = new DatabaseSync(join(root, "shop.sqlite"));
    database.function("twice", { deterministic: true }, (value) => Number(value) * 2);
    database.exec("create table t (x); create index i on t (twice(x)); insert into t values (1)");
    database.close();
    const { archive, manifest } = await dump();
    expect(manifest.databases).toEqual([{ name: "shop.sqlite", problem: null }]);
    expect(said.join("\n")).toMatch(/shop\.sqlite: Table t uses the function twice\(\)/);
    expect(await source.drill(Readable.from([archive]), manifest, attempt())).toMatch(
      / 1 SQLite database in it passed the integrity check\.$/,
    );
  });
});

test.runIf(isRoot)("copies databases of another account as that account", async () => {
  const folder = await makeFolder();
  await chmod(folder, 0o755);
  const { root, scratchFolder, source, dump, attempt } = sourceIn(
    folder,
    createLocalHost(environment).as(daemon),
  );
  for (const made of [root, scratchFolder]) {
    await mkdir(made, { mode: 0o700 });
    await chown(made, daemon.uid, daemon.gid);
  }
  exec("create table t (x); insert into t values (1)", join(root, "shop.sqlite"));
  await chown(join(root, "shop.sqlite"), daemon.uid, daemon.gid);
  const { archive, manifest } = await dump();
  expect(manifest.databases).toEqual([{ name: "shop.sqlite", problem: null }]);
  expect(await readdir(scratchFolder)).toEqual([]);
  expect(await source.drill(Readable.from([archive]), manifest, attempt())).toContain(
    "1 SQLite database in it passed the integrity check.",
  );
  expect(query("select x from t", join(await extract(archive), "shop.sqlite"))).toEqual([{ x: 1 }]);
});

test("passes an archive on byte for byte, however it is split, if nothing is replaced", async () => {
  const { root } = await makeSource();
  await mkdir(join(root, "deep".repeat(40)), { recursive: true });
  for (let number = 0; number < 20; number += 1)
    await writeFile(join(root, "deep".repeat(40), `${number}`), Buffer.alloc(number * 100, "x"));
  const archive = execFileSync("tar", ["--create", "--format=posix", "--directory", root, "."]);
  const databases = {
    copy: async () => null,
    isDatabase: async () => false,
    hasLog: async () => false,
  };
  await assert(
    asyncProperty(array(integer({ min: 1, max: 3000 }), { minLength: 1 }), async (sizes) => {
      const pieces: Buffer[] = [];
      const rewriter = createRewriter(databases, async (piece) => {
        pieces.push(Buffer.from(piece));
      });
      for (let at = 0, turn = 0; at < archive.length; turn += 1) {
        const bytes = sizes[turn % sizes.length] ?? 1;
        await rewriter.take(Buffer.from(archive.subarray(at, at + bytes)));
        at += bytes;
      }
      await rewriter.end();
      expect(Buffer.concat(pieces).equals(archive)).toBe(true);
    }),
    { numRuns: 20 },
  );
});
