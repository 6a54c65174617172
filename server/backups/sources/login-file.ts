// Files with a password for the command line tools: only this account can read one, and it is there while a tool runs.
// An argument would show it to everyone on the machine, the environment of a tool to every program of this account.
import { randomBytes } from "node:crypto";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { toError } from "../../to-error.ts";

/** Files of this process that a tool reads right now. */
const inUse = new Set<string>();

/** @param name of the tool's family, lower-case letters; after it comes what tells whose the file is */
export async function withLoginFile<T>(
  scratchFolder: string,
  name: string,
  text: string,
  work: (file: string) => Promise<T>,
): Promise<T> {
  const own = `${name}-login-${process.pid}-${randomBytes(6).toString("hex")}.cnf`;
  const file = join(scratchFolder, own);
  inUse.add(own);
  try {
    await mkdir(scratchFolder, { recursive: true, mode: 0o700 });
    await writeFile(file, text, { mode: 0o600, flag: "wx" });
    return await work(file);
  } finally {
    await rm(file, { force: true });
    inUse.delete(own);
  }
}

const pattern = /^[a-z]+-login-(\d+)-[0-9a-f]{12}\.cnf$/;

export const isLoginFile = (name: string): boolean => pattern.test(name);

/** Removes what a killed service left; one that runs, this or another, keeps its files. */
export async function removeLeftLogins(scratchFolder: string): Promise<void> {
  for (const name of await readdir(scratchFolder).catch(() => [])) {
    const pid = Number(pattern.exec(name)?.[1]);
    // In a container each service has the same number: then the name tells whose it is.
    const isKept = pid === process.pid ? inUse.has(name) : isRunning(pid);
    if (!Number.isNaN(pid) && !isKept) await rm(join(scratchFolder, name), { force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It runs as someone else.
    return toError(error).code === "EPERM";
  }
}
