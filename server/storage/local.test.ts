import { execFile, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import {
  mkdir,
  mkdtemp,
  readdir,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLocalStorage, diagnose } from "./local.ts";
import { mark, markerName } from "./marker.ts";

const isRoot = process.getuid?.() === 0;

let root: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "quarterdeck-local-")));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const whole = { signal: new AbortController().signal };
const content = (bytes: Buffer | string) => Readable.from([Buffer.from(bytes)]);
const files = async () =>
  (await readdir(root, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
const refused = (words: RegExp) => ({
  name: "StorageError",
  message: expect.stringMatching(words),
});

test("what is put comes back the same, closed to others, and goes with its folders", async () => {
  const storage = createLocalStorage({ path: root });
  const bytes = randomBytes(3_000_000);
  expect(await storage.put("shop/4/12.tar.zst", content(bytes), whole)).toBe(bytes.length);
  expect(await storage.size("shop/4/12.tar.zst")).toBe(bytes.length);
  expect((await buffer(await storage.get("shop/4/12.tar.zst", whole))).equals(bytes)).toBe(true);
  expect((await stat(join(root, "shop/4/12.tar.zst"))).mode & 0o777).toBe(0o600);
  expect((await stat(join(root, "shop"))).mode & 0o777).toBe(0o700);
  await storage.put("shop/5/13.tar.zst", content("x"), whole);
  await storage.remove("shop/4/12.tar.zst");
  await storage.remove("shop/4/12.tar.zst");
  expect(await readdir(join(root, "shop"))).toEqual(["5"]);
  await storage.remove("shop/5/13.tar.zst");
  expect(await readdir(root)).toEqual([]);
  expect(await storage.size("shop/4/12.tar.zst")).toBeNull();
  expect(await storage.freeBytes()).toBeGreaterThan(0);
});

test.each([0, 1, 4096, 1024 * 1024, 1024 * 1024 + 1, 3_000_000])(
  "%d bytes are read back as they were stored, past the system's memory where the file system can",
  async (sizeBytes) => {
    const storage = createLocalStorage({ path: root });
    const bytes = randomBytes(sizeBytes);
    await storage.put("a/1/b", content(bytes), whole);
    const back = await storage.readBack("a/1/b", whole);
    if (back.kind !== "read") throw new Error("a local storage has no checksums");
    const pieces: Buffer[] = [];
    for await (const piece of back.content) pieces.push(Buffer.from(piece));
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
    expect(back.isFromDisk()).toBe(await canReadDirectly(join(root, "a/1/b")));
  },
);

/** Asked of another program, so that ours is held against something. */
const canReadDirectly = (file: string): Promise<boolean> =>
  promisify(execFile)("dd", [`if=${file}`, "of=/dev/null", "iflag=direct", "bs=4096"]).then(
    () => true,
    () => false,
  );

test("one whose marker is missing is away: nothing is written, removed or said to be gone", async () => {
  const storage = createLocalStorage({ path: root, isMarked: true });
  await mark(root);
  await storage.put("a/1/b", content("kept"), whole);
  await rename(join(root, markerName), join(root, "aside"));
  const away = refused(/is away: the file \.quarterdeck-storage/);
  await expect(storage.put("a/1/c", content("x"), whole)).rejects.toMatchObject(away);
  await expect(storage.get("a/1/b", whole)).rejects.toMatchObject(away);
  await expect(storage.size("a/1/b")).rejects.toMatchObject(away);
  await expect(storage.remove("a/1/b")).rejects.toMatchObject(away);
  await rename(join(root, "aside"), join(root, markerName));
  expect(await storage.size("a/1/b")).toBe(4);
  expect(await storage.size("a/1/c")).toBeNull();
});

test("what is there is not written over", async () => {
  const storage = createLocalStorage({ path: root });
  await storage.put("a/1/b", content("first"), whole);
  await expect(storage.put("a/1/b", content("second"), whole)).rejects.toMatchObject(
    refused(/there already/),
  );
  expect((await buffer(await storage.get("a/1/b", whole))).toString()).toBe("first");
});

test("a content that breaks off leaves nothing, and its own error is reported", async () => {
  const broken = Readable.from(
    (async function* () {
      yield randomBytes(1_000_000);
      throw new Error("the dump failed");
    })(),
  );
  const storage = createLocalStorage({ path: root });
  await expect(storage.put("a/1/b", broken, whole)).rejects.toThrow("the dump failed");
  expect(await files()).toEqual([]);
});

test("an abort leaves nothing", async () => {
  const abort = new AbortController();
  const endless = Readable.from(
    (function* () {
      for (let count = 0; ; count++) {
        if (count === 50) setImmediate(() => abort.abort(new Error("stopped")));
        yield randomBytes(100_000);
      }
    })(),
  );
  const storage = createLocalStorage({ path: root });
  await expect(storage.put("a/1/b", endless, { signal: abort.signal })).rejects.toThrow(
    /abort|stopped/i,
  );
  expect(await files()).toEqual([]);
});

test("a writer that is killed leaves nothing under the name, and `remove` takes the rest", async () => {
  const script = `
    import { createLocalStorage } from ${JSON.stringify(new URL("local.ts", import.meta.url).href)};
    import { Readable } from "node:stream";
    const endless = Readable.from((function* () { for (;;) yield Buffer.alloc(100_000); })());
    setTimeout(() => console.log("writing"), 150);
    await createLocalStorage({ path: ${JSON.stringify(root)} }).put("a/1/b", endless, { signal: new AbortController().signal });`;
  const writer = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(writer.stdout, "data");
  writer.kill("SIGKILL");
  await once(writer, "exit");
  const storage = createLocalStorage({ path: root });
  expect(await files()).toEqual(["b.partial"]);
  expect(await storage.size("a/1/b")).toBeNull();
  // The same name again does not stumble over what was left.
  await storage.put("a/1/b", content("whole"), whole);
  expect(await files()).toEqual(["b"]);
  await writeFile(join(root, "a/1/b.partial"), "again");
  await storage.remove("a/1/b");
  expect(await readdir(root)).toEqual([]);
});

test.each(["../b", "a/../../b", "/etc/b", "a//b", "a/./b", "a/\0b", ""])(
  "“%s” is not a valid name",
  async (key) => {
    const storage = createLocalStorage({ path: root });
    await expect(storage.put(key, content("x"), whole)).rejects.toMatchObject(
      refused(/valid name/),
    );
    await expect(storage.remove(key)).rejects.toMatchObject(refused(/valid name/));
  },
);

test("a link inside does not lead out", async () => {
  const outside = await mkdtemp(join(tmpdir(), "quarterdeck-outside-"));
  await writeFile(join(outside, "secret"), "x");
  await symlink(outside, join(root, "a"));
  const storage = createLocalStorage({ path: root });
  for (const attempt of [
    () => storage.put("a/1/b", content("x"), whole),
    () => storage.get("a/secret", whole),
    () => storage.remove("a/secret"),
  ])
    await expect(attempt()).rejects.toMatchObject(refused(/symbolic link/));
  expect(existsSync(join(outside, "secret"))).toBe(true);
  await rm(outside, { recursive: true });
});

test("a folder that is not there is not made: its disk may not be mounted", async () => {
  const storage = createLocalStorage({ path: join(root, "disk") });
  await expect(storage.put("a/1/b", content("x"), whole)).rejects.toMatchObject(
    refused(/disk is not there. Create it, mount its disk/),
  );
  expect(existsSync(join(root, "disk"))).toBe(false);
});

test("a file that is gone is reported as that", async () => {
  await expect(createLocalStorage({ path: root }).get("a/1/b", whole)).rejects.toMatchObject(
    refused(/b no longer exists/),
  );
});

test.skipIf(!isRoot)("a disk that fills up is reported, and what was begun goes", async () => {
  const disk = join(root, "disk");
  await mkdir(disk);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", disk]);
  try {
    const storage = createLocalStorage({ path: disk });
    await storage.put("a/1/small", content(randomBytes(500_000)), whole);
    await expect(
      storage.put("a/1/large", content(randomBytes(5_000_000)), whole),
    ).rejects.toMatchObject(refused(/No space left/));
    expect(await readdir(join(disk, "a/1"))).toEqual(["small"]);
  } finally {
    execFileSync("umount", [disk]);
  }
});

test.each([
  ["EACCES", /may not be used by the account/],
  ["EROFS", /read-only/],
  ["EDQUOT", /quota/],
  ["EIO", /error/],
])("%s of the disk is reported with what to do", (code, words) => {
  const error = Object.assign(new Error(code), { code, syscall: "open" });
  expect(diagnose(error, "/var/backups")).toMatchObject(refused(words));
});

test("what is no error of the disk stays what it is", () => {
  const error = new Error("the dump failed");
  expect(diagnose(error, "/var/backups")).toBe(error);
});
