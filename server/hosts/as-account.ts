// The argument list that runs a command as another account, with the folder entered as that account.
import type { Account } from "./account.ts";

type Argv = readonly [string, ...string[]];

/**
 * setpriv gives the account all of its groups, which `spawn` with a uid takes away. `env` enters the folder after the
 * change of account: `spawn` would enter it before, as root, and what the account may not pass through would not count.
 */
export const asAccount = ({ uid, gid, name }: Account, folder: string, argv: Argv): Argv => [
  "setpriv",
  `--reuid=${uid}`,
  `--regid=${gid}`,
  // Only an account with a name can be a member of more groups.
  name === "" ? "--clear-groups" : "--init-groups",
  "--",
  ...enterFolder(folder, argv),
];

/** The argument list that enters a folder first. `spawn` would do it before the command begins, and the service waits for that. */
export const enterFolder = (folder: string, argv: Argv): Argv => [
  "env",
  `--chdir=${folder}`,
  "--",
  ...argv,
];

/** What the account finds in its environment about itself. */
export const accountEnvironment = ({ name, home }: Account): Record<string, string> =>
  name === "" ? { HOME: home } : { HOME: home, USER: name, LOGNAME: name };

/** Exit codes of `env` and `setpriv` when they could not start the command, see env(1). */
const startFailures = new Set([125, 126, 127]);

/** @returns why the command was not started, in `env`'s or `setpriv`'s words; null when it was */
export function startFailure(exitCode: number | null, stderr: string): string | null {
  const line = stderr.trim().split("\n").at(-1) ?? "";
  const isTheirs = /^(?:env|setpriv): /.test(line);
  const isFailure = line.startsWith("setpriv: ")
    ? exitCode !== 0
    : startFailures.has(exitCode ?? 0);
  return isTheirs && isFailure ? line.replace(/^\w+: /, "") : null;
}
