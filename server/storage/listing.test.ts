// What a storage says is in it.
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { createLocalStorage } from "./local.ts";
import { createEveryStorage, makeRoot } from "./testing/every-storage.ts";

const every = createEveryStorage();
const whole = { signal: new AbortController().signal };
const content = (text: string) => Readable.from([Buffer.from(text)]);

test("a folder here and a bucket list what is in them, below a prefix or all", async () => {
  const root = await makeRoot();
  const bucket = await every.openBucket();
  for (const storage of [createLocalStorage({ path: root }), bucket.storage]) {
    for (const key of ["a/1/b.tar.zst", "a/2/ü & “c”.sql.zst", "d"])
      await storage.put(key, content(key), whole);
    const list = async (prefix?: string) =>
      (
        await Array.fromAsync(storage.list({ ...whole, ...(prefix !== undefined && { prefix }) }))
      ).map(({ key, sizeBytes }) => [key, sizeBytes]);
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
