// Tests a SQLite database of another account: every operation runs as that account, and the kernel refuses the rest.
import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { createLocalHost } from "../../../hosts/local.ts";
import { createSqliteSourceAs } from "./as-account.ts";
import { attempt, contentOf, exec, rich } from "./testing/fixtures.ts";

const isRoot = userInfo().uid === 0;
const daemon = { uid: 1, gid: 1, name: "daemon", home: "/usr/sbin" };

async function makeDatabase() {
  const folder = await mkdtemp(join(tmpdir(), "quarterdeck-sqlite-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  const [site, scratchFolder] = [join(folder, "site"), join(folder, "scratch")];
  for (const made of [site, scratchFolder]) {
    await mkdir(made, { mode: 0o700 });
    await chown(made, daemon.uid, daemon.gid);
  }
  const path = join(site, "shop.sqlite");
  exec(rich, path);
  await chown(path, daemon.uid, daemon.gid);
  const host = createLocalHost({ PATH: process.env["PATH"] ?? "", HOME: "/nowhere" }).as(daemon);
  const options = { name: "shop", path, scratchFolder };
  const source = createSqliteSourceAs(host, options);
  const partOf = (...tables: string[]) => createSqliteSourceAs(host, { ...options, tables });
  const dump = async () => {
    const into = new PassThrough();
    const [content, manifest] = await Promise.all([buffer(into), source.dump(into, attempt())]);
    return { content, manifest };
  };
  return { folder, site, scratchFolder, path, source, partOf, dump };
}

describe.runIf(isRoot)("a SQLite database of another account", () => {
  test("is rehearsed, backed up, drilled and restored as that account, completely and in single tables", async () => {
    const { site, scratchFolder, path, source, partOf, dump } = await makeDatabase();
    expect(await source.rehearse(new AbortController().signal)).toContain("SQLite database");
    expect(await source.exists()).toBe(true);
    const before = contentOf(path);
    const { content, manifest } = await dump();
    expect(manifest).toMatchObject({ kind: "database" });
    expect(await source.drill(Readable.from([content]), manifest, attempt())).toContain("restored");
    exec("delete from customers", path);
    await source.restore(Readable.from([content]), attempt());
    expect(contentOf(path)).toBe(before);
    expect(await source.settle(attempt())).toBe("unknown");
    expect(await readdir(site)).toEqual(["shop.sqlite"]);
    expect(await readdir(scratchFolder)).toEqual([]);

    exec("drop table sums; update customers set name = 'spoiled'", path);
    await partOf("customers", "sums").restore(Readable.from([content]), attempt());
    expect(contentOf(path)).toBe(before);
    expect(await readdir(site)).toEqual(["shop.sqlite"]);

    await rm(path);
    await source.restore(Readable.from([content]), attempt());
    expect(contentOf(path)).toBe(before);
    expect(await lstat(path)).toMatchObject({ uid: daemon.uid, gid: daemon.gid });
  });

  test("reports what the account may not do, and a file that is not a database", async () => {
    const { path, source, partOf, dump, site } = await makeDatabase();
    const content = await readFile(path);
    const restoreTable = () => partOf("sums").restore(Readable.from([content]), attempt());
    exec("drop table sums", path);
    const dropped = await readFile(path);
    await chmod(path, 0o000);
    await expect(dump()).rejects.toMatchObject({ name: "SourceError" });
    await chown(path, 0, 0);
    await chmod(path, 0o644);
    await expect(restoreTable()).rejects.toThrow("may not be written to by the account that works");
    await chown(site, 0, 0);
    await chmod(site, 0o755);
    await expect(restoreTable()).rejects.toThrow(
      "-restore-7 could not be written: the account that works on it may not write to its folder.",
    );
    expect((await readFile(path)).equals(dropped)).toBe(true);
    expect(await readdir(site)).toEqual(["shop.sqlite"]);
    await chmod(path, 0o600);
    await expect(dump()).rejects.toThrow("may not be opened by the account");
    await rm(path);
    await expect(dump()).rejects.toThrow("is not there");
    await chmod(site, 0o000);
    await expect(source.exists()).rejects.toThrow("cannot be looked at by the account");
  });

  test("is not read or written through a link to a file of root", async () => {
    const { folder, path, source, dump } = await makeDatabase();
    const { content } = await dump();
    const secret = join(folder, "root.sqlite");
    exec("create table secret (word text); insert into secret values ('hunter2')", secret);
    await chmod(secret, 0o600);
    const before = await readFile(secret);
    await rm(path);
    await symlink(secret, path);
    await expect(dump()).rejects.toThrow("may not be opened by the account");
    await expect(source.restore(Readable.from([content]), attempt())).rejects.toThrow(
      "may not be opened by the account",
    );
    expect((await readFile(secret)).equals(before)).toBe(true);
  });

  test("overwrites nothing through a link at the name of a restore's temporary file", async () => {
    const { folder, path, source, dump } = await makeDatabase();
    const { content } = await dump();
    const kept = join(folder, "kept");
    await writeFile(kept, "kept", { mode: 0o600 });
    for (const name of ["", "-note", "-fitted", "-journal"])
      await symlink(kept, `${path}.quarterdeck-restore-7${name}`);
    await source.restore(Readable.from([content]), attempt()).catch(() => undefined);
    expect(await readFile(kept, "utf8")).toBe("kept");
    expect(await lstat(kept)).toMatchObject({ uid: 0 });
  });
});
