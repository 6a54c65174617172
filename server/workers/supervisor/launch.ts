// Starts a process of a worker: as its account, with its environment and log, in a session of its own.
import { spawn } from "node:child_process";
import { closeSync } from "node:fs";
import type { Readable } from "node:stream";
import { ownAccount, type Account } from "../../hosts/account.ts";
import { accountEnvironment, asAccount, enterFolder } from "../../hosts/as-account.ts";
import { mayHang } from "../../hosts/mounts.ts";
import type { Program } from "../processes/process-manager.ts";
import type { ControlGroups } from "./control-groups.ts";
import { checkedArgv, findFolder, typedFolder, watchCheck } from "./directory.ts";
import { leaderOf, markName } from "./process-table.ts";
import { fileProblem, spawnProblem } from "./reasons.ts";
import type { LaunchEvents } from "./slot-ports.ts";

type Launch = {
  program: Program;
  /** Number of the process within its worker, counted from 1. */
  number: number;
  groups: ControlGroups;
  /** Set in the environment, so that the process and its descendants can be found again. */
  mark: string;
  environment: Record<string, string>;
  /** @returns a descriptor open for appending, which `launch` closes */
  openLog: () => number;
};

/** `PATH` where the environment sets none. */
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export const pathIn = (environment: Record<string, string>): string =>
  environment["PATH"] ?? defaultPath;

/** @returns null where the start failed; `failed` is called after that */
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
      // A session of its own, so that Ctrl-C in the service's terminal does not reach it, and a signal to the group reaches all
      // that it started.
      detached: true,
      stdio: ["ignore", log, log, ...(start.isChecked ? (["pipe"] as const) : [])],
    });
    child.on("error", (error) => {
      if (child.pid === undefined) events.failed(problemOf(error));
    });
    // The "pipe" at index 3 of `stdio`, which the service only reads.
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

/** What is spawned, in which folder, with which environment. `isChecked` = descriptor 3 reports a wrong folder. */
type Start = {
  argv: Argv;
  folder: string;
  environment: Record<string, string>;
  isChecked: boolean;
};

/** Whether the process must change its account, which only root can. */
function isOther(account: Program["account"]): boolean {
  const { uid } = ownAccount();
  return uid === 0 && "uid" in account && account.uid !== uid;
}

/** Whether the program is started by a command that changes the account or enters the folder first. */
export const isIndirect = (program: Program): boolean =>
  isOther(program.account) || mayHang(typedFolder(program));

/** @returns how to run the command as `account` in the program's folder */
function startAs(
  { program, number, groups, environment }: Launch,
  account: Account,
  argv: Argv,
): Start | { problem: string } {
  // Without root, workers share the service's account and its environment.
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
