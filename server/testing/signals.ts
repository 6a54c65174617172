/** Signals a process. Tests use no other way: kill(2) takes 0 as the own process group and -1 as all processes, so a missing pid would end the run. */
export function sendSignal(pid: number | null | undefined, signal: NodeJS.Signals): void {
  process.kill(positive(pid), signal);
}

/** Signals a child that was spawned detached, with all processes of its group. */
export function signalGroup(leader: number | null | undefined, signal: NodeJS.Signals | 0): void {
  process.kill(-positive(leader), signal);
}

export function isAlive(pid: number | null | undefined): boolean {
  if (pid === null || pid === undefined) return false;
  try {
    return process.kill(positive(pid), 0);
  } catch {
    return false;
  }
}

function positive(pid: number | null | undefined): number {
  if (typeof pid !== "number" || pid <= 1) throw new Error(`There is no process ${pid} to signal.`);
  return pid;
}
