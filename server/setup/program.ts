// Runs the programs of `npm test`, and ends all that they started when it is interrupted.
import { spawn, type ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { leashed } from "../testing/leash.ts";
import { signalGroup } from "../testing/signals.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** How long a program that was interrupted may take for its own end. */
const graceMs = 20_000;

const running = new Set<ChildProcess>();
let interruptedBy: NodeJS.Signals | null = null;

/** Interrupts what runs, once: most programs take a second signal as an order to leave everything lying. */
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
  /** Open for writing; takes what it says. Left out: the terminal. */
  output?: number;
};

/**
 * Runs a program in a process group of its own: a terminal's Ctrl-C reaches it through `watchInterrupts` alone.
 * @returns whether it ended with 0 and nobody interrupted it
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

/** Waits for those that a program left behind, and kills them when they stay. */
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
