// Finds processes of a database that this process did not start, and ends them with signals.
import { readFile, readdir, readlink } from "node:fs/promises";
import { platform } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runCommand } from "./command.ts";
import type { Place } from "./place.ts";
import { clusterName } from "./settings.ts";
import { toError } from "../../to-error.ts";

const pollMs = 15;
const forceDeadlineMs = 5000;

/**
 * Content of postmaster.pid, which a running or killed server leaves in its data:
 * https://www.postgresql.org/docs/18/storage-file-layout.html
 */
export type PostmasterFile = { pid: number; isReady: boolean; socketFolder: string };

export async function readPostmasterFile(
  place: Pick<Place, "data">,
): Promise<PostmasterFile | null> {
  const text = await readFile(postmasterFilePath(place), "utf8").catch(() => null);
  if (text === null) return null;
  const lines = text.split("\n");
  return {
    pid: Math.abs(Number.parseInt(lines[0] ?? "", 10)) || 0,
    isReady: lines[7]?.trim() === "ready",
    socketFolder: lines[4] ?? "",
  };
}

export const postmasterFilePath = (place: Pick<Place, "data">) =>
  join(place.data, "postmaster.pid");

/** Whether the process is the server of this database, not another program that got the same pid. */
export async function isServer(pid: number, place: Pick<Place, "data">): Promise<boolean> {
  if (pid <= 1) return false;
  const command = await commandOf(pid);
  const [program = ""] = command.split(/[ \0]/);
  if (basename(program) !== "postgres") return false;
  // The folder may have been moved under the running server; /proc has its new path.
  return command.includes(place.data) || (await folderOf(pid)) === place.data;
}

/** Returns all processes of this database, including those whose server has ended. */
async function findProcesses(place: Pick<Place, "data">): Promise<number[]> {
  const title = `postgres: ${clusterName(place)}: `;
  if (platform() !== "linux") {
    const { output } = await runCommand("ps", ["-ww", "-ax", "-o", "pid=,args="]);
    const lines = output.split("\n").filter((line) => line.includes(title));
    return lines.map((line) => Number.parseInt(line, 10));
  }
  const pids = (await readdir("/proc")).map(Number).filter((pid) => pid > 1);
  const commands = await Promise.all(pids.map((pid) => commandOf(pid)));
  return pids.filter((_, index) => commands[index]?.startsWith(title));
}

/** Whether the process is alive. A zombie is not, although `kill(pid, 0)` succeeds for it. */
export async function isAlive(pid: number): Promise<boolean> {
  if (!send(pid, 0)) return false;
  if (platform() !== "linux") return true;
  const state = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
  // "123 (name) S …"; the name may contain any character, so the last bracket counts.
  return state !== null && !/^[ZX]/.test(state.slice(state.lastIndexOf(")") + 2));
}

/**
 * Sends a signal.
 * @returns false if there is no such process
 */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    // Not permitted, so the process exists.
    return toError(error).code === "EPERM";
  }
}

/** Whether the process ended within `deadlineMs`. */
async function hasEnded(pid: number, deadlineMs: number): Promise<boolean> {
  const end = performance.now() + deadlineMs;
  while (await isAlive(pid)) {
    if (performance.now() > end) return false;
    await sleep(pollMs);
  }
  return true;
}

/** Requests PostgreSQL's fast shutdown: ends all sessions, writes the remaining changes, and exits. */
export const requestShutdown = (pid: number): void => void send(pid, "SIGINT");

/**
 * https://www.postgresql.org/docs/18/server-shutdown.html: tries fast, then immediate (with recovery at the next start), then
 * SIGKILL.
 */
export async function endServer(
  place: Pick<Place, "data">,
  pid: number,
  deadlinesMs: { fast: number; immediate: number },
): Promise<void> {
  requestShutdown(pid);
  // A stopped process only handles the other signals after SIGCONT.
  send(pid, "SIGCONT");
  if (await hasEnded(pid, deadlinesMs.fast)) return;
  send(pid, "SIGQUIT");
  if (await hasEnded(pid, deadlinesMs.immediate)) return;
  send(pid, "SIGKILL");
  await hasEnded(pid, forceDeadlineMs);
  await killOrphans(place);
}

/**
 * Kills the remaining workers of a server that has ended. They may survive in a long query, and prevent PostgreSQL from starting.
 */
export async function killOrphans(place: Pick<Place, "data">): Promise<void> {
  const orphans = await findProcesses(place);
  for (const pid of orphans) send(pid, "SIGKILL");
  await Promise.all(orphans.map((pid) => hasEnded(pid, forceDeadlineMs)));
}

async function commandOf(pid: number): Promise<string> {
  if (platform() === "linux") {
    // Readable for every user, unlike the rest of /proc/PID: root in a container may lack access to another user's process.
    return readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  }
  return (await runCommand("ps", ["-ww", "-o", "args=", "-p", String(pid)])).output;
}

const folderOf = (pid: number) => readlink(`/proc/${pid}/cwd`).catch(() => null);
