// Reads from the logs of supervisord and its processes how they ended.
import { folderProblem } from "../supervisor/reasons.ts";
import { readTail } from "./files.ts";
import type { Machine } from "./machine.ts";
import type { Observed } from "./observed.ts";
import { failedMethod, isAway, type Rpc } from "./rpc.ts";
import { RpcFault } from "./xml-rpc.ts";

/** How much of the end of supervisord's log is read. */
const logBytes = 32 * 1024;
/** How much of the end of a process's log is read, for a message of supervisord. */
const unstartedBytes = 2048;

/** How a process ended. */
export type ProcessExit = {
  code: number | null;
  signal: string | null;
  /** Why the command could not be executed, as a part of a sentence; left out where it was, or that is unknown. */
  unstarted?: string;
};

/** Exit code of a process of supervisord that could not execute its command. */
const unstartedCode = 127;

/** A process that has ended: its name, the path of its log, and what supervisord shows of it since. */
type Ended = { name: string; log: string; seen: Pick<Observed, "stop" | "exitCode"> };

export const unknownExit: ProcessExit = { code: null, signal: null };

/** Every offset of a time zone is a multiple of this. */
const zoneStepSeconds = 15 * 60;
/** How long after the end of a process supervisord may write its line. */
const lineDelaySeconds = 5;

/**
 * Returns the newest exit of a process. supervisord keeps no exit code of a failed start, and any other only until the next start;
 * its log has all of them, except those that its `loglevel` leaves out, hence the comparison with the time of the end.
 * @param log the end of supervisord's own log, whose times are those of an unknown time zone
 */
function findExit(log: string, { name, seen }: Ended): ProcessExit {
  const lines = log.matchAll(
    /^(\S+) ([\d:]+)\S* \w+ (?:exited|stopped): (\S+) \((?:exit status (\d+)|terminated by (SIG\w+))/gm,
  );
  const [, , , , code, signal] =
    [...lines].findLast(([, date, time, of]) => {
      const seconds = Date.parse(`${date}T${time}Z`) / 1000 - seen.stop;
      const delay = ((seconds % zoneStepSeconds) + zoneStepSeconds) % zoneStepSeconds;
      return of === name && delay < lineDelaySeconds;
    }) ?? [];
  if (seen.exitCode !== null) return { code: seen.exitCode, signal: null };
  return { code: code === undefined ? null : Number(code), signal: signal ?? null };
}

/**
 * Returns the message of a process that could not execute its command.
 * @param log the end of its log
 * @returns a part of a sentence; null where there is no such message
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

/** Most bytes of a character after its first one. */
const cutBytes = 3;

/**
 * Returns the end of a log; "" where it cannot be read, e.g. because there is none; null where it is not UTF-8, which
 * supervisord cannot send.
 * @param names of the process; none = the log of supervisord itself
 */
async function readEnd(rpc: Rpc, bytes: number, method: string, ...names: readonly string[]) {
  // supervisord counts bytes, so what it reads may begin within a character.
  for (let cut = 0; cut <= cutBytes; cut += 1)
    try {
      const text = await rpc(method, ...names, cut - bytes, 0);
      return typeof text === "string" ? text : "";
    } catch (error) {
      if (isAway(error)) throw error;
      if (!(error instanceof RpcFault) || error.code !== failedMethod) return "";
    }
  return null;
}

/** Returns how processes have ended, by their names. */
export async function readExits(
  { rpc, machine }: { rpc: Rpc; machine: Machine },
  ended: readonly Ended[],
): Promise<Map<string, ProcessExit>> {
  const own = (await readEnd(rpc, logBytes, "readLog")) ?? "";
  const exits = new Map(ended.map((one) => [one.name, findExit(own, one)]));
  for (const { name, log } of ended) {
    const exit = exits.get(name);
    if (exit?.code !== unstartedCode) continue;
    const end =
      (await readEnd(rpc, unstartedBytes, "readProcessStdoutLog", name)) ??
      (await readTail(machine, log, unstartedBytes).catch((error: unknown) => {
        if (isAway(error)) throw error;
        return "";
      }));
    const unstarted = parseUnstarted(end);
    if (unstarted !== null) exits.set(name, { ...exit, unstarted });
  }
  return exits;
}
