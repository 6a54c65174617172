// Runs short commands to their end, without the service's own environment, which holds secrets and PG… variables.
import { execFile } from "node:child_process";

// Includes the sbin folders, which the PATH of `su` lacks. LC_ALL keeps messages in the language that diagnosis.ts reads.
export const plainEnvironment = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  LC_ALL: "C",
};

/** The account that a program runs as. */
export type Account = {
  uid: number;
  gid: number;
  /** Whether it is the user that this process runs as, so that it needs no change of ownership or modes. */
  isOwn: boolean;
};

export type CommandResult = { exitCode: number | null; output: string };

/**
 * Returns the options of `spawn` that make a program run as the account. Only root may set them, even for the own user with
 * another group.
 */
export const identity = (account?: Account) =>
  account && !account.isOwn ? { uid: account.uid, gid: account.gid } : {};

/**
 * Runs a command, and returns its exit code (null = killed or not found) and output. Never throws.
 * @param input standard input; for secrets, because every account of the machine can read arguments
 */
export function runCommand(
  command: string,
  args: readonly string[],
  account?: Account,
  input = "",
): Promise<CommandResult> {
  return new Promise((resolve) => {
    // The account may not have access to the current folder.
    const options = { ...identity(account), cwd: "/", env: plainEnvironment, maxBuffer: 2 ** 24 };
    const child = execFile(command, args, options, (error, stdout, stderr) => {
      const exitCode = error === null ? 0 : typeof error.code === "number" ? error.code : null;
      const output = `${stdout}${stderr}`;
      resolve({ exitCode, output: output || (error?.message ?? "") });
    });
    // The exit code decides about a program that ends before it has read everything.
    child.stdin?.on("error", () => undefined).end(input);
  });
}
