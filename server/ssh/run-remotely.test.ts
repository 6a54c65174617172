import { createHash, randomBytes } from "node:crypto";
import { PassThrough, Readable, Writable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { finished } from "node:stream/promises";
import { callbackify } from "node:util";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { CommandMissing } from "../hosts/host.ts";
import { isRoot } from "../testing/machine.ts";
import { openRemoteHost } from "./remote-host.ts";
import { ServerAway } from "./server-away.ts";
import { connectTo } from "./testing/connect.ts";
import { startSshd, type TestSshd } from "./testing/sshd.ts";

async function open(options?: Parameters<typeof startSshd>[0]) {
  const sshd = await startSshd(options);
  const connection = await connectTo(sshd);
  return { sshd, connection, host: await openRemoteHost(connection) };
}

/** A number that nothing else on this machine has in its command line. */
const uniqueSeconds = () => String(10_000_000 + Math.floor(Math.random() * 80_000_000));

const expectRunning = (sshd: TestSshd, text: string) =>
  vi.waitFor(async () => expect(await sshd.findRunning(text)).not.toEqual([]), {
    timeout: 20_000,
    interval: 50,
  });
const expectGone = (sshd: TestSshd, text: string) =>
  vi.waitFor(async () => expect(await sshd.findRunning(text)).toEqual([]), {
    timeout: 20_000,
    interval: 50,
  });

const caught = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => null,
    (error: unknown) => error,
  );

test("a command reads its input, and answers its code and both its outputs", async () => {
  const { host } = await open();
  const lines: string[] = [];
  const end = await host.run({
    argv: ["sh", "-c", "cat; echo oh >&2; echo; exit 3"],
    input: Readable.from(["hello"]),
    onErrorLine: (line) => lines.push(line),
  });
  expect(end).toEqual({ exitCode: 3, signal: null, stdout: "hello\n", stderr: "oh\n" });
  expect(lines).toEqual(["oh"]);
});

test("a command has ended however long its output takes to be taken", async () => {
  const { sshd, host } = await open();
  const closes = Promise.withResolvers<void>();
  const taken: string[] = [];
  const output = new Writable({
    write(piece: Buffer, _encoding, done) {
      taken.push(piece.toString());
      done();
    },
    final: callbackify(() => closes.promise),
  });
  const seconds = uniqueSeconds();
  const running = host.run({ argv: ["sh", "-c", `echo ${seconds}; sleep 0.${seconds}`], output });
  await vi.waitFor(() => expect(taken.join("")).toBe(`${seconds}\n`), { timeout: 20_000 });
  await expectGone(sshd, seconds);
  // The connection goes by itself then, while the end of the output is not taken.
  await Promise.race([running, new Promise((resolve) => setTimeout(resolve, 1000))]);
  closes.resolve();
  expect(await running).toMatchObject({ exitCode: 0 });
});

test("a binary input and output of many megabytes arrive whole", async () => {
  const { host } = await open();
  const bytes = randomBytes(9_000_001);
  const output = new PassThrough();
  const [end, got] = await Promise.all([
    host.run({ argv: ["cat"], input: Readable.from(cut(bytes)), output }),
    buffer(output),
  ]);
  expect(end).toMatchObject({ exitCode: 0 });
  expect(got.equals(bytes)).toBe(true);
  const hash = createHash("sha256");
  await host.run({
    argv: ["cat"],
    input: Readable.from(cut(bytes)),
    take: async (piece) => void hash.update(piece),
  });
  expect(hash.digest("hex")).toBe(createHash("sha256").update(bytes).digest("hex"));
});

function* cut(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += 65_521) yield bytes.subarray(at, at + 65_521);
}

test.each(["dash", "bash"] as const)(
  "10,000 arguments come back byte for byte through a login by %s",
  async (shell) => {
    const { host } = await open({ shell });
    const character = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.constantFrom(
          ..."'\"\\`$!*?[]{}()<>|&;#~%^= \t\n\r\u0001\u007f\u001b".split(""),
        ),
      },
      { weight: 2, arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 1 }) },
      // A half of a surrogate pair is no character: it arrives as what Node makes of it for any program.
      { weight: 1, arbitrary: fc.constantFrom("\ud800", "\udfff", "ä", "\u{1f600}", "\u0100") },
    );
    const argument = fc
      .string({ unit: character, maxLength: 20 })
      .map((text) => text.replaceAll("\0", ""));
    const args = fc.sample(argument, 10_000);
    for (let at = 0; at < args.length; at += 2500) {
      const some = args.slice(at, at + 2500);
      const output = new PassThrough();
      const [, got] = await Promise.all([
        host.run({ argv: ["printf", String.raw`%s\0`, ...some], output, isSmall: true }),
        buffer(output),
      ]);
      expect(got.equals(Buffer.from(some.map((text) => `${text}\0`).join("")))).toBe(true);
    }
  },
);

test("nothing of the login's environment gets through, and what is given shows in no process list", async () => {
  const { host, sshd } = await open({ config: "SetEnv PGHOST=elsewhere" });
  const secret = randomBytes(12).toString("hex");
  const { stdout } = await host.run({ argv: ["env"], environment: { PGPASSWORD: secret } });
  const names = stdout
    .trim()
    .split("\n")
    .map((line) => line.split("=")[0] ?? "");
  expect(names.toSorted()).toEqual(
    ["HOME", "LC_ALL", "LOGNAME", "PATH", "PGPASSWORD", "PWD", "USER"].toSorted(),
  );
  expect(stdout).toContain(`PGPASSWORD=${secret}\n`);
  const seconds = uniqueSeconds();
  const abort = new AbortController();
  const running = host.run({
    argv: ["sleep", seconds],
    environment: { PGPASSWORD: secret },
    signal: abort.signal,
  });
  running.catch(() => undefined);
  await expectRunning(sshd, seconds);
  // The processes of both sides are on this machine.
  expect(await sshd.findRunning(secret)).toEqual([]);
  abort.abort();
  await expect(running).rejects.toThrow("aborted");
});

test("no shell reads a program's name or its arguments", async () => {
  const { host } = await open();
  const { stdout } = await host.run({ argv: ["printf", "%s", "$(id); `id` > /tmp/x"] });
  expect(stdout).toBe("$(id); `id` > /tmp/x");
  for (const program of ["eval", "set", "no-such-program", "/no/such/program", "/etc/passwd"])
    expect(await caught(host.run({ argv: [program, "x"] })), program).toBeInstanceOf(
      CommandMissing,
    );
  const nowhere = await caught(host.run({ argv: ["id"], folder: "/no/such/folder" }));
  expect(nowhere).toBeInstanceOf(CommandMissing);
  expect(String(nowhere)).toContain("/no/such/folder");
});

test("a signal that ended the program is told, and an exit code of its own as well", async () => {
  const { host } = await open();
  expect(await host.run({ argv: ["sh", "-c", "kill -9 $$"] })).toMatchObject({
    exitCode: null,
    signal: "SIGKILL",
  });
  expect(await host.run({ argv: ["sh", "-c", "exit 127"] })).toMatchObject({ exitCode: 127 });
});

test("a command that has read enough decides by its code what that means", async () => {
  const { host } = await open();
  const endless = Readable.from(
    (function* () {
      for (;;) yield "x".repeat(65_536);
    })(),
  );
  expect(await host.run({ argv: ["head", "-c", "3"], input: endless })).toMatchObject({
    exitCode: 0,
    stdout: "xxx",
  });
});

test("an input that breaks off is not taken for one that ended", async () => {
  const { host, sshd } = await open();
  const mark = `${sshd.folder}/${sshd.user === "deploy" ? "deploy/" : ""}ended`;
  let reads = 0;
  const broken = new Readable({
    read() {
      reads += 1;
      if (reads < 5) this.push("line\n");
      else this.destroy(new Error("the disk is gone"));
    },
  });
  await expect(
    host.run({ argv: ["sh", "-c", 'cat >/dev/null; echo yes >"$1"', "sh", mark], input: broken }),
  ).rejects.toThrow("the disk is gone");
  await expectGone(sshd, mark);
  expect(await host.run({ argv: ["test", "-e", mark] })).toMatchObject({ exitCode: 1 });
});

test("an output that breaks ends the command", async () => {
  const { host, sshd } = await open();
  const word = uniqueSeconds();
  const output = new PassThrough();
  output.once("data", () => output.destroy(new Error("no room left")));
  await expect(host.run({ argv: ["yes", word], output })).rejects.toThrow("no room left");
  await expectGone(sshd, word);
});

test("30 commands at once all run, eight at a time", async () => {
  const { host, sshd } = await open({ config: "MaxSessions 9" });
  const home = sshd.user === "deploy" ? `${sshd.folder}/deploy` : sshd.folder;
  const count = 'mkdir "$1"; ls -d at-once-* | wc -l; sleep 0.3; rmdir "$1"; exit "$2"';
  const ends = await Promise.all(
    Array.from({ length: 30 }, async (_, index) =>
      host.run({
        argv: ["sh", "-c", count, "sh", `at-once-${index}`, String(index)],
        folder: home,
      }),
    ),
  );
  expect(ends.map(({ exitCode }) => exitCode)).toEqual(Array.from({ length: 30 }, (_, n) => n));
  const most = Math.max(...ends.map(({ stdout }) => Number(stdout)));
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(8);
});

describe("nothing is left running on the server", () => {
  test.each([
    ["that waits", undefined],
    // More than all pipes on the way hold.
    ["that does not read its input", () => Readable.from(cut(randomBytes(20_000_000)))],
  ])("when a command %s is aborted, whatever it started", async (_, input) => {
    const { host, sshd } = await open();
    const seconds = uniqueSeconds();
    const abort = new AbortController();
    const running = host.run({
      argv: ["sh", "-c", `sleep ${seconds} & sleep ${seconds}; true`],
      signal: abort.signal,
      ...(input === undefined ? {} : { input: input() }),
    });
    running.catch(() => undefined);
    await expectRunning(sshd, seconds);
    abort.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    await expectGone(sshd, seconds);
    expect(await host.run({ argv: ["true"] })).toMatchObject({ exitCode: 0 });
  });

  test.each([
    ["that waits", undefined],
    ["that does not read its input", () => Readable.from(cut(randomBytes(20_000_000)))],
  ])("when the connection of a command %s is cut, which is an error", async (_, input) => {
    const { host, sshd } = await open();
    const seconds = uniqueSeconds();
    const running = host.run({
      argv: ["sh", "-c", `sleep ${seconds} & sleep ${seconds}; true`],
      ...(input === undefined ? {} : { input: input() }),
    });
    running.catch(() => undefined);
    await expectRunning(sshd, seconds);
    await sshd.cut();
    expect(await caught(running)).toBeInstanceOf(ServerAway);
    await expectGone(sshd, seconds);
  });

  test("and an output that is cut is never one that ended", async () => {
    const { host, sshd } = await open();
    for (let round = 1; round <= 5; round += 1) {
      let bytes = 0;
      const output = new Writable({
        write(piece: Buffer, _encoding, done) {
          bytes += piece.length;
          done();
        },
      });
      const over = caught(finished(output));
      const running = caught(host.run({ argv: ["cat", "/dev/zero"], output }));
      await vi.waitFor(() => expect(bytes).toBeGreaterThan(round * 1_000_000), { timeout: 20_000 });
      await sshd.cut();
      expect(await running).toBeInstanceOf(ServerAway);
      expect(await over).not.toBeNull();
    }
  });
});

describe.runIf(isRoot)("as another account", () => {
  test("a command runs where sudo allows it, and ends when it is aborted", async () => {
    const { sshd, host } = await open({ sudoers: "deploy ALL=(shop) NOPASSWD: ALL" });
    const shop = host.as({ uid: 64_101, gid: 64_101, name: "shop", home: "/" });
    const who = await shop.run({
      argv: ["sh", "-c", 'id -un; cd; pwd; cat; echo "$WORD"'],
      input: Readable.from(["read\n"]),
      environment: { WORD: "said" },
    });
    expect(who.stdout).toBe(`shop\n${sshd.folder}/shop\nread\nsaid\n`);
    const seconds = uniqueSeconds();
    const abort = new AbortController();
    const running = shop.run({ argv: ["sleep", seconds], signal: abort.signal });
    running.catch(() => undefined);
    await expectRunning(sshd, seconds);
    abort.abort();
    await expect(running).rejects.toThrow("aborted");
    await expectGone(sshd, seconds);
    const other = shop.run({ argv: ["sleep", seconds] });
    other.catch(() => undefined);
    await expectRunning(sshd, seconds);
    await sshd.cut();
    expect(await caught(other)).toBeInstanceOf(ServerAway);
    await expectGone(sshd, seconds);
  });

  test("what is missing is told with the line that grants it", async () => {
    const { host } = await open();
    const shop = host.as({ uid: 64_101, gid: 64_101, name: "shop", home: "/" });
    await expect(shop.run({ argv: ["id"] })).rejects.toThrow("deploy ALL=(shop) NOPASSWD: ALL");
  });
});

test("a folder is found inside another, links followed, and nothing outside", async () => {
  const { host, sshd } = await open();
  const home = sshd.user === "deploy" ? `${sshd.folder}/deploy` : sshd.folder;
  await host.run({
    argv: [
      "sh",
      "-c",
      'mkdir -p "a b/c" out; touch "a b/f"; ln -s ../../out "a b/c/l"; ln -s c "a b/d"',
    ],
    folder: home,
  });
  const root = `${home}/a b`;
  expect(await host.folderInside(root, "c")).toBe(`${root}/c`);
  expect(await host.folderInside(root, "d")).toBe(`${root}/c`);
  expect(await host.folderInside(root, ".")).toBe(root);
  for (const [folder, problem] of [
    ["c/l", "must lie inside the site's folder"],
    ["..", "must lie inside the site's folder"],
    ["/etc", "must lie inside the site's folder"],
    ["f", "must be a folder"],
    ["none", "is not there"],
  ] as const)
    expect(await host.folderInside(root, folder), folder).toEqual({ problem });
});
