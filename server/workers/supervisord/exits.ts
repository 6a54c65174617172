// How processes of supervisord ended, as its log and theirs say.
import { folderProblem } from "../supervisor/reasons.ts";
import { isAway, type Rpc } from "./rpc.ts";
import type { RpcArgument } from "./xml-rpc.ts";

/** So much of the end of supervisord's log tells how processes ended. */
const logBytes = 32 * 1024;
/** Of the end of a process's own log, for the words of supervisord. */
const unstartedBytes = 2048;

/** How a process ended. */
export type ProcessExit = {
  code: number | null;
  signal: string | null;
  /** What kept it from running its command, as the rest of a sentence; left out where it ran, or that is not known. */
  unstarted?: string;
};

/** With which a process ends that supervisord has made and that could not become the command. */
const unstartedCode = 127;

export const unknownExit: ProcessExit = { code: null, signal: null };

/**
 * The newest end of each process by its name. supervisord forgets the exit code of a failed start, and that of any other
 * with the next one; its log has them all.
 * @param log the end of supervisord's own log
 */
function parseExits(log: string): Map<string, ProcessExit> {
  const ends = log.matchAll(
    / (?:exited|stopped): (\S+) \((?:exit status (\d+)|terminated by (SIG\w+))/g,
  );
  return new Map(
    [...ends].map(([, name = "", code, signal]) => [
      name,
      { code: code === undefined ? null : Number(code), signal: signal ?? null },
    ]),
  );
}

/**
 * What such a process says.
 * @param log the end of its log
 * @returns the rest of a sentence; null where it says nothing
 */
function parseUnstarted(log: string): string | null {
  const told =
    /(?:^|\n)supervisor: (couldn't .+)\nsupervisor: child process was not spawned\n?$/.exec(
      log,
    )?.[1];
  if (told === undefined) return null;
  const [, folder, code = ""] = /^couldn't chdir to (.+): (E\w+)$/.exec(told) ?? [];
  if (folder === undefined) return told.replace(/^couldn't /, "supervisord couldn't ");
  return folderProblem(code, folder);
}

/** The end of a log; nothing where it is written to nowhere. */
async function readEnd(rpc: Rpc, method: string, ...args: readonly RpcArgument[]) {
  try {
    const text = await rpc(method, ...args);
    return typeof text === "string" ? text : "";
  } catch (error) {
    if (isAway(error)) throw error;
    return "";
  }
}

/** How processes have ended, by their names. */
export async function readExits(
  rpc: Rpc,
  names: readonly string[],
): Promise<Map<string, ProcessExit>> {
  const exits = parseExits(await readEnd(rpc, "readLog", -logBytes, 0));
  for (const name of names) {
    const exit = exits.get(name);
    if (exit?.code !== unstartedCode) continue;
    const log = await readEnd(rpc, "readProcessStdoutLog", name, -unstartedBytes, 0);
    const unstarted = parseUnstarted(log);
    if (unstarted !== null) exits.set(name, { ...exit, unstarted });
  }
  return exits;
}
