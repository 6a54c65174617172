// Builds the argument list that runs a command as another account, in a folder entered as that account.
import type { Account } from "./account.ts";

type Argv = readonly [string, ...string[]];

/**
 * setpriv sets all groups of the account, which `spawn` with a uid drops. `env` enters the folder after the change of account:
 * `spawn` would enter it before, as root, and so through folders that the account may not pass.
 */
export const asAccount = ({ uid, gid, name }: Account, folder: string, argv: Argv): Argv => [
  "setpriv",
  `--reuid=${uid}`,
  `--regid=${gid}`,
  // Only an account with a name can be in other groups.
  name === "" ? "--clear-groups" : "--init-groups",
  "--",
  ...enterFolder(folder, argv),
];

/**
 * Builds the argument list that enters a folder first. `spawn` would enter it before the command begins, and block the service.
 */
export const enterFolder = (folder: string, argv: Argv): Argv => [
  "env",
  `--chdir=${folder}`,
  "--",
  ...argv,
];

/** Environment variables that describe the account. */
export const accountEnvironment = ({ name, home }: Account): Record<string, string> =>
  name === "" ? { HOME: home } : { HOME: home, USER: name, LOGNAME: name };

/** Exit codes of `env` and `setpriv` when they could not start the command, see env(1). */
const startFailures = new Set([125, 126, 127]);

/** @returns why `env` or `setpriv` did not start the command, in their words; null when it was started */
export function startFailure(exitCode: number | null, stderr: string): string | null {
  const line = stderr.trim().split("\n").at(-1) ?? "";
  const isTheirs = /^(?:env|setpriv): /.test(line);
  const isFailure = line.startsWith("setpriv: ")
    ? exitCode !== 0
    : startFailures.has(exitCode ?? 0);
  return isTheirs && isFailure ? line.replace(/^\w+: /, "") : null;
}
