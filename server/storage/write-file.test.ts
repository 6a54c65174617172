// Tests that files written with direct I/O contain exactly the given bytes, for every size and file system.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { constants, existsSync } from "node:fs";
import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { createFile } from "./write-file.ts";

const slabBytes = 4 * 1024 * 1024;

async function write(folder: string, content: Buffer, pieceBytes: number): Promise<string> {
  const root = await mkdtemp(join(folder, "quarterdeck-write-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const path = join(root, "file");
  const file = await createFile(path);
  try {
    for (let at = 0; at < content.length; at += pieceBytes) {
      const piece = Buffer.from(content.subarray(at, at + pieceBytes));
      await file.write(piece);
      // The memory of the piece is reused.
      piece.fill(0);
    }
    await file.finish();
    expect(file.writtenBytes()).toBe(content.length);
  } finally {
    await file.close();
  }
  return path;
}

/** A folder on a disk: while tests run, the system's temporary folder is in memory. */
const onDisk = "/var/tmp";
const folders = [onDisk, "/dev/shm"].filter((folder) => existsSync(folder));
const sizes = [0, 1, slabBytes - 1, slabBytes, slabBytes + 1, 3 * slabBytes, 3 * slabBytes + 4097];

test.each(folders)("in %s they contain every byte", async (folder) => {
  for (const size of sizes) {
    const content = randomBytes(size);
    for (const pieceBytes of [1_000_003, 2 * slabBytes]) {
      const path = await write(folder, content, pieceBytes);
      expect((await readFile(path)).equals(content)).toBe(true);
    }
  }
});

test("does not overwrite an existing file", async () => {
  const path = await write(onDisk, Buffer.from("first"), 1);
  await expect(createFile(path)).rejects.toMatchObject({ code: "EEXIST" });
  expect(await readFile(path, "utf8")).toBe("first");
});

test("leaves nothing of them in the page cache if the file system supports that", async (context) => {
  const path = await write(onDisk, randomBytes(3 * slabBytes), slabBytes);
  const direct = await open(path, constants.O_RDONLY | constants.O_DIRECT).catch(() => null);
  await direct?.close();
  const fincore = promisify(execFile)("fincore", ["--bytes", "--noheadings", "-o", "RES", path]);
  const cached = await fincore.catch(() => null);
  if (direct === null || cached === null) return context.skip();
  expect(Number(cached.stdout)).toBeLessThan(slabBytes);
});
