// Tests what is specific to a storage over SSH; `every-storage.test.ts` has what every storage guarantees.
import { execFile } from "node:child_process";
import { mkdir, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { Host } from "../hosts/host.ts";
import { openRemoteHost } from "../ssh/remote-host.ts";
import { ServerAway } from "../ssh/server-away.ts";
import { connectTo } from "../ssh/testing/connect.ts";
import { isRoot, makeFolder } from "../testing/machine.ts";
import { sendSignal } from "../testing/signals.ts";
import { soon } from "../testing/soon.ts";
import { createRemoteStorage } from "./remote.ts";
import { contentsOf, createEveryStorage, makeRoot } from "./testing/every-storage.ts";

const run = promisify(execFile);
const { remote } = createEveryStorage();
const whole = { signal: new AbortController().signal };
const content = (text: string) => Readable.from([Buffer.from(text)]);

async function open(change: (host: Host) => Host = (host) => host) {
  const root = await makeRoot();
  const host = change(await remote.host());
  return { root, storage: createRemoteStorage({ host, server: "web-1", root }) };
}

const away = {
  name: "StorageError",
  message: expect.stringMatching(/^Couldn't reach the storage .* on web-1: .*127\.0\.0\.1/),
};

test("names an unavailable server, and does not affect what is stored there", async () => {
  const { storage } = await open();
  await storage.put("a/1/b", content("kept"), whole);
  const sshd = await remote.sshd();
  await sshd.stop();
  await expect(storage.size("a/1/b")).rejects.toMatchObject(away);
  await expect(storage.get("a/1/b", whole)).rejects.toMatchObject(away);
  await expect(storage.readBack("a/1/b", whole)).rejects.toMatchObject(away);
  await expect(storage.freeBytes()).rejects.toMatchObject(away);
  await expect(storage.remove("a/1/b")).rejects.toMatchObject(away);
  await expect(storage.put("a/1/b", content("other"), whole)).rejects.toMatchObject(away);
  await sshd.start();
  await remote.responds();
  expect((await buffer(await storage.get("a/1/b", whole))).toString()).toBe("kept");
});

test("a connection that is cut during an upload leaves no file under its name", async () => {
  const { root, storage } = await open();
  const sshd = await remote.sshd();
  const endless = Readable.from(
    (async function* () {
      for (let count = 0; ; count++) {
        if (count === 30) await sshd.cut();
        yield Buffer.alloc(100_000);
      }
    })(),
    { objectMode: false },
  );
  await expect(storage.put("a/1/b", endless, whole)).rejects.toMatchObject(away);
  expect(endless.destroyed).toBe(true);
  await remote.responds();
  expect(await storage.size("a/1/b")).toBeNull();
  await storage.remove("a/1/b");
  expect(await contentsOf(root)).toEqual([]);
});

test("a connection that is cut during a download breaks the stream off", async () => {
  const { storage } = await open();
  const bytes = Buffer.alloc(20_000_000, 7);
  await storage.put("a/1/b", Readable.from([bytes]), whole);
  const read = await storage.get("a/1/b", whole);
  await (await remote.sshd()).cut();
  await expect(buffer(read)).rejects.toMatchObject(away);
  await remote.responds();
});

test("does not blame the storage for an unavailable server of the source", async () => {
  const { storage } = await open();
  const error = new ServerAway("lost", "The connection to db-1 was lost.");
  const broken = Readable.from(
    (async function* () {
      yield Buffer.alloc(100_000);
      throw error;
    })(),
    { objectMode: false },
  );
  await expect(storage.put("a/1/b", broken, whole)).rejects.toBe(error);
});

test("says that what it runs on the server was killed", async () => {
  const { root, storage } = await open();
  const endless = Readable.from(
    (async function* () {
      yield Buffer.alloc(100_000);
      // Not of SSH, whose command line ends like the script's.
      const { stdout: pids } = await soon(() =>
        run("pgrep", ["-f", `^sh .*${basename(dirname(root))}`]),
      );
      for (const pid of pids.trim().split("\n")) sendSignal(Number(pid), "SIGKILL");
      for (;;) yield Buffer.alloc(100_000);
    })(),
    { objectMode: false },
  );
  await expect(storage.put("a/1/b", endless, whole)).rejects.toMatchObject({
    name: "StorageError",
    message: expect.stringMatching(/on web-1 can't be used: its script was killed, probably/),
  });
});

test("names a tool that the server lacks with what to install", async () => {
  const tools = await makeFolder();
  for (const tool of ["sh", "ls", "dd"]) await symlink(`/bin/${tool}`, join(tools, tool));
  const { storage } = await open((host) => ({
    ...host,
    run: (command) =>
      host.run({ ...command, environment: { ...command.environment, PATH: tools } }),
  }));
  await expect(storage.freeBytes()).rejects.toMatchObject({
    name: "StorageError",
    message: expect.stringMatching(/web-1 has no stat\. Install GNU coreutils there\.$/),
  });
});

test.skipIf(!isRoot)(
  "names the account on the server that has no access to the folder",
  async () => {
    const sshd = await remote.sshd();
    const host = await openRemoteHost(await connectTo(sshd, { user: sshd.user }));
    const root = join(await makeFolder(), "closed");
    await mkdir(root, { mode: 0o700 });
    const storage = createRemoteStorage({ host, server: "web-1", root });
    await expect(storage.put("a/1/b", content("x"), whole)).rejects.toMatchObject({
      name: "StorageError",
      message: `${root} on web-1 may not be used by deploy there. Give it that account, or rights on it.`,
    });
  },
);
