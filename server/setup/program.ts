// Runs the programs of `npm test`, and ends all their processes when it is interrupted.
import { spawn, type ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { leashed } from "../testing/leash.ts";
import { signalGroup } from "../testing/signals.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** How long an interrupted program may take to end. */
const graceMs = 20_000;

const running = new Set<ChildProcess>();
let interruptedBy: NodeJS.Signals | null = null;

/** Interrupts running programs, once: most of them skip their cleanup on a second signal. */
export function watchInterrupts(): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => {
      if (interruptedBy !== null) return;
      interruptedBy = signal;
      for (const child of running) child.kill("SIGINT");
    });
}

export const isInterrupted = (): boolean => interruptedBy !== null;

type ProgramOptions = {
  env?: Record<string, string>;
  /** File descriptor for the output; default: the terminal. */
  output?: number;
};

/**
 * Runs a program in a process group of its own, so that Ctrl-C in a terminal only reaches it through `watchInterrupts`.
 * @returns whether it exited with 0 and was not interrupted
 */
export async function runProgram(
  path: string,
  args: readonly string[],
  { env = {}, output }: ProgramOptions = {},
): Promise<boolean> {
  if (isInterrupted()) return false;
  const child = spawn(...leashed("INT", path, args), {
    cwd: root,
    stdio: ["ignore", output ?? "inherit", output ?? "inherit"],
    env: { ...process.env, ...env },
    detached: true,
  });
  running.add(child);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", resolve);
  });
  running.delete(child);
  if (isInterrupted()) await endGroup(child);
  return code === 0 && !isInterrupted();
}

/** Waits for processes that a program left behind, and kills them after a while. */
async function endGroup({ pid }: ChildProcess): Promise<void> {
  for (const endMs = Date.now() + graceMs; hasMembers(pid); await sleep(50))
    if (Date.now() > endMs) signalGroup(pid, "SIGKILL");
}

function hasMembers(leader: number | undefined): boolean {
  try {
    signalGroup(leader, 0);
    return true;
  } catch {
    return false;
  }
}
