// User and password for the command line tools: in a file that only this account can read, there while a tool runs.
// An argument would show them to everyone on the machine.
import { randomBytes } from "node:crypto";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

export type Login = { user: string; password: string };

/** Files of this process that a tool reads right now. */
const inUse = new Set<string>();

/** @param work gets the argument that must stand first, and the environment that goes with it */
export async function withLogin<T>(
  scratchFolder: string,
  login: Login,
  work: (first: string, environment: Record<string, string>) => Promise<T>,
): Promise<T> {
  const name = `mysql-login-${process.pid}-${randomBytes(6).toString("hex")}.cnf`;
  const file = join(scratchFolder, name);
  inUse.add(name);
  try {
    await mkdir(scratchFolder, { recursive: true, mode: 0o700 });
    await writeFile(file, toOptionFile(login), { mode: 0o600, flag: "wx" });
    // The account's own .my.cnf is read after this file and would win; there is none in the scratch folder.
    return await work(`--defaults-extra-file=${file}`, { HOME: scratchFolder });
  } finally {
    await rm(file, { force: true });
    inUse.delete(name);
  }
}

/** Removes what a killed service left; one that runs, this or another, keeps its files. */
export async function removeLeftLogins(scratchFolder: string): Promise<void> {
  for (const name of await readdir(scratchFolder).catch(() => [])) {
    const pid = Number(/^mysql-login-(\d+)-[0-9a-f]{12}\.cnf$/.exec(name)?.[1]);
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
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** https://mariadb.com/kb/en/configuring-mariadb-with-option-files/: in quotes `#` is no comment, a backslash escapes. */
const toOptionFile = ({ user, password }: Login): string =>
  `[client]\n${user === "" ? "" : `user=${quoted(user)}\n`}${password === "" ? "" : `password=${quoted(password)}\n`}`;

const escapes: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const quoted = (text: string): string =>
  `"${text.replace(/[\\"]/g, "\\$&").replace(/[\n\r\t]/g, (found) => escapes[found] ?? "")}"`;
