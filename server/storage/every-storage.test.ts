// Tests what every kind of storage guarantees.
import { execFile, execFileSync, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { isLongForm } from "../testing/long-form.ts";
import { isRoot, kill } from "../testing/machine.ts";
import { mark, markerName } from "./marker.ts";
import type { Storage } from "./storage.ts";
import { contentsOf, createEveryStorage, makeRoot } from "./testing/every-storage.ts";
import { soon } from "../testing/soon.ts";

const every = createEveryStorage();
const folders = Object.entries(every.folders);

/** Mounted before any test starts the server, which only sees mounts that existed at its start. */
const smallDisk = join(tmpdir(), `quarterdeck-small-disk-${process.pid}`);
beforeAll(async () => {
  if (!isRoot) return;
  await mkdir(smallDisk);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", smallDisk]);
});
afterAll(async () => {
  if (!isRoot) return;
  execFileSync("umount", ["--lazy", smallDisk]);
  await rm(smallDisk, { recursive: true });
});

const whole = { signal: new AbortController().signal };
const content = (bytes: Buffer | string) => Readable.from([Buffer.from(bytes)]);
const refused = (words: RegExp) => ({
  name: "StorageError",
  message: expect.stringMatching(words),
});

const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

/** Returns the SHA-256 of a stored object, by the storage's own `readBack`. */
async function digestOf(storage: Storage, key: string): Promise<string | null> {
  const back = await storage.readBack(key, whole);
  if (back.kind === "checksums") return null;
  if (back.kind === "digest") return back.checksum;
  const hash = createHash("sha256");
  for await (const piece of back.content) hash.update(piece);
  return hash.digest("hex");
}

type Opened = { storage: Storage; root: string };
/** Sizes around the pieces in which a disk is read, and around the parts of an upload; a server over SSH is slow for each. */
const [ofDisk, ofUpload] = [
  [0, 1, 4096, 1024 * 1024, 1024 * 1024 + 1, 3_000_000],
  [0, 9_000_000],
];
/** Sizes for services that are written in pieces smaller than the parts of an upload. */
const ofServer = isLongForm ? ofUpload : [0, 3_000_000];

const all: [string, () => Promise<Opened>, number[]][] = [
  ...folders.map(([name, { open }]): (typeof all)[number] => [
    name,
    async () => {
      const root = await makeRoot();
      return { storage: await open(root), root };
    },
    name === "folder here" ? ofDisk : ofServer,
  ]),
  ["bucket", every.openBucket, ofUpload],
  [
    "folder by rclone",
    async () => {
      const root = await makeRoot();
      return { storage: await every.openRclone(root), root };
    },
    ofUpload,
  ],
  [
    "folder over SFTP",
    async () => {
      const root = await makeRoot();
      return { storage: await every.sftp["folder over SFTP"].open(root), root };
    },
    isLongForm ? ofServer : [3_000_000],
  ],
  ["SFTP server by rclone", () => every.openServed("sftp"), ofUpload],
  ["WebDAV server by rclone", () => every.openServed("webdav"), ofUpload],
  ["bucket by rclone", every.openRcloneBucket, ofUpload],
];
/** All of them take the same path through rclone; `npm run soak -- storages` tests each. */
const left = new Set(["SFTP server by rclone", "WebDAV server by rclone", "bucket by rclone"]);
const kinds = all.filter(([name]) => isLongForm || !left.has(name));
/**
 * Each step starts rclone. `storage-by-rclone.test.ts` covers storing, replacing and removing, `rclone.test.ts` broken uploads
 * and existing objects.
 */
const mostKinds = kinds.filter(([name]) => isLongForm || name !== "folder by rclone");
/** Storages whose files a test can inspect. */
const shown = [...folders, ...Object.entries(every.sftp), ...Object.entries(every.rclone)];
/** The same, without rclone in the short form. */
const mostShown = shown.filter(([name]) => isLongForm || name !== "folder by rclone");
/** Storages that never leave their folder, whatever is in it. */
const kept = [...folders, ...Object.entries(every.sftp)];

describe.each(kinds)("%s", (_kind, open) => {
  test("an abort leaves nothing", async () => {
    const { storage, root } = await open();
    const abort = new AbortController();
    const endless = Readable.from(
      (function* () {
        for (let count = 0; ; count++) {
          if (count === 50) setImmediate(() => abort.abort(new Error("stopped")));
          yield randomBytes(100_000);
        }
      })(),
    );
    await expect(storage.put("a/1/b", endless, { signal: abort.signal })).rejects.toThrow(
      /abort|stopped/i,
    );
    expect(endless.destroyed).toBe(true);
    expect(await contentsOf(root)).toEqual([]);
  });

  test("reports a missing file as such", async () => {
    const { storage } = await open();
    await expect(storage.get("a/1/b", whole)).rejects.toMatchObject(
      refused(/no longer (?:exists|has the file)/),
    );
  });
});

describe.each(mostKinds)("%s", (_kind, open, sizes) => {
  test("a stored object is read back unchanged, verified, and removed", async () => {
    const { storage, root } = await open();
    for (const sizeBytes of sizes) {
      const bytes = randomBytes(sizeBytes);
      const key = `the shop's/4/${sizeBytes}.tar.zst`;
      expect(await storage.put(key, content(bytes), whole)).toBe(sizeBytes);
      expect(await storage.size(key)).toBe(sizeBytes);
      expect((await buffer(await storage.get(key, whole))).equals(bytes)).toBe(true);
      const digest = createHash("sha256").update(bytes).digest("hex");
      expect([null, digest]).toContain(await digestOf(storage, key));
      await storage.remove(key);
    }
    const [first] = sizes;
    expect(await storage.size(`the shop's/4/${first}.tar.zst`)).toBeNull();
    await storage.remove(`the shop's/4/${first}.tar.zst`);
    expect(await contentsOf(root)).toEqual([]);
  });

  test("a text is replaced completely, and stays when its replacement fails", async () => {
    const { storage, root } = await open();
    const read = async () => (await buffer(await storage.get("RECOVERY.md", whole))).toString();
    await storage.replace("RECOVERY.md", Buffer.from("first, and longer"), whole);
    expect(await read()).toBe("first, and longer");
    await storage.replace("RECOVERY.md", Buffer.from("second"), whole);
    expect(await read()).toBe("second");
    const stopped = AbortSignal.abort(new Error("stopped"));
    await expect(
      storage.replace("RECOVERY.md", Buffer.from("third"), { signal: stopped }),
    ).rejects.toThrow(/abort|stopped/i);
    expect(await read()).toBe("second");
    expect(await contentsOf(root)).not.toContain("RECOVERY.md.partial");
    await storage.remove("RECOVERY.md");
    expect(await contentsOf(root)).toEqual([]);
  });

  test("a content that breaks off leaves nothing, and its own error is reported", async () => {
    const { storage, root } = await open();
    const broken = Readable.from(
      (async function* () {
        yield randomBytes(1_000_000);
        throw new Error("the dump failed");
      })(),
    );
    await expect(storage.put("a/1/b", broken, whole)).rejects.toThrow("the dump failed");
    expect(await contentsOf(root)).toEqual([]);
  });

  test("a reader that stops early causes no error, and a late one gets everything", async () => {
    const { storage } = await open();
    const bytes = randomBytes(5_000_000);
    await storage.put("a/1/b", content(bytes), whole);
    const left = await storage.get("a/1/b", whole);
    await once(left, "readable");
    left.destroy();
    const late = await storage.get("a/1/b", whole);
    await once(late, "readable");
    expect((await buffer(late)).equals(bytes)).toBe(true);
  });
});

describe.each(shown)("%s", (_kind, { open }) => {
  test("stored files are closed to others, and removed with their folders", async () => {
    const root = await makeRoot();
    const storage = await open(root);
    await storage.put("shop/4/12.tar.zst", content("x"), whole);
    expect((await stat(join(root, "shop/4/12.tar.zst"))).mode & 0o777).toBe(0o600);
    for (const folder of ["shop", "shop/4"])
      expect((await stat(join(root, folder))).mode & 0o777).toBe(0o700);
    await mkdir(join(root, "shop/5"));
    await writeFile(join(root, "shop/5/13.tar.zst"), "x");
    await storage.remove("shop/4/12.tar.zst");
    expect(await readdir(join(root, "shop"))).toEqual(["5"]);
    await storage.remove("shop/5/13.tar.zst");
    expect(await readdir(root)).toEqual([]);
    const { stdout } = await promisify(execFile)("df", ["-k", "--output=avail", root]);
    const freeKb = Number(stdout.split("\n")[1]);
    // Other processes write to the same disk meanwhile.
    const ratio = ((await storage.freeBytes()) ?? 0) / 1024 / freeKb;
    expect(ratio).toBeGreaterThan(0.5);
    expect(ratio).toBeLessThan(2);
  });

  test.each(["../b", "a/../../b", "/etc/b", "a//b", "a/./b", "a/\0b", ""])(
    "refuses “%s” as a name",
    async (key) => {
      const storage = await open("/nowhere");
      const invalid = refused(/valid name/);
      await expect(storage.put(key, content("x"), whole)).rejects.toMatchObject(invalid);
      await expect(storage.remove(key)).rejects.toMatchObject(invalid);
    },
  );
});

describe.each(mostShown)("%s", (_kind, { open }) => {
  test("does not overwrite an existing object", async () => {
    const storage = await open(await makeRoot());
    await storage.put("a/1/b", content("first"), whole);
    await expect(storage.put("a/1/b", content("second"), whole)).rejects.toMatchObject(
      refused(/there already/),
    );
    expect((await buffer(await storage.get("a/1/b", whole))).toString()).toBe("first");
  });
});

/** SFTP renames a complete file like the folder over SSH, so the short form leaves it out. */
describe.each(isLongForm ? shown : folders)("%s", (_kind, { open, argument }) => {
  test("a killed service leaves nothing under the name, and `remove` deletes the rest", async () => {
    const root = await makeRoot();
    const script = fileURLToPath(new URL("testing/write-for-ever.ts", import.meta.url));
    const writer = spawn(process.execPath, [script, root, "a/1/b", await argument()], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    onTestFinished(() => void writer.kill("SIGKILL"));
    const begun = async () => expect(await contentsOf(root)).toEqual(["b.partial"]);
    await soon(begun);
    await kill(writer);
    const storage = await open(root);
    expect(await contentsOf(root)).toEqual(["b.partial"]);
    expect(await storage.size("a/1/b")).toBeNull();
    // Partial files that were left do not prevent storing under the same name.
    await storage.put("a/1/b", content("whole"), whole);
    expect(await contentsOf(root)).toEqual(["b"]);
    await writeFile(join(root, "a/1/b.partial"), "again");
    await storage.remove("a/1/b");
    expect(await readdir(root)).toEqual([]);
  });
});

describe.each(folders)("%s", (_kind, { open }) => {
  test("reads back past the page cache if the file system can", async () => {
    const root = await makeRoot();
    const storage = await open(root);
    await storage.put("a/1/b", content(randomBytes(3_000_000)), whole);
    const back = await storage.readBack("a/1/b", whole);
    if (back.kind === "read") for await (const _ of back.content);
    const isFromDisk =
      back.kind === "read" ? back.isFromDisk() : back.kind === "digest" && back.isFromDisk;
    const file = join(root, "a/1/b");
    expect(isFromDisk).toBe((await canReadDirectly(file)) && !(await isInMemory(file)));
  });

  test("what is read back during the upload and after it is what was sent", async () => {
    const root = await makeRoot();
    const storage = await open(root);
    await storage.put("a/1/a", content("x"), whole);
    const back = await storage.readBack("a/1/a", whole);
    const isFollowed = back.kind === "read" && (await canReadDirectly(join(root, "a/1/a")));
    const bytes = randomBytes(isFollowed ? 20_000_000 : 3_000_000);
    const taken: Buffer[] = [];
    const takeBack = async (piece: Buffer) => void taken.push(Buffer.from(piece));
    const free: Buffer[] = [];
    async function* pieces() {
      for (let at = 0; at < bytes.length; at += 1_000_000) {
        const memory = free.pop() ?? Buffer.allocUnsafeSlow(1_000_000);
        bytes.copy(memory, 0, at);
        yield memory;
      }
      if (isFollowed) await soon(() => expect(taken).not.toEqual([]));
    }
    const sent = Readable.from(pieces(), { highWaterMark: 1 });
    const release = (piece: Buffer) => void free.push(piece);
    await storage.put("a/1/b", sent, { ...whole, takeBack, release });
    const fromByte = Buffer.concat(taken).length;
    expect(fromByte).toBeLessThan(bytes.length);
    const rest = await storage.readBack("a/1/b", { ...whole, fromByte });
    if (rest.kind === "read") for await (const piece of rest.content) await takeBack(piece);
    const found = rest.kind === "digest" ? rest.checksum : sha256(Buffer.concat(taken));
    expect(found).toBe(sha256(bytes));
  });

  test("is unavailable without its marker: nothing is written, removed or reported as missing", async () => {
    const root = await makeRoot();
    const storage = await open(root, { isMarked: true });
    await mark(root);
    await storage.put("a/1/b", content("kept"), whole);
    await rename(join(root, markerName), join(root, "aside"));
    const away = refused(/is away: the file \.quarterdeck-storage/);
    await expect(storage.put("a/1/c", content("x"), whole)).rejects.toMatchObject(away);
    await expect(storage.get("a/1/b", whole)).rejects.toMatchObject(away);
    await expect(storage.size("a/1/b")).rejects.toMatchObject(away);
    await expect(storage.remove("a/1/b")).rejects.toMatchObject(away);
    await expect(storage.replace("a", Buffer.from("x"), whole)).rejects.toMatchObject(away);
    await rename(join(root, "aside"), join(root, markerName));
    expect(await storage.size("a/1/b")).toBe(4);
    expect(await storage.size("a/1/c")).toBeNull();
  });
});

describe.each(kept)("%s", (_kind, { open }) => {
  test("no link inside leads out", async () => {
    const root = await makeRoot();
    const outside = await mkdtemp(join(tmpdir(), "quarterdeck-outside-"));
    await writeFile(join(outside, "secret"), "x");
    await symlink(outside, join(root, "a"));
    const storage = await open(root);
    for (const attempt of [
      () => storage.put("a/1/b", content("x"), whole),
      () => storage.get("a/secret", whole),
      () => storage.remove("a/secret"),
    ])
      await expect(attempt()).rejects.toMatchObject(refused(/symbolic link/));
    expect(await readdir(outside)).toEqual(["secret"]);
    await rm(outside, { recursive: true });
  });

  test("does not create a missing folder, because its disk may not be mounted", async () => {
    const root = await makeRoot();
    const storage = await open(join(root, "disk"));
    await expect(storage.put("a/1/b", content("x"), whole)).rejects.toMatchObject(
      refused(/disk.* is not there. Create it, mount its disk/),
    );
    expect(existsSync(join(root, "disk"))).toBe(false);
    await writeFile(join(root, "file"), "");
    await expect(
      (await open(join(root, "file"))).put("a/1/b", content("x"), whole),
    ).rejects.toMatchObject(refused(/file.* isn't a folder/));
  });
});

test.skipIf(!isRoot).each(mostShown)(
  "reports a full disk, and removes what was started: %s",
  async (_kind, { open }) => {
    const storage = await open(smallDisk);
    await storage.put("a/1/small", content(randomBytes(500_000)), whole);
    await expect(
      storage.put("a/1/large", content(randomBytes(5_000_000)), whole),
    ).rejects.toMatchObject(refused(/No space left/));
    expect(await readdir(join(smallDisk, "a/1"))).toEqual(["small"]);
    await storage.remove("a/1/small");
  },
);

/** Whether a file is in memory: Linux allows direct reads of it, which then come from memory. */
const isInMemory = async (file: string): Promise<boolean> =>
  (await promisify(execFile)("stat", ["-f", "-c", "%T", file])).stdout.trim() === "tmpfs";

/** Whether another program can read the file directly, as an independent result. */
const canReadDirectly = (file: string): Promise<boolean> =>
  promisify(execFile)("dd", [`if=${file}`, "of=/dev/null", "iflag=direct", "bs=4096"]).then(
    () => true,
    () => false,
  );
