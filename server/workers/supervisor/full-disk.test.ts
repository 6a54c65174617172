// Tests a full disk below the logs of workers: a small file system, which only root can mount.
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  closeSync,
  existsSync,
  readFileSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test, type TestContext } from "vitest";
import { mayHaveWorked } from "./job-lines.ts";
import { logPath, maxLogBytes, openLog } from "./log-files.ts";
import { rotateLog } from "./log-rotation.ts";
import { makeFolder, makeSupervisor, programOf, shell, soon } from "./testing/supervisor.ts";

const megabyte = 1024 * 1024;

function mountSmall({ onTestFinished }: TestContext, folder: string, megabytes: number): void {
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder]);
  onTestFinished(() => void execFileSync("umount", ["--lazy", folder]));
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Fills the file system except for `left` bytes. */
function fill(folder: string, left: number): void {
  writeFileSync(join(folder, "others"), Buffer.alloc(freeBytes(folder) - left));
}

describe.skipIf(process.geteuid?.() !== 0)("On a full disk", () => {
  function makeLog(context: TestContext, megabytes: number): string {
    const folder = makeFolder(context);
    mountSmall(context, folder, megabytes);
    closeSync(openLog(folder));
    appendFileSync(logPath(folder), Buffer.alloc(maxLogBytes, "x"));
    return folder;
  }

  test("a rotation without enough space for its copy is skipped", async (context) => {
    const folder = makeLog(context, 20);
    fill(folder, 8 * megabyte);
    const { mtimeMs } = statSync(folder);
    await expect(rotateLog(folder)).rejects.toThrow("too full");
    expect(statSync(folder).mtimeMs).toBe(mtimeMs);
    expect(statSync(logPath(folder)).size).toBe(maxLogBytes);
  });

  test("a rotation reuses the space of the log that it deletes", async (context) => {
    const folder = makeLog(context, 32);
    writeFileSync(logPath(folder, 1), "newer");
    writeFileSync(logPath(folder, 3), Buffer.alloc(maxLogBytes));
    fill(folder, 4 * megabyte);
    expect(await rotateLog(folder)).toBe(true);
    expect(statSync(logPath(folder, 1)).size).toBe(maxLogBytes);
    expect(readFileSync(logPath(folder, 2), "utf8")).toBe("newer");
    expect(existsSync(logPath(folder, 3))).toBe(false);
  });

  test("reading a log reports that output is lost, and no job is missing from it", async (context) => {
    const supervisor = makeSupervisor(context);
    const workers = join(supervisor.folder, "workers");
    mountSmall(context, workers, 1);
    context.onTestFinished(() => supervisor.stopAll());
    supervisor.start(programOf(1, { args: shell("echo ok; exec sleep 300") }));
    const read = () => supervisor.readLog(1, { lines: 5 });
    await expect.poll(async () => (await read()).text, soon).toBe("ok\n");
    expect((await read()).problem).toBeUndefined();
    fill(workers, 0);
    expect(await read()).toMatchObject({
      text: "ok\n",
      problem: "The disk that the log is on is full, so new output is lost. Free space on it.",
    });
    expect(mayHaveWorked(join(workers, "1"), ["php", "artisan"], 0)).toBe(true);
  });
});
