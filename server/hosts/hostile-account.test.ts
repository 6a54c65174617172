// What an account does to its own processes and folders must not affect the service.
import { execFile } from "node:child_process";
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { findAccount, type Account } from "./account.ts";
import { createLocalHost } from "./local.ts";
import { createScratch } from "./scratch.ts";
import { tellSignals } from "./testing/signals.ts";

const isRoot = userInfo().uid === 0;
const host = createLocalHost({ PATH: process.env["PATH"] ?? "", HOME: "/nowhere" });
const run = promisify(execFile);

async function nobody(): Promise<Account> {
  const account = await findAccount("nobody");
  if (account === null) throw new Error("this machine has no account nobody");
  return account;
}

/** Bit of signal 10 in the masks of /proc/PID/status. */
const sigusr1 = 1n << 9n;

test.runIf(isRoot)(
  "a task's process opens no debugger when its account sends SIGUSR1",
  async () => {
    const status = await host.as(await nobody()).perform(tellSignals, null);
    const caught = BigInt(`0x${/^SigCgt:\s+(\w+)/m.exec(status)?.[1] ?? ""}`);
    expect(caught & sigusr1).toBe(0n);
  },
);

test.runIf(isRoot)(
  "the start clears an account's scratch folder, however much it contains",
  async () => {
    const data = await mkdtemp(join(tmpdir(), "quarterdeck-hostile-"));
    onTestFinished(() => rm(data, { recursive: true, force: true }));
    await chmod(data, 0o711);
    const its = host.as(await nobody());
    const scratch = await createScratch(data, host);
    const folder = await scratch.folderOf(its);
    await its.run({
      argv: ["sh", "-c", 'seq -f "dump-%0240.0f" 10000 | xargs touch'],
      folder,
    });
    await scratch.clear((name) => name.startsWith("dump-"));
    expect(await readdir(folder)).toEqual([]);
  },
);

test("a command of an account does not inherit files that the service was started with", async () => {
  const program = `
    import { closeInheritedFiles } from ${JSON.stringify(new URL("../environment/inherited-files.ts", import.meta.url).href)};
    import { createLocalHost } from ${JSON.stringify(new URL("local.ts", import.meta.url).href)};
    closeInheritedFiles();
    const host = createLocalHost({ PATH: process.env.PATH, HOME: "/" });
    process.stdout.write((await host.run({ argv: ["ls", "/proc/self/fd"] })).stdout);
  `;
  const { stdout } = await run("bash", [
    "-c",
    `exec "$0" --input-type=module -e "$1" 100</dev/null`,
    process.execPath,
    program,
  ]);
  expect(stdout).toMatch(/^0\n1\n2\n/);
  expect(stdout.split("\n")).not.toContain("100");
});
