import {
  chmod,
  chown,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { replaceFile, whyNotReplaceable } from "./replace-file.ts";

const isRoot = userInfo().uid === 0;

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "quarterdeck-replace-"));
  file = join(folder, "inventory.yaml");
  await writeFile(file, "before");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const yes = async () => true;

test("keeps the mode, and leaves nothing beside the file", async () => {
  await chmod(file, 0o640);
  expect(await replaceFile(file, "after", yes)).toBe(true);
  expect(await readFile(file, "utf8")).toBe("after");
  expect((await stat(file)).mode & 0o7777).toBe(0o640);
  expect(await readdir(folder)).toEqual(["inventory.yaml"]);
});

test.runIf(isRoot)("keeps the owner", async () => {
  await chown(file, 1, 2);
  await replaceFile(file, "after", yes);
  expect(await stat(file)).toMatchObject({ uid: 1, gid: 2 });
});

test("keeps a link, and replaces its target", async () => {
  const link = join(folder, "link.yaml");
  await symlink("inventory.yaml", link);
  await replaceFile(link, "after", yes);
  expect([await readlink(link), await readFile(file, "utf8")]).toEqual(["inventory.yaml", "after"]);
});

test("leaves the file unchanged if the check fails", async () => {
  expect(await replaceFile(file, "after", async () => false)).toBe(false);
  expect([await readFile(file, "utf8"), await readdir(folder)]).toEqual([
    "before",
    ["inventory.yaml"],
  ]);
});

test("leaves nothing behind after a failure at the last moment", async () => {
  const failing = replaceFile(file, "after", async () => {
    throw new Error("gone");
  });
  await expect(failing).rejects.toThrow("gone");
  expect(await readdir(folder)).toEqual(["inventory.yaml"]);
});

test("refuses to replace a missing file", async () => {
  expect(await whyNotReplaceable(file)).toBeNull();
  expect(await whyNotReplaceable(join(folder, "nowhere"))).toBe("ENOENT");
});

test("refuses to replace a file that, or whose folder, is not writable", async () => {
  // Root can write everywhere.
  const refusal = isRoot ? null : "EACCES";
  await chmod(file, 0o400);
  expect(await whyNotReplaceable(file)).toBe(refusal);
  await chmod(file, 0o600);
  await chmod(folder, 0o500);
  expect(await whyNotReplaceable(file)).toBe(refusal);
  await chmod(folder, 0o700);
});
