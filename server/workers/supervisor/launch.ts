// Turns a program into a process: its account, its environment, its log, its own session.
import { spawn, type ChildProcess } from "node:child_process";
import { closeSync } from "node:fs";
import { accountOf } from "./account.ts";
import { leaderOf, markName } from "./process-table.ts";
import type { Leader, Program } from "./program.ts";
import { fileProblem, spawnProblem } from "./reasons.ts";
import type { LaunchEvents } from "./slot-ports.ts";

type Launch = {
  program: Program;
  /** Goes into the environment, so that the process and its descendants can be found again. */
  mark: string;
  environment: Record<string, string>;
  /** A descriptor that appends; it is closed here. */
  openLog: () => number;
};

export type Launched = { leader: Leader; child: ChildProcess };

/** Where the caller's environment names none. */
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

const isRoot = () => process.geteuid?.() === 0;

/** Null where it failed; then `failed` follows, never before this has returned. */
export function launch({ program, mark, environment, openLog }: Launch, events: LaunchEvents) {
  const fail = (why: string) => {
    queueMicrotask(() => events.failed(why));
    return null;
  };
  const [command, ...args] = program.args;
  if (command === undefined) return fail("it has no command");

  const path = environment["PATH"] ?? defaultPath;
  const problemOf = (error: unknown) =>
    spawnProblem(error, { program: command, directory: program.directory, path });

  let identity: ReturnType<typeof identityIn>;
  try {
    identity = identityIn(program.directory, environment);
  } catch (error) {
    return fail(problemOf(error));
  }

  let log: number;
  try {
    log = openLog();
  } catch (error) {
    return fail(`its log could not be opened: ${fileProblem(error)}`);
  }

  try {
    const child = spawn(command, args, {
      cwd: program.directory,
      env: { ...identity.environment, PATH: path, [markName]: mark },
      ...identity.ids,
      // A session of its own: a Ctrl-C in the service's terminal is not its business, and a signal
      // to the group reaches all that it started.
      detached: true,
      stdio: ["ignore", log, log],
    });
    child.on("error", (error) => {
      if (child.pid === undefined) events.failed(problemOf(error));
    });
    child.once("exit", events.exited);
    return child.pid === undefined ? null : { leader: leaderOf(child.pid), child };
  } catch (error) {
    return fail(problemOf(error));
  } finally {
    closeSync(log);
  }
}

/** With `uid` given, libuv also drops the service's supplementary groups, see uv_spawn. */
function identityIn(directory: string, inherited: Record<string, string>) {
  if (!isRoot()) return { environment: inherited, ids: {} };
  const account = accountOf(directory);
  const { HOME: _, USER: __, LOGNAME: ___, ...others } = inherited;
  return {
    environment: { ...others, ...account.environment },
    ids: account.uid === 0 ? {} : { uid: account.uid, gid: account.gid },
  };
}
