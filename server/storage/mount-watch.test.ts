// Tests a real mount whose program is stopped.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { mountFolder } from "../testing/mount.ts";
import { soon } from "../testing/soon.ts";
import { createLocalHost } from "../hosts/local.ts";
import { createRemoteServer } from "../ssh/testing/remote-server.ts";
import { folderHere, folderThere } from "./folder.ts";
import { markerName } from "./marker.ts";
import { patience } from "./mount-watch.ts";
import { StorageError } from "./storage.ts";

const host = createLocalHost({ PATH: process.env["PATH"] ?? "" });
const whole = { signal: new AbortController().signal };

beforeEach(() => {
  const before = { ...patience };
  Object.assign(patience, { answer: 5000, pause: 200 });
  onTestFinished(() => void Object.assign(patience, before));
});

const hangs = (place: string) =>
  expect.objectContaining({
    name: StorageError.name,
    message: `${place} doesn't respond: what is mounted there hangs. Look at the network and at the file server.`,
  });

test("reports a hanging mount at each step in time, blocks nothing else of the service, and uses it again once it responds", async (context) => {
  const { disk, path, hang, goOn } = await mountFolder(context);
  const folder = folderHere(path, host);
  const storage = folder.open({ isMarked: false });
  const content = () => Readable.from([Buffer.from("x")]);
  const list = async () => {
    const keys: string[] = [];
    for await (const { key } of storage.list(whole)) keys.push(key);
    return keys;
  };
  await folder.mark();
  expect(await folder.isMarked()).toBe(true);
  expect(await storage.put("a/b", content(), whole)).toBe(1);
  await storage.replace("a/d", Buffer.from("y"), whole);
  expect((await list()).toSorted()).toEqual([markerName, "a/b", "a/d"]);
  expect(await text(await storage.get("a/d", whole))).toBe("y");
  await expect(storage.put("a/b", content(), whole)).rejects.toThrow(
    `${path}/a/b is there already`,
  );
  await expect(storage.get("a/c", whole)).rejects.toThrow(`${path}/a/c`);
  await hang();
  const steps = () => [
    storage.put("a/c", content(), whole),
    storage.replace("a/d", Buffer.from("x"), whole),
    storage.get("a/b", whole),
    storage.readBack("a/b", whole),
    storage.size("a/b"),
    storage.remove("a/d"),
    storage.freeBytes(),
    list(),
    folder.isMarked(),
    folder.mark(),
  ];
  for (const step of await Promise.allSettled(steps()))
    expect(step).toMatchObject({ status: "rejected", reason: hangs(path) });
  // A service that waited there itself would lose a thread, of which there are four.
  expect(await readFile(join(disk, "a/b"), "utf8")).toBe("x");
  goOn();
  await soon(async () => expect(await storage.size("a/b")).toBe(1));
});

const server = createRemoteServer();

test.for(["here", "on a server"])(
  "reading or writing a file breaks off when its mount hangs, %s",
  async (where, context) => {
    const { disk, path, hang } = await mountFolder(context);
    const folder =
      where === "here"
        ? folderHere(path, host)
        : folderThere(1, { host: await server.host(), server: "web-1", root: path });
    const storage = folder.open({ isMarked: false });
    await writeFile(join(disk, "large"), Buffer.alloc(20_000_000));
    const stored = await storage.get("large", whole);
    const reading = stored[Symbol.asyncIterator]();
    await reading.next();
    const asked = Promise.withResolvers<void>();
    const content = new Readable({ read: () => asked.resolve() });
    const writing = storage.put("new", content, whole);
    await asked.promise;
    await hang();
    content.push(Buffer.alloc(20_000_000));
    await expect(writing).rejects.toEqual(hangs(folder.place));
    const readAll = async () => {
      while ((await reading.next()).done !== true);
    };
    await expect(readAll()).rejects.toEqual(hangs(folder.place));
  },
);
