// Mounts a folder by a FUSE program that can be stopped, so that all access to it hangs as with an unreachable file server.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, type TestContext } from "vitest";
import { makeMemoryFolder } from "./memory-folder.ts";
import { sendSignal } from "./signals.ts";
import { soon } from "./soon.ts";

/** @returns the folder on the disk, the path where it is mounted, and functions that make the mount hang and continue */
export async function mountFolder({ skip }: Pick<TestContext, "skip">) {
  const folder = await makeMemoryFolder("quarterdeck-mount-");
  onTestFinished(() => rm(folder, { recursive: true }));
  const [disk, path] = [join(folder, "disk"), join(folder, "mount")];
  await Promise.all([mkdir(disk), mkdir(path)]);
  // Disables the kernel's cache of attributes and names.
  const options = ["-f", "-o", "attr_timeout=0,entry_timeout=0,negative_timeout=0"];
  const program = spawn("bindfs", [...options, disk, path], { stdio: "ignore" });
  const ended = once(program, "exit");
  const isMounted = async () =>
    expect(await readFile("/proc/self/mountinfo", "utf8")).toContain(` ${path} `);
  const mounted = soon(isMounted).then(() => true);
  if (!(await Promise.race([mounted, ended.then(() => false)])))
    skip("mounting is not allowed here");
  const signal = (name: NodeJS.Signals) => void (program.pid && sendSignal(program.pid, name));
  onTestFinished(async () => {
    signal("SIGCONT");
    signal("SIGTERM");
    await ended;
  });
  const isStopped = async () =>
    expect(await readFile(`/proc/${program.pid}/stat`, "latin1")).toContain(") T ");
  const hang = async () => {
    signal("SIGSTOP");
    await soon(isStopped);
  };
  return { disk, path, hang, goOn: () => signal("SIGCONT") };
}
