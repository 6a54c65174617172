import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { isLongForm } from "../../../testing/long-form.ts";
import { createLocalHost } from "../../../hosts/local.ts";
import { cacheSignature, excludedIn } from "./excludes.ts";
import {
  createMachines,
  environment,
  isLinux,
  isRoot,
  makeFolder,
  makeSource,
  run,
  sourceIn,
} from "./testing/fixtures.ts";

const excludes = {
  patterns: ["node_modules/", "/storage/logs/*", "!/storage/logs/keep.log", "*.tmp"],
  caches: true,
};

async function plant(root: string, files: Record<string, string>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), content);
  }
}

/** Returns every file below a folder, with its content. */
async function read(root: string): Promise<Record<string, string>> {
  const { stdout } = await run("find", [root, "-type", "f", "-printf", "%P\\n"]);
  const names = stdout
    .split("\n")
    .filter((name) => name !== "")
    .sort();
  return Object.fromEntries(
    await Promise.all(
      names.map(async (name) => [name, await readFile(join(root, name), "utf8")] as const),
    ),
  );
}

const site = {
  "index.php": "first",
  "app/old.php": "first",
  "storage/logs/keep.log": "first",
  "cache/CACHEDIR.TAG": `${cacheSignature}\n`,
  "fake/CACHEDIR.TAG": "no signature",
  "fake/page": "first",
};
const leftOut = {
  "node_modules/lib/index.js": "first",
  "app/node_modules/lib/index.js": "first",
  "storage/logs/laravel.log": "first",
  "cache/page/1": "first",
  "upload.tmp": "first",
};

const words = (files: Record<string, string>, word: string) =>
  Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, text === "first" ? word : text]),
  );

describe.each(createMachines())("on $machine", ({ machine, makeSource: make }) => {
  test("excluded files are in no archive, and unchanged after a restore", async () => {
    const { root, folder, source, attempt, dump, said } = await make(excludes);
    await plant(root, { ...site, ...leftOut });
    const { manifest, archive } = await dump();
    expect(manifest).toMatchObject({ excluded: excludes });
    const listing = join(folder, "listed.tar");
    await writeFile(listing, archive);
    const { stdout } = await run("tar", ["--list", "--file", listing]);
    await rm(listing);
    const archived = stdout
      .split("\n")
      .filter((name) => name !== "" && !name.endsWith("/"))
      .map((name) => name.replace(/^\.\//, ""));
    expect(archived.sort()).toEqual(Object.keys(site).sort());
    expect(await source.drill(Readable.from([archive]), manifest, attempt())).toContain(
      "as backed up",
    );

    // Changes all files, and adds new ones.
    await plant(root, { ...words(site, "second"), ...words(leftOut, "second") });
    await rm(join(root, "app/old.php"));
    await plant(root, {
      "app/new.php": "second",
      "later/deep/node_modules/x.js": "second",
      "storage/logs/worker.log": "second",
    });
    await symlink("/nowhere", join(root, "link.tmp"));
    const before = (await lstat(join(root, "node_modules/lib/index.js"))).ino;
    await source.restore(Readable.from([archive]), attempt(), manifest);
    expect(await read(root)).toEqual({
      ...site,
      ...words(leftOut, "second"),
      "later/deep/node_modules/x.js": "second",
      "storage/logs/worker.log": "second",
    });
    // The file keeps its inode, so that processes that have it open are not affected.
    expect((await lstat(join(root, "node_modules/lib/index.js"))).ino).toBe(before);
    expect((await lstat(join(root, "link.tmp"))).isSymbolicLink()).toBe(true);
    expect(said.join("\n")).not.toMatch(/could not|kept:/);
    await expect(lstat(join(folder, ".site.quarterdeck-old-7"))).rejects.toThrow(/ENOENT/);
  });

  test("a restore that cannot keep excluded files changes nothing, and follows no link of the archive", async () => {
    const { root, folder, source, attempt, dump } = await make({
      patterns: ["*.log"],
      caches: false,
    });
    await plant(folder, { "outside/there": "first" });
    await plant(root, { page: "first" });
    await symlink("../outside", join(root, "logs"));
    const { manifest, archive } = await dump();
    await rm(join(root, "logs"));
    await plant(root, { page: "second", "logs/a.log": "second" });
    await expect(source.restore(Readable.from([archive]), attempt(), manifest)).rejects.toThrow(
      /^Nothing was changed: .*\.\/logs\/a\.log: a folder above it is a link/,
    );
    expect(await read(root)).toEqual({ page: "second", "logs/a.log": "second" });
    expect(Object.keys(await read(join(folder, "outside")))).toEqual(["there"]);
  });

  const replaced = [
    ["a folder where the backup has a link", "storage", "storage/upload"],
    ["a folder where the backup has a file", "build", "build/out"],
    ["a file where the backup has a folder", "data", "data"],
    ["a file of a folder that became a cache", "thumbs/1.png", "thumbs/1.png"],
    ["a file deep in a folder that became a cache", "thumbs/deep/2.png", "thumbs/deep/2.png"],
    ["a link of a folder that became a cache", "thumbs/newest", "thumbs/newest"],
  ];

  // Both machines carry with the arguments of `carryArguments`, so `npm run soak -- kills` tries the others over SSH.
  test.each(
    isLongForm || machine === "this machine"
      ? replaced
      : replaced.filter(([, , only]) => only === "storage/upload"),
  )(
    "a restore changes nothing if it would replace %s, of which there is no backup",
    async (_, refused, only) => {
      const { root, source, attempt, dump } = await make({
        patterns: ["storage/", "build/", "data", "!data/"],
        caches: true,
      });
      const others = { page: "first", "thumbs/same.png": "first" };
      await plant(root, {
        ...others,
        "shared/x": "first",
        build: "first",
        "data/x": "first",
        "thumbs/1.png": "first",
        "thumbs/deep/2.png": "first",
      });
      await symlink("shared", join(root, "storage"));
      await symlink("1.png", join(root, "thumbs/newest"));
      const { manifest, archive } = await dump();
      for (const name of ["storage", "build", "data", "thumbs"])
        await rm(join(root, name), { recursive: true });
      if (only === "thumbs/newest") {
        await mkdir(join(root, "thumbs"));
        await symlink("2.png", join(root, only));
      } else await plant(root, { [only]: "second" });
      await plant(root, { ...others, page: "second" });
      await writeFile(join(root, "thumbs/CACHEDIR.TAG"), cacheSignature);
      const before = await read(root);
      await expect(source.restore(Readable.from([archive]), attempt(), manifest)).rejects.toThrow(
        `./${refused}: the backup has something else there. Move it away first.`,
      );
      expect(await read(root)).toEqual(before);
      await rm(join(root, refused), { recursive: true });
      await source.restore(Readable.from([archive]), attempt(), manifest);
      expect(await read(root)).toMatchObject({ page: "first", build: "first", "data/x": "first" });
    },
  );

  test("a log stays with its database: an excluded database keeps its own, a restored one gets none", async () => {
    const { root, source, attempt, dump } = await make({
      patterns: ["*-wal", "*-shm", "/left.sqlite", "/notes-wal"],
      caches: false,
    });
    await mkdir(root);
    const open = (name: string) => {
      const database = new DatabaseSync(join(root, name));
      database.exec("pragma journal_mode = wal; pragma wal_autocheckpoint = 0");
      database.exec("create table if not exists t (a text); insert into t values ('first')");
      return database;
    };
    const [shop, left] = [open("shop.sqlite"), open("left.sqlite")];
    await writeFile(join(root, "notes-wal"), "no log of anything");
    const { manifest, archive } = await dump();
    for (const database of [shop, left]) database.exec("insert into t values ('second')");
    await source.restore(Readable.from([archive]), attempt(), manifest);
    for (const database of [shop, left]) database.close();
    const rows = (name: string) => {
      const database = new DatabaseSync(join(root, name));
      try {
        expect(database.prepare("pragma integrity_check").get()).toEqual({ integrity_check: "ok" });
        return database
          .prepare("select a from t")
          .all()
          .map(({ a }) => a);
      } finally {
        database.close();
      }
    };
    expect(rows("shop.sqlite")).toEqual(["first"]);
    expect(rows("left.sqlite")).toEqual(["first", "second"]);
    expect(await readFile(join(root, "notes-wal"), "utf8")).toBe("no log of anything");
  });

  test("only a file with the signature marks a folder as a cache", async () => {
    const { root, dump, folder } = await make({ patterns: [], caches: true });
    const files = {
      "linked/page": "first",
      "short/page": "first",
      "short/CACHEDIR.TAG": cacheSignature.slice(0, -1),
      "late/page": "first",
      "late/CACHEDIR.TAG": `\n${cacheSignature}`,
      "empty/page": "first",
      "empty/CACHEDIR.TAG": "",
      "folder/CACHEDIR.TAG/page": "first",
      "pipe/page": "first",
      page: "first",
      "CACHEDIR.TAG": cacheSignature,
    };
    await plant(root, { ...files, "bare/page": "first", "bare/CACHEDIR.TAG": cacheSignature });
    await symlink("../bare/CACHEDIR.TAG", join(root, "linked/CACHEDIR.TAG"));
    await run("mkfifo", [join(root, "pipe/CACHEDIR.TAG")]);
    const { archive } = await dump();
    await writeFile(join(folder, "a.tar"), archive);
    await mkdir(join(folder, "extracted"));
    await run("tar", ["-xf", join(folder, "a.tar"), "-C", join(folder, "extracted")]);
    expect(await read(join(folder, "extracted"))).toEqual({
      ...files,
      "bare/CACHEDIR.TAG": cacheSignature,
    });
  });

  // Over SSH in the long form only: `databases.test.ts` copies databases there, and `source.test.ts` compares times and modes.
  if (!isLongForm && machine !== "this machine") return;

  test("folders get the times and modes of the backup, including those that excluded files are carried into", async () => {
    const { root, source, attempt, dump } = await make({ patterns: ["*.log"], caches: false });
    await plant(root, { "logs/a.log": "first", "logs/readme": "first" });
    await chmod(join(root, "logs"), 0o555);
    await run("touch", ["-d", "2020-02-02T02:02:02Z", join(root, "logs")]);
    const { manifest, archive } = await dump();
    await chmod(join(root, "logs"), 0o755);
    await plant(root, { "logs/b.log": "second", "made/since/c.log": "second" });
    await chmod(join(root, "made"), 0o710);
    await source.restore(Readable.from([archive]), attempt(), manifest);
    const { mode, mtime } = await lstat(join(root, "logs"));
    expect([mode & 0o777, mtime.toISOString()]).toEqual([0o555, "2020-02-02T02:02:02.000Z"]);
    expect((await lstat(join(root, "made"))).mode & 0o777).toBe(0o710);
    expect(Object.keys(await read(root))).toEqual([
      "logs/a.log",
      "logs/b.log",
      "logs/readme",
      "made/since/c.log",
    ]);
  });

  test("a database is copied completely although its log is excluded, and an excluded one is not", async () => {
    const { root, folder, source, attempt, dump } = await make({
      patterns: ["*-wal", "*-shm", "/old.sqlite"],
      caches: false,
    });
    await mkdir(root);
    const open = (name: string) => {
      const database = new DatabaseSync(join(root, name));
      onTestFinished(() => database.close());
      database.exec("pragma journal_mode = wal; create table t (a); insert into t values (1), (2)");
      return database;
    };
    open("shop.sqlite");
    open("old.sqlite");
    const { manifest, archive } = await dump();
    expect(manifest.databases?.map(({ name }) => name)).toEqual(["shop.sqlite"]);
    expect(await source.drill(Readable.from([archive]), manifest, attempt())).toMatch(
      /1 SQLite database in it passed/,
    );
    const at = join(folder, "extracted");
    await mkdir(at);
    await writeFile(join(folder, "a.tar"), archive);
    await run("tar", ["-xf", join(folder, "a.tar"), "-C", at]);
    const copy = new DatabaseSync(join(at, "shop.sqlite"));
    expect(copy.prepare("select count(*) as n from t").get()).toEqual({ n: 2 });
    copy.close();
  });
});

test("a backup without excludes, e.g. of an earlier version, is restored as the whole folder", async () => {
  const { root, source, attempt, dump } = await makeSource();
  await plant(root, { page: "first" });
  const { archive, manifest } = await dump();
  expect(manifest).not.toHaveProperty("excluded");
  await plant(root, { "a.log": "second" });
  await source.restore(Readable.from([archive]), attempt(), null);
  expect(await read(root)).toEqual({ page: "first" });
});

test("a manifest with excludes of an unknown form is not restored", async () => {
  const { root, source, attempt, dump } = await makeSource();
  await plant(root, { page: "first" });
  const { archive, manifest } = await dump();
  const excluded = { patterns: ["a**b"], caches: false };
  await expect(
    (async () => source.restore(Readable.from([archive]), attempt(), { ...manifest, excluded }))(),
  ).rejects.toThrow(/in an unknown way/);
  expect(excludedIn({ ...manifest, excluded })).toBe(null);
  expect(excludedIn(null)).toBe(null);
});

/** Each kill starts a Node process. */
const kills = isLongForm ? 30 : 2;
const child = new URL("testing/carry-child.ts", import.meta.url).pathname;

test("excluded files exist after a restore that is killed at any moment", async () => {
  const made = await makeSource(excludes);
  const { root, folder, source, attempt, dump } = made;
  const many = Object.fromEntries(
    Array.from({ length: 150 }, (_, number) => [`node_modules/${number % 7}/${number}`, "first"]),
  );
  await plant(root, { ...site, ...leftOut, ...many });
  const { archive, manifest } = await dump();
  const [file, kept] = [join(folder, "site.tar"), join(folder, "manifest.json")];
  await writeFile(file, archive);
  await writeFile(kept, JSON.stringify(manifest));
  for (let kill = 0; kill < kills; kill += 1) {
    await plant(root, { "index.php": "second" });
    const process = spawn("node", [child, root, made.scratchFolder, file, kept], {
      stdio: ["ignore", "pipe", "inherit"],
      detached: true,
    });
    await Promise.race([once(process.stdout, "data"), once(process, "exit")]);
    // Spreads the kills over the 100 ms of a restore; the guarantee is the same at each moment.
    await new Promise((resolve) => setTimeout(resolve, (kill * 120) / kills));
    try {
      globalThis.process.kill(-(process.pid ?? 0), "SIGKILL");
    } catch {
      // The process has ended already.
    }
    if (process.exitCode === null && process.signalCode === null) await once(process, "exit");
    const state = await source.settle(attempt());
    const found = await read(root);
    expect(found["index.php"], state).toBe(
      state === "restored" ? "first" : state === "as it was" ? "second" : found["index.php"],
    );
    expect(found).toMatchObject({ ...leftOut, ...many, "app/old.php": "first" });
  }
}, 120_000);

test.skipIf(!isRoot || !isLinux)(
  "keeps an excluded file of another account as a copy (root only: accounts)",
  async () => {
    const folder = await mkdtemp("/srv/quarterdeck-folder-");
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await chmod(folder, 0o755);
    const daemon = { uid: 1, gid: 1, name: "daemon", home: "/usr/sbin" };
    const host = createLocalHost(environment).as(daemon);
    const made = sourceIn(folder, host, { patterns: ["*.log"], caches: false });
    await mkdir(made.scratchFolder, { mode: 0o700 });
    await plant(made.root, { page: "first", "logs/root.log": "first", "logs/own.log": "first" });
    await run("chown", ["-R", "1:1", made.root, made.scratchFolder]);
    const { archive, manifest } = await made.dump();
    await chown(join(made.root, "logs/root.log"), 0, 0);
    await chmod(join(made.root, "logs/root.log"), 0o644);
    await made.source.restore(Readable.from([archive]), made.attempt(), manifest);
    expect(await read(made.root)).toEqual({
      page: "first",
      "logs/root.log": "first",
      "logs/own.log": "first",
    });
  },
);

test.skipIf(!isRoot || !isLinux)(
  "keeps excluded files in a folder that is a mount point, too (root on Linux only: mounts)",
  async ({ skip }) => {
    // Excludes all but the page: temporary files of the restore must not count as excluded ones.
    const { root, source, attempt, dump } = await makeSource({
      patterns: ["/*", "!/page"],
      caches: false,
    });
    const disk = await makeFolder();
    await mkdir(root);
    if ((await run("mount", ["--bind", disk, root]).catch(() => null)) === null)
      return skip("mounting is not allowed here");
    onTestFinished(async () => void (await run("umount", ["--lazy", root])));
    await plant(root, { page: "first", "uploads/photo": "first" });
    const { archive, manifest } = await dump();
    await plant(root, { page: "second", "uploads/photo": "second", "uploads/more": "second" });
    await source.restore(Readable.from([archive]), attempt(), manifest);
    expect(await read(disk)).toEqual({
      page: "first",
      "uploads/photo": "second",
      "uploads/more": "second",
    });
  },
);
