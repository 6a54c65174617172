// Tests what is specific to rclone; `every-storage.test.ts` has what every storage guarantees.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createLocalHost } from "../hosts/local.ts";
import { serve } from "../net/testing/receivers.ts";
import { inLongForm, casesOf } from "../testing/long-form.ts";
import { makeFolder } from "../testing/machine.ts";
import { partial } from "./object-key.ts";
import { createRcloneStorage } from "./rclone.ts";
import { startS3, type Gate } from "./testing/s3.ts";
import { contentsOf, makeRoot } from "./testing/every-storage.ts";
import { openRclone, rcloneBucketOf, rcloneWith } from "./testing/open-rclone.ts";
import { serveByRclone } from "./testing/rclone-server.ts";

const whole = { signal: new AbortController().signal };
const content = (text: string) => Readable.from([Buffer.from(text)]);
const refused = (words: RegExp) => ({
  name: "StorageError",
  message: expect.stringMatching(words),
});
const hostOf = (PATH = process.env["PATH"] ?? "", HOME = "/nowhere") =>
  createLocalHost({ PATH, HOME });

test("says so where rclone is killed", async () => {
  const folder = await makeFolder();
  const script = "#!/bin/sh\necho '2026/11/28 10:00:00 NOTICE: Still going' >&2\nkill -KILL $$\n";
  await writeFile(join(folder, "rclone"), script, { mode: 0o755 });
  const host = hostOf(`${folder}:${process.env["PATH"]}`);
  const storage = createRcloneStorage({ host, config: null, remote: "here:/x" });
  const killed = refused(
    /^rclone remote here:\/x can't be used: rclone was killed, probably because the machine ran out of memory\. /,
  );
  await expect(storage.put("a/1/b", content("x"), whole)).rejects.toMatchObject(killed);
  await expect(storage.size("a/1/b")).rejects.toMatchObject(killed);
  const reading = storage.get("a/1/b", whole).then(buffer);
  await expect(reading).rejects.toMatchObject(killed);
});

const unusable: Record<string, [string, string, RegExp]> = {
  "a remote that the config lacks": ["[a]\ntype = local\n", "b:/x", /b:\/x is not in rclone's/],
  "a port where nobody listens": [
    "[a]\ntype = webdav\nurl = http://deploy:hidden@127.0.0.1:1/x?sig=hidden\n",
    "a:x",
    /refused the connection/,
  ],
  "a name that does not resolve": [
    "[a]\ntype = webdav\nurl = http://nowhere.invalid\n",
    "a:x",
    /could not be resolved/,
  ],
  "an encrypted config": [
    `# Encrypted rclone configuration File\n\nRCLONE_ENCRYPT_V0:\n${"A".repeat(200)}\n`,
    "a:x",
    /config file is encrypted/,
  ],
};
test.each(casesOf(unusable, ["a remote that the config lacks", "a port where nobody listens"]))(
  "reports %s with what to fix, and no secret",
  async (_, [text, remote, words]) => {
    const failure: Error = await rcloneWith(text, remote)
      .put("a/1/b", content("x"), whole)
      .then(
        () => new Error("it worked"),
        (error: Error) => error,
      );
    expect(failure).toMatchObject(refused(words));
    expect(failure.message).not.toContain("hidden");
  },
);

test("refuses a service that cannot rename", async () => {
  const server = await serveByRclone("http", await makeRoot());
  onTestFinished(() => server.close());
  const storage = rcloneWith(server.config, "served:");
  await expect(storage.put("a", content("x"), whole)).rejects.toMatchObject(
    refused(/can neither rename nor copy files there/),
  );
});

test("reports a machine without rclone with what to install", async () => {
  const storage = createRcloneStorage({
    host: hostOf("/nowhere:/bin/nothing"),
    remote: "a:",
    config: null,
  });
  await expect(storage.size("a")).rejects.toMatchObject(refused(/apt-get install rclone/));
});

test("the config is rclone's own, a file that it may renew, or a text that no argument and no variable contains", async () => {
  const root = await makeRoot();
  const home = await makeFolder();
  const config = "[here]\ntype = local\nsecret = very hidden\n";
  await writeFile(join(home, ".rclone.conf"), config);
  const remote = `here:${root}`;
  const own = createRcloneStorage({ host: hostOf(undefined, home), remote, config: null });
  await own.put("a", content("own"), whole);
  const path = join(home, "other.conf");
  await writeFile(path, config);
  const named = createRcloneStorage({ host: hostOf(), remote, config: { path } });
  expect(await named.size("a")).toBe(3);

  const given = rcloneWith(config, remote);
  const waiting = Promise.withResolvers<void>();
  const sent = given.put(
    "b",
    Readable.from(
      (async function* () {
        yield randomBytes(200_000);
        await waiting.promise;
      })(),
    ),
    whole,
  );
  let shown = "";
  await expect
    .poll(async () => (shown = await processesWith(partial("b"))), { timeout: 60_000 })
    .toContain("rcat");
  waiting.resolve();
  await sent;
  expect(shown).not.toContain("very hidden");
});

test("an upload that rclone stops reading early ends when rclone ends", async () => {
  const root = await makeRoot();
  const programs = await makeFolder();
  const script = `#!/bin/sh
case "$*" in
*rcat*) exec 0<&-; sleep 1; echo "connection lost" >&2; exit 1 ;;
esac
PATH=${process.env["PATH"]} exec rclone "$@"
`;
  await writeFile(join(programs, "rclone"), script, { mode: 0o755 });
  const endless = Readable.from(
    (async function* () {
      for (;;) {
        yield randomBytes(100_000);
        await wait(10);
      }
    })(),
  );
  const storage = createRcloneStorage({
    host: hostOf(`${programs}:${process.env["PATH"]}`),
    config: { text: "[here]\ntype = local\n" },
    remote: `here:${root}`,
  });
  await expect(storage.put("b", endless, whole)).rejects.toMatchObject(
    refused(/closed the connection/),
  );
  expect(endless.destroyed).toBe(true);
});

test("does not overwrite an object that others stored meanwhile", async () => {
  const root = await makeRoot();
  const storage = await openRclone(root);
  const late = Readable.from(
    (async function* () {
      yield Buffer.from("ours");
      await writeFile(join(root, "b"), "theirs");
    })(),
  );
  await expect(storage.put("b", late, whole)).rejects.toMatchObject(refused(/there already/));
  expect(await readFile(join(root, "b"), "utf8")).toBe("theirs");
  expect(await readdir(root)).toEqual(["b"]);
});

test("does not mistake a folder for a file", async () => {
  const root = await makeRoot();
  await mkdir(join(root, "a"));
  await writeFile(join(root, "a/1"), "secret");
  const storage = await openRclone(root);
  await expect(storage.get("a", whole)).rejects.toMatchObject({ name: "StorageError" });
});

test("a missing one does not count as empty", async () => {
  const storage = await openRclone(join(await makeRoot(), "typo"));
  const list = (prefix?: string) =>
    Array.fromAsync(storage.list({ ...whole, ...(prefix !== undefined && { prefix }) }));
  await expect(list()).rejects.toMatchObject(refused(/is not there/));
  await expect(storage.size("a")).rejects.toMatchObject(refused(/is not there/));
  expect(await list("quarterdeck/")).toEqual([]);
});

test("entries without a size, such as Google documents, hide no other file", async () => {
  const links = ["backup.zst", "document"].map((name) => `<a href="${name}">${name}</a>`);
  const server = await serve((request, response) => {
    if (request.url === "/")
      return response.writeHead(200, { "Content-Type": "text/html" }).end(links.join("\n"));
    const length = request.url === "/document" ? {} : { "Content-Length": 5 };
    return response.writeHead(200, length).end(request.method === "HEAD" ? undefined : "12345");
  });
  const config = `[served]\ntype = http\nurl = http://127.0.0.1:${server.port}/\n`;
  const storage = rcloneWith(config, "served:");
  expect(await Array.fromAsync(storage.list(whole))).toEqual([{ key: "backup.zst", sizeBytes: 5 }]);
  expect(await storage.size("backup.zst")).toBe(5);
  await expect(storage.size("document")).rejects.toMatchObject(
    refused(/doesn't know the size of document/),
  );
});

describe("a server that stops", () => {
  test("during an upload fails it with a message, and leaves nothing under its name", async () => {
    const root = await makeRoot();
    const server = await serveByRclone("sftp", root);
    const storage = rcloneWith(server.config, "served:");
    const endless = Readable.from(
      (async function* () {
        for (let count = 0; ; count++) {
          if (count === 30) await server.close();
          yield randomBytes(100_000);
        }
      })(),
    );
    await expect(storage.put("a/1/b", endless, whole)).rejects.toMatchObject(
      refused(/closed the connection|refused the connection|can't be used/),
    );
    expect(endless.destroyed).toBe(true);
    expect(await contentsOf(root)).not.toContain("b");
  });

  test("during a download breaks the stream off", async () => {
    const root = await makeRoot();
    const server = await serveByRclone("sftp", root);
    const storage = rcloneWith(server.config, "served:");
    await writeFile(join(root, "b"), Buffer.alloc(40_000_000));
    const read = await storage.get("b", whole);
    await once(read, "readable");
    await server.close();
    await expect(buffer(read)).rejects.toMatchObject({ name: "StorageError" });
  });
});

describe("a bucket by rclone", () => {
  let root: string;
  let gate: Gate;
  beforeAll(async () => {
    root = await makeFolder(() => undefined);
    gate = await startS3(root);
  });
  afterAll(() => gate.close());
  beforeEach(() => gate.rule(() => "pass"));
  const open = (idleMs = 60_000) =>
    createRcloneStorage({
      host: hostOf(),
      config: { text: rcloneBucketOf(gate.options) },
      remote: "bucket:copies/q",
      idleMs,
    });
  const put = (storage = open()) =>
    storage.put("a/b", Readable.from([randomBytes(6_000_000)]), whole);

  const refusals: Record<string, [(asked: string) => "pass" | number, RegExp]> = {
    "refuses a part": [
      (asked) => (asked.includes("partNumber=2") ? 403 : "pass"),
      /denies the access/,
    ],
    "fails with each part": [
      (asked) => (asked.includes("partNumber=1") ? 500 : "pass"),
      /can't be used/,
    ],
    "cannot name it": [
      (asked) => (asked === "PUT /copies/q/a/b" ? 403 : "pass"),
      /denies the access/,
    ],
  };
  test.each(casesOf(refusals, ["refuses a part", "cannot name it"]))(
    "that %s ends the upload with a message and leaves nothing",
    { timeout: 60_000 },
    async (_, [rule, words]) => {
      gate.rule(rule);
      await expect(put()).rejects.toMatchObject(refused(words));
      gate.rule(() => "pass");
      expect(await open().size("a/b")).toBeNull();
      expect(await open().size(partial("a/b"))).toBeNull();
    },
  );

  test("that closes a connection during a download gets a request for the rest", async () => {
    const bytes = randomBytes(6_000_000);
    await open().put("a/read", Readable.from([bytes]), whole);
    let cuts = 2;
    gate.rule((asked) => (asked.startsWith("GET /copies/q/a/read") && cuts-- > 0 ? "cut" : "pass"));
    expect((await buffer(await open().get("a/read", whole))).equals(bytes)).toBe(true);
    expect(cuts).toBe(-1);
  });

  inLongForm(() => {
    test("that does not respond ends the upload", { timeout: 120_000 }, async () => {
      gate.rule((asked) => (asked.includes("partNumber=1") ? "hang" : "pass"));
      await expect(put(open(1000))).rejects.toMatchObject({ name: "StorageError" });
    });
  });
});

/** Arguments and environments of processes whose arguments contain a word. */
async function processesWith(word: string): Promise<string> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  // An exited process has none, and the environment of another account's process is not readable.
  const read = (pid: string, what: string) =>
    readFile(`/proc/${pid}/${what}`, "latin1").catch(() => "");
  const found = await Promise.all(
    pids.map(async (pid) => {
      const words = await read(pid, "cmdline");
      return words.includes(word) ? `${words} ${await read(pid, "environ")}` : "";
    }),
  );
  return found.join("").replaceAll("\0", " ");
}
