// Turns a program into a process: its account, its environment, its log, its own session.
import { spawn } from "node:child_process";
import { closeSync } from "node:fs";
import type { Readable } from "node:stream";
import { ownAccount, type Account } from "../../hosts/account.ts";
import { accountEnvironment, asAccount, enterFolder } from "../../hosts/as-account.ts";
import { mayHang } from "../../hosts/mounts.ts";
import type { Program } from "../process-manager.ts";
import type { ControlGroups } from "./control-groups.ts";
import { checkedArgv, findFolder, typedFolder, watchCheck } from "./directory.ts";
import { leaderOf, markName } from "./process-table.ts";
import { fileProblem, spawnProblem } from "./reasons.ts";
import type { LaunchEvents } from "./slot-ports.ts";

type Launch = {
  program: Program;
  /** Of the worker's processes, counted from 1. */
  number: number;
  groups: ControlGroups;
  /** Goes into the environment, so that the process and its descendants can be found again. */
  mark: string;
  environment: Record<string, string>;
  /** A descriptor that appends; it is closed here. */
  openLog: () => number;
};

/** Where the caller's environment names none. */
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export const pathIn = (environment: Record<string, string>): string =>
  environment["PATH"] ?? defaultPath;

/** Null where it failed; then `failed` follows, never before this has returned. */
export function launch(options: Launch, events: LaunchEvents) {
  const { program, mark, environment } = options;
  const fail = (why: string) => {
    queueMicrotask(() => events.failed(why));
    return null;
  };
  const [command, ...args] = program.args;
  if (command === undefined) return fail("no command is configured");

  if ("problem" in program.account) return fail(program.account.problem.replace(/\.$/, ""));
  const path = pathIn(environment);
  const problemOf = (error: unknown) =>
    spawnProblem(error, { program: command, directory: typedFolder(program), path });

  let log: number;
  try {
    log = options.openLog();
  } catch (error) {
    return fail(`couldn't open the log: ${fileProblem(error)}`);
  }

  try {
    const start = startAs(options, program.account, [command, ...args]);
    if ("problem" in start) return fail(start.problem);
    const [file, ...fileArgs] = start.argv;
    const child = spawn(file, fileArgs, {
      cwd: start.folder,
      env: { ...start.environment, PATH: path, [markName]: mark },
      // A session of its own: a Ctrl-C in the service's terminal is not its business, and a signal
      // to the group reaches all that it started.
      detached: true,
      stdio: ["ignore", log, log, ...(start.isChecked ? (["pipe"] as const) : [])],
    });
    child.on("error", (error) => {
      if (child.pid === undefined) events.failed(problemOf(error));
    });
    // The fourth of the pipes above, which is only read from.
    const report = start.isChecked ? (child.stdio[3] as Readable | null) : null;
    child.once("exit", watchCheck(program, report, events));
    return child.pid === undefined ? null : { leader: leaderOf(child.pid), child };
  } catch (error) {
    return fail(problemOf(error));
  } finally {
    closeSync(log);
  }
}

type Argv = readonly [string, ...string[]];

/** What is spawned, where, and with which environment; `isChecked` = it says on descriptor 3 that its folder is a wrong one. */
type Start = {
  argv: Argv;
  folder: string;
  environment: Record<string, string>;
  isChecked: boolean;
};

/** Whether a process has to become the account first: an ordinary user can become nobody. */
function isOther(account: Program["account"]): boolean {
  const { uid } = ownAccount();
  return uid === 0 && "uid" in account && account.uid !== uid;
}

/** Whether what is started is no command of the program's yet, but what becomes its account or enters its folder. */
export const isIndirect = (program: Program): boolean =>
  isOther(program.account) || mayHang(typedFolder(program));

/** For the command to run as `account` in the program's folder. */
function startAs(
  { program, number, groups, environment }: Launch,
  account: Account,
  argv: Argv,
): Start | { problem: string } {
  // An ordinary user's workers share the service's account and what it was started with.
  const its = ownAccount().uid === 0 ? environmentOf(account, environment) : environment;
  if (!isIndirect(program)) {
    const found = findFolder(program);
    if ("problem" in found) return found;
    return { argv, folder: found.folder, environment: its, isChecked: false };
  }
  const folder = typedFolder(program);
  const checked = checkedArgv(program, argv);
  return {
    argv: isOther(account)
      ? groups.enclose({ worker: program.id, number }, asAccount(account, folder, checked))
      : enterFolder(folder, checked),
    folder: "/",
    environment: its,
    isChecked: program.directory !== null,
  };
}

function environmentOf(account: Account, environment: Record<string, string>) {
  const { HOME: _, USER: __, LOGNAME: ___, ...others } = environment;
  return { ...others, ...accountEnvironment(account) };
}
