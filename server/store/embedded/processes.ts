// The processes of a database that this process did not start: found by what they say of themselves, ended by signals.
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

/** https://www.postgresql.org/docs/18/storage-file-layout.html: what a running server, or one that was killed, leaves in its data. */
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

/** Whether `pid` is the server of this database, and not another program that was given the same number. */
export async function isServer(pid: number, place: Pick<Place, "data">): Promise<boolean> {
  if (pid <= 1) return false;
  const command = await commandOf(pid);
  const [program = ""] = command.split(/[ \0]/);
  if (basename(program) !== "postgres") return false;
  // The folder may have been moved under the running server; the kernel knows its new name.
  return command.includes(place.data) || (await folderOf(pid)) === place.data;
}

/** Every process of this database, also those whose server is gone. */
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

/** False also for a process that has ended and waits to be reaped, which `kill(pid, 0)` calls alive. */
export async function isAlive(pid: number): Promise<boolean> {
  if (!send(pid, 0)) return false;
  if (platform() !== "linux") return true;
  const state = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
  // "123 (name) S …"; the name may hold anything, so the last bracket counts.
  return state !== null && !/^[ZX]/.test(state.slice(state.lastIndexOf(")") + 2));
}

/** Sends `signal`; false if there is no such process. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    // Not allowed: so it is there.
    return toError(error).code === "EPERM";
  }
}

/** Whether `pid` ended within `deadlineMs`. */
async function hasEnded(pid: number, deadlineMs: number): Promise<boolean> {
  const end = performance.now() + deadlineMs;
  while (await isAlive(pid)) {
    if (performance.now() > end) return false;
    await sleep(pollMs);
  }
  return true;
}

/** PostgreSQL's fast shutdown: ends all sessions, writes what is left, and ends. */
export const requestShutdown = (pid: number): void => void send(pid, "SIGINT");

/** https://www.postgresql.org/docs/18/server-shutdown.html: fast, then immediate (recovers at the next start), then by force. */
export async function endServer(
  place: Pick<Place, "data">,
  pid: number,
  deadlinesMs: { fast: number; immediate: number },
): Promise<void> {
  requestShutdown(pid);
  // A frozen process hears the other signals only after this one.
  send(pid, "SIGCONT");
  if (await hasEnded(pid, deadlinesMs.fast)) return;
  send(pid, "SIGQUIT");
  if (await hasEnded(pid, deadlinesMs.immediate)) return;
  send(pid, "SIGKILL");
  await hasEnded(pid, forceDeadlineMs);
  await killOrphans(place);
}

/** Ends the workers of a server that is gone. They may live on amid a long query, and as long as they do PostgreSQL does not start. */
export async function killOrphans(place: Pick<Place, "data">): Promise<void> {
  const orphans = await findProcesses(place);
  for (const pid of orphans) send(pid, "SIGKILL");
  await Promise.all(orphans.map((pid) => hasEnded(pid, forceDeadlineMs)));
}

async function commandOf(pid: number): Promise<string> {
  if (platform() === "linux") {
    // Readable for everybody, unlike the rest: root in a container may not look into another user's process.
    return readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  }
  return (await runCommand("ps", ["-ww", "-o", "args=", "-p", String(pid)])).output;
}

const folderOf = (pid: number) => readlink(`/proc/${pid}/cwd`).catch(() => null);
