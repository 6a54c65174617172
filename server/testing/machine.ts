// Provides what tests need of the machine: its kind, temporary folders, and killing processes.
import { execFile, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, realpath, rm, stat } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";

export const isRoot = userInfo().uid === 0;
export const isLinux = process.platform === "linux";

/** Without a slash at the end. */
export const projectFolder = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

export type CleanUp = (run: () => Promise<void>) => void;

/** Creates a folder that is removed when the test is over, or when `cleanUp` runs its argument. */
export async function makeFolder(cleanUp: CleanUp = onTestFinished): Promise<string> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), `quarterdeck-made-${process.pid}-`));
  cleanUp(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const run = promisify(execFile);

/**
 * Returns a path of the project that every account can enter, also if the project is below a folder like `/root`. Root only.
 * @param cleanUp runs what it is given in reverse order
 */
export async function openProject(cleanUp: CleanUp = onTestFinished): Promise<string> {
  if (await isOpenToAll(projectFolder)) return projectFolder;
  const open = await makeFolder(cleanUp);
  await chmod(open, 0o711);
  const project = join(open, "project");
  await mkdir(project);
  await run("mount", ["--bind", "-o", "ro", projectFolder, project]);
  cleanUp(async () => void (await run("umount", ["--lazy", project])));
  return project;
}

async function isOpenToAll(folder: string): Promise<boolean> {
  const { mode } = await stat(folder);
  if ((mode & 0o001) === 0) return false;
  return folder === "/" || isOpenToAll(dirname(folder));
}

/** Kills a process like the kernel's OOM killer, and waits until it has exited. */
export async function kill(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}
