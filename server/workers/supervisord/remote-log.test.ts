// Tests the local copy of a remote log when it cannot be written.
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test, type TestContext } from "vitest";
import { createLocalHost } from "../../hosts/local.ts";
import { logPath, maxLogBytes } from "../supervisor/log-files.ts";
import { makeFolder } from "../supervisor/testing/supervisor.ts";
import { createRemoteLog } from "./remote-log.ts";

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

function setUp(context: TestContext) {
  const folder = makeFolder(context);
  const serverFolder = makeFolder(context);
  const there = join(serverFolder, "1.log");
  const { PATH = "" } = process.env;
  const machine = {
    run: createLocalHost({ PATH, HOME: "/" }).run,
    openSocket: async (path: string) => path,
    whyClosed: async () => null,
    environment: {},
  };
  const warnings: string[] = [];
  const log = createRemoteLog({
    machine,
    folder,
    files: async () => [{ path: there, isOpen: true }],
    log: { ...silent, warn: (_fields, message) => void warnings.push(message) },
  });
  let end = 0;
  return {
    folder,
    serverFolder,
    warnings,
    write: (text: string) => appendFileSync(there, text),
    /** Reads what was added since the last read, like a page that follows the log. */
    async next() {
      const part = await log.read({ offset: end });
      ({ end } = part);
      return part;
    },
  };
}

/** Returns numbered lines of 1000 bytes each. */
const lines = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `${String(from + index).padEnd(999, ".")}\n`).join(
    "",
  );

test("a log that cannot be rotated is still read, each line once", async (context) => {
  const { folder, warnings, write, next } = setUp(context);
  mkdirSync(join(folder, "log.copy"));
  write("first\n");
  await next();
  const more = lines(0, Math.ceil(maxLogBytes / 1000));
  write(more);
  await next();
  await next();
  expect(readFileSync(logPath(folder), "utf8") === `first\n${more}`).toBe(true);
  expect(warnings).toEqual(["a worker's log was not rotated"]);
  rmdirSync(join(folder, "log.copy"));
  write("after it\n");
  await next();
  expect(readFileSync(logPath(folder, 1), "utf8") === `first\n${more}after it\n`).toBe(true);
});

test.skipIf(process.geteuid?.() !== 0)("reports a full disk on the server", async (context) => {
  const { serverFolder, write, next } = setUp(context);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", serverFolder]);
  context.onTestFinished(() => void execFileSync("umount", ["--lazy", serverFolder]));
  write("before\n");
  expect((await next()).problem).toBeUndefined();
  const { bavail, bsize } = statfsSync(serverFolder);
  writeFileSync(join(serverFolder, "others"), Buffer.alloc(bavail * bsize));
  expect((await next()).problem).toBe(
    "The disk of the server that the log is on is full, so new output is lost. Free space on it.",
  );
});

test.skipIf(process.geteuid?.() !== 0)(
  "reports a full disk here, and reads later what it had no space for",
  async (context) => {
    const { folder, write, next } = setUp(context);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]);
    context.onTestFinished(() => void execFileSync("umount", ["--lazy", folder]));
    write("before\n");
    expect(await next()).toMatchObject({ text: "before\n" });
    const { bavail, bsize } = statfsSync(folder);
    writeFileSync(join(folder, "others"), Buffer.alloc((bavail - 2) * bsize));
    write(lines(0, 20));
    for (let round = 0; round < 3; round += 1)
      expect(await next()).toMatchObject({
        text: "",
        problem:
          "Couldn't store the log on Quarterdeck's machine, so this is what was read before: the disk is full.",
      });
    rmSync(join(folder, "others"));
    expect(await next()).toEqual({
      text: lines(0, 20),
      start: 7,
      end: 20_007,
      rotated: false,
    });
  },
);
