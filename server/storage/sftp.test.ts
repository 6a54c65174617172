// Tests what is specific to SFTP, on a login that has nothing else; `every-storage.test.ts` has what every storage guarantees.
import { randomBytes } from "node:crypto";
import { rmdirSync, watch } from "node:fs";
import { chmod, chown, lstat, mkdir, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import { ServerAway } from "../ssh/server-away.ts";
import { startSshd } from "../ssh/testing/sshd.ts";
import { isRoot, makeFolder, type CleanUp } from "../testing/machine.ts";
import { contentsOf, makeRoot } from "./testing/every-storage.ts";
import { openSftp } from "./testing/open-sftp.ts";
import { serveByRclone } from "./testing/rclone-server.ts";

const whole = { signal: new AbortController().signal };
const content = (text: string) => Readable.from([Buffer.from(text)]);
const refused = (words: RegExp) => ({
  name: "StorageError",
  message: expect.stringMatching(words),
});
const sftpOnly = "Subsystem sftp internal-sftp\nForceCommand internal-sftp";

/** Starts a login without a shell; as root, in a chroot. */
async function startBox(config = sftpOnly, cleanUp: CleanUp = onTestFinished) {
  // sshd requires that only root can write to the folders of the path.
  const jail = isRoot ? await mkdtemp("/var/lib/quarterdeck-jail-") : await makeFolder(cleanUp);
  if (isRoot) cleanUp(() => rm(jail, { recursive: true }));
  await chmod(jail, 0o755);
  const sshd = await startSshd({
    config: isRoot ? `${config}\nChrootDirectory ${jail}` : config,
    cleanUp,
  });
  const root = join(jail, "copies");
  await mkdir(root);
  if (isRoot) {
    const { uid, gid } = await lstat(join(sshd.folder, sshd.user));
    await chown(root, uid, gid);
  }
  const path = isRoot ? "/copies" : root;
  return { sshd, root, path, open: (more = {}) => openSftp(sshd.target(), path, more) };
}

/** For tests that leave the server unchanged. */
let box: Awaited<ReturnType<typeof startBox>>;
const cleanUps: Parameters<CleanUp>[0][] = [];
beforeAll(async () => {
  box = await startBox(sftpOnly, (run) => void cleanUps.unshift(run));
});
afterAll(async () => {
  for (const cleanUp of cleanUps) await cleanUp();
});
afterEach(async () => {
  for (const name of await readdir(box.root)) await rm(join(box.root, name), { recursive: true });
});

test("a login with only SFTP stores, lists, returns and removes files, which nobody else can read", async () => {
  const { root, path, open, sshd } = box;
  const storage = open();
  expect(storage.place).toBe(`${path} on 127.0.0.1:${sshd.port}`);
  const bytes = Buffer.alloc(12_345_678, "abc");
  expect(await storage.put("shop/4/b", Readable.from([bytes]), whole)).toBe(bytes.length);
  expect((await readFile(join(root, "shop/4/b"))).equals(bytes)).toBe(true);
  expect((await stat(join(root, "shop/4/b"))).mode & 0o777).toBe(0o600);
  expect(await Array.fromAsync(storage.list(whole))).toEqual([
    { key: "shop/4/b", sizeBytes: bytes.length },
  ]);
  expect((await buffer(await storage.get("shop/4/b", whole))).equals(bytes)).toBe(true);
  await storage.remove("shop/4/b");
  expect(await readdir(root)).toEqual([]);
});

test("a server that is not OpenSSH stores, replaces, lists and returns files", async () => {
  const root = await makeRoot();
  const { keyFile, folder, fingerprint } = box.sshd;
  const keys = [
    "--authorized-keys",
    join(folder, "authorized"),
    "--key",
    join(folder, "host_key_ed25519"),
  ];
  const server = await serveByRclone("sftp", root, keys);
  onTestFinished(() => server.close());
  const target = {
    host: "127.0.0.1",
    port: server.port,
    user: "deploy",
    keyFile,
    hostKey: fingerprint,
  };
  const storage = openSftp({ ...target, configFile: null, jump: null }, "/");
  const bytes = randomBytes(9_000_001);
  expect(await storage.put("a/1/b", Readable.from([bytes]), whole)).toBe(bytes.length);
  expect((await buffer(await storage.get("a/1/b", whole))).equals(bytes)).toBe(true);
  await expect(storage.put("a/1/b", content("x"), whole)).rejects.toMatchObject(
    refused(/there already/),
  );
  for (const text of ["first", "second"]) {
    await storage.replace("RECOVERY.md", Buffer.from(text), whole);
    expect((await buffer(await storage.get("RECOVERY.md", whole))).toString()).toBe(text);
  }
  expect(await Array.fromAsync(storage.list(whole))).toEqual([
    { key: "RECOVERY.md", sizeBytes: 6 },
    { key: "a/1/b", sizeBytes: bytes.length },
  ]);
  expect(await storage.size("a/1/c")).toBeNull();
  await storage.freeBytes();
  for (const key of ["a/1/b", "RECOVERY.md"]) await storage.remove(key);
  expect(await readdir(root)).toEqual([]);
});

test("refuses another host key than the pinned one, and sends nothing", async () => {
  const { sshd, path, root } = box;
  const other = openSftp(sshd.target({ hostKey: `SHA256:${"A".repeat(43)}` }), path);
  await expect(other.put("a/1/b", content("x"), whole)).rejects.toMatchObject(
    refused(/The host key of .* has changed/),
  );
  const none = openSftp(sshd.target({ hostKey: null }), path);
  await expect(none.size("a")).rejects.toMatchObject(refused(/No host key is pinned/));
  expect(await readdir(root)).toEqual([]);
});

test("refuses a host key that is replaced later, too", async () => {
  const { sshd, open } = await startBox();
  await open().put("a/1/b", content("x"), whole);
  const target = sshd.target();
  await sshd.rekey();
  await expect(openSftp(target, "/").size("a/1/b")).rejects.toMatchObject(
    refused(/offered another host key|has changed/),
  );
});

test("reports a login without SFTP", async () => {
  const { open } = await startBox("ForceCommand echo Hello");
  await expect(open().size("a/1/b")).rejects.toMatchObject(refused(/Couldn't reach|not SFTP/));
});

test("stores a file in a folder that others remove as soon as it is created", async () => {
  const storage = box.open();
  await storage.put("a/kept", content("x"), whole);
  const folder = join(box.root, "a/1");
  let removed = 0;
  const watching = watch(join(box.root, "a"), () => {
    if (removed === 3) return;
    try {
      rmdirSync(folder);
      removed += 1;
    } catch {
      // The folder does not exist, or is not empty.
    }
  });
  onTestFinished(() => watching.close());
  expect(await storage.put("a/1/b", content("x"), whole)).toBe(1);
  await storage.remove("a/1/b");
  removed = 0;
  await storage.replace("a/1/b", Buffer.from("text"), whole);
  expect(await storage.size("a/1/b")).toBe(4);
});

test("a connection that is cut during an upload leaves no file under its name", async () => {
  const { sshd, root, open } = box;
  const storage = open();
  const endless = Readable.from(
    (async function* () {
      for (let count = 0; ; count++) {
        if (count === 30) await sshd.cut();
        yield Buffer.alloc(100_000);
      }
    })(),
    { objectMode: false },
  );
  await expect(storage.put("a/1/b", endless, whole)).rejects.toMatchObject(
    refused(/Couldn't reach the storage .*lost/),
  );
  expect(endless.destroyed).toBe(true);
  expect(await contentsOf(root)).toEqual([]);
});

test("a connection that is cut during a download breaks the stream off", async () => {
  const { sshd, open } = box;
  const storage = open();
  await storage.put("a/1/b", Readable.from([Buffer.alloc(60_000_000, 7)]), whole);
  const read = await storage.get("a/1/b", whole);
  await sshd.cut();
  await expect(buffer(read)).rejects.toMatchObject(refused(/Couldn't reach the storage/));
});

test("gives up a hanging server", async () => {
  const { sshd, open } = box;
  const storage = open();
  await storage.put("a/1/b", content("x"), whole);
  let goOn = async () => {};
  const held = Readable.from(
    (async function* () {
      yield Buffer.alloc(100_000);
      goOn = await sshd.hang();
      for (;;) yield Buffer.alloc(100_000);
    })(),
    { objectMode: false },
  );
  // Only this client has a short limit, which is long enough for a connection on a busy machine.
  await expect(open({ idleMs: 5000 }).put("a/1/c", held, whole)).rejects.toMatchObject(
    refused(/stopped responding/),
  );
  await goOn();
  expect(await storage.size("a/1/c")).toBeNull();
});

test("does not blame the storage for an unavailable server of the source", async () => {
  const { open } = box;
  const error = new ServerAway("lost", "The connection to db-1 was lost.");
  const broken = Readable.from(
    (async function* () {
      yield Buffer.alloc(100_000);
      throw error;
    })(),
    { objectMode: false },
  );
  await expect(open().put("a/1/b", broken, whole)).rejects.toBe(error);
});

test.skipIf(!isRoot)("names the login that has no access to the folder", async () => {
  const { root, open } = await startBox();
  await chown(root, 0, 0);
  await expect(open().put("a/1/b", content("x"), whole)).rejects.toMatchObject(
    refused(/may not be used by deploy there/),
  );
});
