import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { PassThrough, Readable, Writable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { callbackify, promisify } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { givenFile } from "../hosts/given-file.ts";
import { CommandMissing } from "../hosts/host.ts";
import {
  caught,
  inPieces,
  expectGone,
  expectRunning,
  openOn,
  openServer,
  uniqueSeconds,
} from "./testing/remote-commands.ts";
import { createSharedSshd, startSshd } from "./testing/sshd.ts";
import { isRoot, makeFolder } from "../testing/machine.ts";
import { openRemoteHost } from "./remote-host.ts";
import { connectTo } from "./testing/connect.ts";
import { isLongForm } from "../testing/long-form.ts";
import { soon } from "../testing/soon.ts";

const shared = createSharedSshd();

/** Starts a server whose tools are those of BusyBox, as on Alpine. */
async function busyBoxServer() {
  const folder = await makeFolder();
  await chmod(folder, 0o755);
  await promisify(execFile)("busybox", ["--install", "-s", folder]);
  return startSshd({ config: `SetEnv PATH=${folder}:/usr/bin:/bin` });
}
const hasBusyBox = existsSync("/usr/bin/busybox") || existsSync("/bin/busybox");
const servers = [
  { tools: "GNU's", start: shared },
  ...(hasBusyBox ? [{ tools: "BusyBox's", start: busyBoxServer }] : []),
];

test.each(servers)(
  "with $tools tools a command reads its input, and returns its exit code and both outputs",
  async ({ start }) => {
    const { host } = await openOn(await start());
    const lines: string[] = [];
    const end = await host.run({
      argv: ["sh", "-c", "cat; echo oh >&2; echo; exit 3"],
      input: Readable.from(["hello"]),
      onErrorLine: (line) => lines.push(line),
    });
    expect(end).toEqual({ exitCode: 3, signal: null, stdout: "hello\n", stderr: "oh\n" });
    expect(lines).toEqual(["oh"]);
  },
);

test("a command has ended, however slowly its output is consumed", async () => {
  const { sshd, host } = await openOn(await shared());
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
  await soon(() => expect(taken.join("")).toBe(`${seconds}\n`));
  await expectGone(sshd, seconds);
  // The connection ends by itself while the end of the output is not consumed; the one left is the master.
  const connections = async () => (await sshd.findRunning(`-p ${sshd.port} `)).length;
  await soon(async () => expect(await connections()).toBe(1));
  closes.resolve();
  expect(await running).toMatchObject({ exitCode: 0 });
});

test.each(servers)(
  "with $tools tools transfers a binary input and output of many megabytes completely",
  async ({ start }) => {
    const { host } = await openOn(await start());
    const bytes = randomBytes(9_000_001);
    const output = new PassThrough();
    const [end, got] = await Promise.all([
      host.run({ argv: ["cat"], input: Readable.from(inPieces(bytes)), output }),
      buffer(output),
    ]);
    expect(end).toMatchObject({ exitCode: 0 });
    expect(got.equals(bytes)).toBe(true);
    const hash = createHash("sha256");
    await host.run({
      argv: ["cat"],
      input: Readable.from(inPieces(bytes)),
      take: async (piece) => void hash.update(piece),
    });
    expect(hash.digest("hex")).toBe(createHash("sha256").update(bytes).digest("hex"));
  },
);

test.each(isLongForm ? (["dash", "bash"] as const) : (["dash"] as const))(
  "10,000 arguments arrive byte for byte through a login by %s",
  async (shell) => {
    const { host } = await openServer({ shell });
    const character = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.constantFrom(
          ..."'\"\\`$!*?[]{}()<>|&;#~%^= \t\n\r\u0001\u007f\u001b".split(""),
        ),
      },
      { weight: 2, arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 1 }) },
      // A lone surrogate is not a character: it arrives as what Node passes to any program.
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

test("passes nothing of the login's environment, and shows the given one in no process list", async () => {
  const { host, sshd } = await openServer({ config: "SetEnv PGHOST=elsewhere" });
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
  // The processes of both sides run on this machine.
  expect(await sshd.findRunning(secret)).toEqual([]);
  abort.abort();
  await expect(running).rejects.toThrow("aborted");
});

test("no shell parses a program's name or its arguments", async () => {
  const { host } = await openOn(await shared());
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

test("reports the signal that ended the program, and its own exit code as well", async () => {
  const { host } = await openOn(await shared());
  expect(await host.run({ argv: ["sh", "-c", "kill -9 $$"] })).toMatchObject({
    exitCode: null,
    signal: "SIGKILL",
  });
  expect(await host.run({ argv: ["sh", "-c", "exit 127"] })).toMatchObject({ exitCode: 127 });
});

test.each(servers)(
  "with $tools tools a program gets a text beside its input",
  async ({ start }) => {
    const { host } = await openOn(await start());
    const texts = ["one\n", "", "x".repeat(300_000)];
    const argv = [
      "sh",
      "-c",
      `cat ${givenFile(0)} ${givenFile(1)}; wc -c <${givenFile(2)}; cat`,
    ] as const;
    const end = await host.run({ argv, given: texts, input: Readable.from(["input"]) });
    expect(end).toMatchObject({ exitCode: 0, stdout: "one\n300000\ninput" });
  },
);

test.each(servers)(
  "with $tools tools a command that has read enough is judged by its exit code",
  async ({ start }) => {
    const { host } = await openOn(await start());
    const endless = Readable.from(
      (function* () {
        for (;;) yield "x".repeat(65_536);
      })(),
    );
    expect(await host.run({ argv: ["head", "-c", "3"], input: endless })).toMatchObject({
      exitCode: 0,
      stdout: "xxx",
    });
  },
);

test.skipIf(!hasBusyBox || !isRoot)(
  "names the program that root lacks to change accounts",
  async () => {
    const sshd = await busyBoxServer();
    const root = await openRemoteHost(await connectTo(sshd, { user: "root" }));
    const running = root
      .as({ uid: 64_100, gid: 64_100, name: "", home: "/" })
      .run({ argv: ["true"] });
    await expect(running).rejects.toThrow(
      `127.0.0.1:${sshd.port} needs setpriv of util-linux to run commands as another account. Install it there (Alpine: apk add setpriv).`,
    );
  },
);

test("does not mistake an input that breaks off for one that ended", async () => {
  const { host, sshd } = await openOn(await shared());
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

test("a failing output ends the command", async () => {
  const { host, sshd } = await openOn(await shared());
  const word = uniqueSeconds();
  const output = new PassThrough();
  output.once("data", () => output.destroy(new Error("no room left")));
  await expect(host.run({ argv: ["yes", word], output })).rejects.toThrow("no room left");
  await expectGone(sshd, word);
});

test("runs 30 simultaneous commands, eight at a time", async () => {
  const { host, sshd } = await openServer({ config: "MaxSessions 9" });
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

test("finds a folder inside another, following links, and nothing outside", async () => {
  const { host, sshd } = await openOn(await shared());
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
