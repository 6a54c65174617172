// Formats for operators why a process is not up.
import { accessSync, constants, existsSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { startFailure } from "../../hosts/as-account.ts";
import { toError } from "../../to-error.ts";
import { typedFolder } from "./directory.ts";

/** Only for kills by others: `killReason` formats those by Quarterdeck. */
const byKill = "Killed by SIGKILL";
const killHint =
  "Quarterdeck did not send it. Laravel does when a job exceeds its timeout; the kernel does when memory runs out, and says so in its log (journalctl -k).";

/** Completes a cause, which is a sentence without its full stop, so that callers can extend it. */
export const sentence = (cause: string): string =>
  cause.startsWith(byKill) ? `${cause}. ${killHint}` : `${cause}.`;

const seconds = (count: number) => (count === 1 ? "1 second" : `${count} seconds`);

/** @param within the start seconds that the process did not outlive; null where it did */
export function exitCause(
  code: number | null,
  signal: string | null,
  within: number | null,
): string {
  const what =
    code !== null
      ? `Exited with code ${code}`
      : signal !== null
        ? `Killed by ${signal}`
        : "Exited; exit code unknown";
  if (within === null) return what;
  return code === null && signal === null
    ? `Exited within ${seconds(within)}; exit code unknown`
    : `${what} within ${seconds(within)}`;
}

/** @param same whether all the failed starts in a row had this cause */
export function giveUpReason(cause: string, failures: number, same: boolean): string {
  if (failures === 1 || (same && cause.startsWith(couldNot))) return sentence(cause);
  if (same) return sentence(`${cause}, ${failures} times in a row`);
  return `${sentence(cause)} Gave up after ${failures} failed starts.`;
}

/**
 * Returns why a stop needed SIGKILL.
 * @param isLeader whether the process itself was still running, or only what it had started
 */
export const killReason = (isLeader: boolean, waited: number, signal: string): string =>
  isLeader
    ? sentence(`Killed: still running ${seconds(waited)} after ${signal}`)
    : sentence(`Killed child processes still running after ${seconds(waited)}`);

const couldNot = "Couldn't start: ";

export const startCause = (why: string): string => `${couldNot}${why}`;

/** Returns the reason for a process that is blocked before it has executed the program. */
export const notBegun = (place: Parameters<typeof typedFolder>[0]): string =>
  `The program has not begun yet: its folder, ${typedFolder(place)}, or its account doesn't respond.`;

type Attempt = { program: string; directory: string; path: string };

/** Error codes that may concern the folder or the program. */
const ofPaths = new Set(["ENOENT", "ENOTDIR", "EACCES", "EPERM", "ELOOP"]);

/** Explains what `spawn` refused; see execve(2), chdir(2) and fork(2). */
export function spawnProblem(error: unknown, attempt: Attempt): string {
  const { program, directory } = attempt;
  const { code = "", message } = toError(error);
  const inFolder = ofPaths.has(code) ? whyNotEntered(directory) : null;
  if (inFolder !== null) return inFolder;
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return missing(program, directory);
    case "EACCES":
    case "EPERM":
      return executionProblem(attempt);
    case "ELOOP":
      return `${program} is a link that leads nowhere`;
    case "ENOEXEC":
      return `${program} is not an executable for this machine`;
    case "E2BIG":
      return "arguments and environment are too long";
    case "EAGAIN":
    case "ENOMEM":
      return "the machine is out of processes or memory";
    case "EMFILE":
    case "ENFILE":
      return "too many open files";
    default:
      return message;
  }
}

/** Message of `sh`, which runs the command where the folder is checked first. */
const ofShell = /^sh: (?:(?:line )?\d+: )?exec: (.+): (not found|Permission denied)$/;
const ofEnv = /^[‘']?(.+?)[’']?: (No such file or directory|Permission denied)$/;
/** Message of `setpriv`, which looks up the account's groups. */
const ofAccount = /^uid \d+ not found/;
const ofFolder = /^cannot change directory to .*: (.+)$/;

/**
 * Explains why a command could not be started as another account.
 * @param output the whole output of the process, which ends with a message of `env`, `setpriv` or `sh` in that case
 * @returns null where the output has no such message
 */
export function accountProblem(
  exitCode: number | null,
  output: string,
  { directory, path, account }: Omit<Attempt, "program"> & { account: string },
): string | null {
  const isShells = exitCode === 126 || exitCode === 127;
  const shell = isShells ? ofShell.exec(output.trim().split("\n").at(-1) ?? "") : null;
  const words = shell === null ? startFailure(exitCode, output) : `${shell[1]}: ${shell[2]}`;
  if (words === null) return null;
  if (ofAccount.test(words)) return `the account ${account} does not exist`;
  const folder = ofFolder.exec(words)?.[1];
  if (folder !== undefined) return folderProblem(folder, directory);
  const [, program, problem] = shell ?? ofEnv.exec(words) ?? [];
  if (program === undefined) return words;
  return problem === "Permission denied"
    ? executionProblem({ program, directory, path })
    : `${program} was not found`;
}

const codeByWords: Record<string, string> = {
  "No such file or directory": "ENOENT",
  "Not a directory": "ENOTDIR",
  "Permission denied": "EACCES",
  "Too many levels of symbolic links": "ELOOP",
};

/** Returns why a folder cannot be entered. @param problem the system's error code, or its message in the C locale */
export function folderProblem(problem: string, folder: string): string {
  switch (codeByWords[problem] ?? problem) {
    case "ENOENT":
    case "ENOTDIR":
      return `the folder ${folder} does not exist`;
    case "EACCES":
      return `no permission to enter the folder ${folder}`;
    case "ELOOP":
      return `the folder ${folder} is a link that leads nowhere`;
    default:
      return `the folder ${folder} can't be entered: ${problem}`;
  }
}

function missing(program: string, directory: string): string {
  const path = isAbsolute(program) ? program : resolve(directory, program);
  return program.includes("/") && existsSync(path)
    ? `the interpreter in the first line of ${program} was not found`
    : `${program} was not found`;
}

/** execvp(3) reports a missing program as "permission denied" if a folder of PATH may not be entered, so this checks for the file. */
const executionProblem = (attempt: Attempt): string =>
  isAnywhere(attempt)
    ? `no permission to execute ${attempt.program}`
    : `${attempt.program} was not found`;

const isAnywhere = ({ program, path }: Attempt): boolean =>
  program.includes("/") || path.split(":").some((folder) => existsSync(join(folder, program)));

function whyNotEntered(directory: string): string | null {
  try {
    accessSync(`${directory}/.`, constants.X_OK);
    return null;
  } catch (error) {
    return folderProblem(toError(error).code ?? "", directory);
  }
}

/** Returns the file system's error as a part of a sentence. */
export function fileProblem(error: unknown): string {
  const { code, message } = toError(error);
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
      return "the disk is full";
    case "EISDIR":
      return "a folder is in its place";
    case "ELOOP":
      return "a link is in its place";
    case "ENOTDIR":
      return "a file is in place of its folder";
    case "EROFS":
      return "the disk is read-only";
    case "EACCES":
    case "EPERM":
      return "permission denied";
    case "EMFILE":
    case "ENFILE":
      return "too many open files";
    default:
      return message;
  }
}
