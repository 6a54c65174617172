// Tests change detection of folders by the times of their entries.
import { mkdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { createLocalHost } from "../../../hosts/local.ts";
import { createRemoteServer } from "../../../ssh/testing/remote-server.ts";
import { anyTimes } from "../../testing/any-times.ts";
import type { Excludes } from "../source.ts";
import { createCollector } from "../../testing/collector.ts";
import { fileSystemsOf } from "../../../hosts/mounts.ts";
import { isLongForm } from "../../../testing/long-form.ts";
import { createRemoteFolderSource } from "./remote/source.ts";
import { createFolderSource } from "./source.ts";
import { trustedTimes, type TrustedTimes } from "./state.ts";
import { environment, isRoot, makeFolder, never, run } from "./testing/fixtures.ts";

const remote = createRemoteServer();
const local = createLocalHost(environment);
const machines = [
  {
    machine: "this machine",
    async open(folder: string, options: Options) {
      const scratchFolder = join(folder, "scratch");
      return createFolderSource({ ...options, name: "shop", host: local, scratchFolder });
    },
  },
  {
    machine: "a remote server",
    open: async (_folder: string, options: Options) =>
      createRemoteFolderSource({ ...options, name: "shop", host: await remote.host() }),
  },
];

/** Both machines list the same facts of each file. */
const few = isLongForm ? machines : machines.slice(0, 1);

type Options = { root: string; excludes: Excludes | null; times: TrustedTimes };

async function makeSite(open: (typeof machines)[number]["open"], name = "current") {
  const folder = await makeFolder();
  const root = join(folder, name);
  for (const release of ["one", "two"]) {
    await mkdir(join(folder, release, "cache"), { recursive: true });
    await writeFile(join(folder, release, "index.php"), "<?php 1;");
    await writeFile(join(folder, release, "cache/page"), "cached");
  }
  await symlink("one", join(folder, "current"));
  const at = (name: string) => join(root, name);
  const sourceWith = (excludes: Excludes | null = null, times = anyTimes) =>
    open(folder, { root, excludes, times });
  const state = async (excludes: Excludes | null = null, times = anyTimes) =>
    (await sourceWith(excludes, times)).state?.(never);
  return { root, folder, at, state, sourceWith };
}

test.each(machines)("on $machine detects each change of what an archive contains", async (its) => {
  const { folder, root, at, state, sourceWith } = await makeSite(its.open);
  let last = await state();
  expect(last).toMatch(/^[0-9a-f]{64}$/);
  const source = await sourceWith();
  await source.rehearse(never);
  const attempt = { id: 7, say: () => undefined, signal: never };
  await source.dump(createCollector().into, attempt);
  expect(await readFile(at("cache/page"), "utf8")).toBe("cached");
  expect(await state(), "reading changes nothing").toBe(last);
  const changes: [string, () => Promise<unknown>][] = [
    [
      "other content of the same size, its time set back",
      async () => {
        const { atime, mtime } = await stat(at("index.php"));
        await writeFile(at("index.php"), "<?php 2;");
        await utimes(at("index.php"), atime, mtime);
      },
    ],
    ["a mode", () => run("chmod", ["600", at("index.php")])],
    ["a mode of the folder itself", () => run("chmod", ["750", join(folder, "one")])],
    ["a new entry", () => symlink("index.php", at("link"))],
    ["where a link leads", () => run("ln", ["-sfn", "cache", at("link")])],
    ["a name", () => rename(at("cache/page"), at("cache/other\npage"))],
    ["an entry that is gone", () => rm(at("link"))],
    ["a release that is the same", () => run("ln", ["-sfn", "two", root])],
  ];
  for (const [what, change] of changes) {
    await change();
    const next = await state();
    expect(next, what).toMatch(/^[0-9a-f]{64}$/);
    expect(next, what).not.toBe(last);
    last = next;
  }
});

test.each(few)("on $machine excluded files may change, the patterns may not", async (its) => {
  const { at, state } = await makeSite(its.open, "one");
  const excludes = { patterns: ["/cache/*", "/*.tmp"], caches: false };
  await run("chmod", ["755", at("cache")]);
  await writeFile(at("old.tmp"), "old");
  const first = await state(excludes);
  await writeFile(at("cache/page"), "something else");
  for (const name of ["cache/[new]", "new.tmp"]) await writeFile(at(name), "new");
  expect(await state(excludes)).toBe(first);
  await run("chmod", ["700", at("cache")]);
  expect(await state(excludes)).not.toBe(first);
  await run("chmod", ["755", at("cache")]);
  expect(await state(excludes)).toBe(first);
  for (const patterns of [["/cache/*"], ["/cache/*", "/*.tmp", "!/cache/page"], []])
    expect(await state({ ...excludes, patterns }), patterns.join(" ")).not.toBe(first);
});

test.each(few)(
  "on $machine detects changes in the log of a database, although the log is excluded",
  async (its) => {
    const { at, state } = await makeSite(its.open, "one");
    const excludes = { patterns: ["*-wal", "*-shm"], caches: false };
    const database = new DatabaseSync(at("shop.sqlite"));
    onTestFinished(() => database.close());
    database.exec("pragma journal_mode = wal; pragma wal_autocheckpoint = 0; create table t (a)");
    await mkdir(at("folder-wal"));
    const first = await state(excludes);
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    await writeFile(at("folder-wal/page"), "left out");
    await writeFile(at("other-shm"), "left out");
    expect(await state(excludes)).toBe(first);
    database.exec("insert into t values (1)");
    const next = await state(excludes);
    expect(next).toMatch(/^[0-9a-f]{64}$/);
    expect(next).not.toBe(first);
    expect(await state(excludes, { ...anyTimes, settledSeconds: 60 })).toBe(null);
  },
);

test.each(machines)("on $machine does not trust times too early", async (its) => {
  const { at, state } = await makeSite(its.open);
  expect(await state(null, { ...anyTimes, settledSeconds: 60 })).toBe(null);
  expect(await state(null, { ...anyTimes, fileSystems: new Set(["nfs4"]) })).toBe(null);
  if (isRoot) return;
  await run("chmod", ["000", at("cache")]);
  expect(await state()).toBe(null);
});

test("lists the file systems that contain a folder or are mounted in it", () => {
  const mounts = [
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw",
    "30 22 0:40 / /srv rw - btrfs /dev/sdb rw",
    "31 30 0:41 / /srv/my\\040shop/uploads rw master:2 shared:3 - nfs4 nas:/up rw",
    "32 30 0:42 / /srv/my\\040shopping rw - fuse.sshfs far: rw",
    "33 22 8:1 /var/x /opt/site rw - ext4 /dev/sda1 rw",
    "34 33 0:43 / /opt/site rw - tmpfs none rw",
  ].join("\n");
  expect(fileSystemsOf(mounts, "/srv/my shop")).toEqual(new Set(["btrfs", "nfs4"]));
  expect(fileSystemsOf(mounts, "/srv/my shopping/a")).toEqual(new Set(["fuse.sshfs"]));
  expect(fileSystemsOf(mounts, "/home")).toEqual(new Set(["ext4"]));
  expect(fileSystemsOf(mounts, "/opt/site")).toEqual(new Set(["ext4", "tmpfs"]));
  expect(fileSystemsOf("", "/home")).toEqual(new Set());
  for (const type of ["nfs4", "fuse.sshfs", "tmpfs", "cifs", "9p", "ceph"])
    expect(trustedTimes.fileSystems.has(type), type).toBe(false);
});
