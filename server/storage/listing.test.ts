// Tests what a storage lists.
import { execFileSync } from "node:child_process";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { isRoot } from "../testing/machine.ts";
import { createLocalStorage } from "./local.ts";
import { createRemoteStorage } from "./remote.ts";
import { createEveryStorage, makeRoot } from "./testing/every-storage.ts";

const every = createEveryStorage();
const whole = { signal: new AbortController().signal };
const content = (text: string) => Readable.from([Buffer.from(text)]);

test("folders here and over SSH, over SFTP, a bucket and an rclone remote list their files, below a prefix or all", async () => {
  const root = await makeRoot();
  const bucket = await every.openBucket();
  const served = await every.openServed("webdav");
  const far = { host: await every.remote.host(), server: "far", root: await makeRoot() };
  for (const storage of [
    createLocalStorage({ path: root }),
    createRemoteStorage(far),
    bucket.storage,
    served.storage,
    await every.sftp["folder over SFTP"].open(await makeRoot()),
  ]) {
    for (const key of ["a/1/b.tar.zst", "a/2/ü & “c”.sql.zst", "d"])
      await storage.put(key, content(key), whole);
    const list = async (prefix?: string) =>
      (await Array.fromAsync(storage.list({ ...whole, ...(prefix !== undefined && { prefix }) })))
        .toSorted((one, other) => (one.key < other.key ? -1 : 1))
        .map(({ key, sizeBytes }) => [key, sizeBytes]);
    const first = ["a/1/b.tar.zst", 13];
    expect(await list()).toEqual([first, ["a/2/ü & “c”.sql.zst", 24], ["d", 1]]);
    expect(await list("a/1")).toEqual([first]);
  }
  await symlink("/etc", join(root, "etc"));
  expect(await Array.fromAsync(createLocalStorage({ path: root }).list(whole))).toHaveLength(3);
  const gone = createLocalStorage({ path: join(root, "gone") });
  await expect(Array.fromAsync(gone.list(whole))).rejects.toMatchObject({
    name: "StorageError",
    message: expect.stringMatching(/is not there/),
  });
});

test("a folder over SSH lists files only, whatever their names, and reports what it cannot list", async () => {
  const root = await makeRoot();
  const far = { host: await every.remote.host(), server: "far", root };
  await mkdir(join(root, "a\n1"));
  await writeFile(join(root, "a\n1", " 12 b\n"), "12345");
  execFileSync("mkfifo", [join(root, "pipe")]);
  await symlink("/etc", join(root, "etc"));
  await symlink("/etc/passwd", join(root, "passwd"));
  const list = (options = {}) => Array.fromAsync(createRemoteStorage(far, options).list(whole));
  expect(await list()).toEqual([{ key: "a\n1/ 12 b\n", sizeBytes: 5 }]);
  await expect(list({ isMarked: true })).rejects.toMatchObject({
    name: "StorageError",
    message: expect.stringMatching(/is away/),
  });
  if (isRoot) return;
  await chmod(join(root, "a\n1"), 0);
  onTestFinished(() => chmod(join(root, "a\n1"), 0o700));
  await expect(list()).rejects.toMatchObject({ name: "StorageError" });
});

test("a named pipe in place of a file blocks nothing", async () => {
  const root = await makeRoot();
  execFileSync("mkfifo", [join(root, "pipe")]);
  await expect(createLocalStorage({ path: root }).get("pipe", whole)).rejects.toMatchObject({
    name: "StorageError",
    message: expect.stringMatching(/pipe no longer exists/),
  });
});

test("a local folder that disappears while it is listed causes no failure", async () => {
  const root = await makeRoot();
  const storage = createLocalStorage({ path: root });
  for (const key of ["a/1", "b/2", "c/3"]) await storage.put(key, content(key), whole);
  const listed = storage.list(whole)[Symbol.asyncIterator]();
  expect((await listed.next()).value).toMatchObject({ key: "a/1" });
  await storage.remove("b/2");
  expect((await listed.next()).value).toMatchObject({ key: "c/3" });
  expect(await listed.next()).toMatchObject({ done: true });
});
