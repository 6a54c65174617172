// Short commands, run to their end, with nothing of the service's own environment (which holds secrets and PG… variables).
import { execFile } from "node:child_process";

// With the sbin folders, which the PATH of `su` lacks. LC_ALL keeps messages in the language that diagnosis.ts reads.
export const plainEnvironment = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  LC_ALL: "C",
};

/** Whom a program runs as. */
export type Account = {
  uid: number;
  gid: number;
  /** It is the user this process runs as, so nothing is to be given to it or kept open for it. */
  isOwn: boolean;
};

export type CommandResult = { exitCode: number | null; output: string };

/** The part of a spawn's options that makes it run as `account`. An ordinary user may name nobody, not even itself by another group. */
export const identity = (account?: Account) =>
  account && !account.isOwn ? { uid: account.uid, gid: account.gid } : {};

/**
 * Runs `command` and answers with its exit code (null: killed, or not there) and all it printed. Never throws.
 * @param input what it reads; secrets belong here, since every account of the machine can read arguments
 */
export function runCommand(
  command: string,
  args: readonly string[],
  account?: Account,
  input = "",
): Promise<CommandResult> {
  return new Promise((resolve) => {
    // The caller's folder may be closed to the account.
    const options = { ...identity(account), cwd: "/", env: plainEnvironment, maxBuffer: 2 ** 24 };
    const child = execFile(command, args, options, (error, stdout, stderr) => {
      const exitCode = error === null ? 0 : typeof error.code === "number" ? error.code : null;
      const output = `${stdout}${stderr}`;
      resolve({ exitCode, output: output || (error?.message ?? "") });
    });
    // A program that ends before it has read everything is judged by its exit code.
    child.stdin?.on("error", () => undefined).end(input);
  });
}
