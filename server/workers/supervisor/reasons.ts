// Why a process is not up, in the operator's words.
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { toError } from "../../to-error.ts";

/** A cause is a sentence without its full stop, so that more can be said in it. */
export const sentence = (cause: string): string => `${cause}.`;

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
 * Why a stop ended in a KILL.
 * @param isLeader whether the process itself was still there, or only what it had started
 */
export const killReason = (isLeader: boolean, waited: number, signal: string): string =>
  isLeader
    ? sentence(`Killed: still running ${seconds(waited)} after ${signal}`)
    : sentence(`Killed child processes still running after ${seconds(waited)}`);

const couldNot = "Couldn't start: ";

export const startCause = (why: string): string => `${couldNot}${why}`;

type Attempt = { program: string; directory: string; path: string };

/** Explains what `spawn` refused; see execve(2), chdir(2) and fork(2). */
export function spawnProblem(error: unknown, attempt: Attempt): string {
  const { program, directory } = attempt;
  const { code, message } = toError(error);
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return missing(program, directory);
    case "EACCES":
    case "EPERM":
      if (!canEnter(directory)) return `no permission to enter the folder ${directory}`;
      // One folder of PATH that may not be entered turns "not found" into this, see execvp(3).
      return isAnywhere(attempt)
        ? `no permission to execute ${program}`
        : `${program} was not found`;
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

function missing(program: string, directory: string): string {
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory())
    return `the folder ${directory} does not exist`;
  const path = isAbsolute(program) ? program : resolve(directory, program);
  return program.includes("/") && existsSync(path)
    ? `the interpreter in the first line of ${program} was not found`
    : `${program} was not found`;
}

const isAnywhere = ({ program, path }: Attempt): boolean =>
  program.includes("/") || path.split(":").some((folder) => existsSync(join(folder, program)));

function canEnter(directory: string): boolean {
  try {
    accessSync(directory, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** What the file system refused, as a part of a sentence. */
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
