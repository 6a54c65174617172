// Measures the CPU time of a service.
import { readdir, readFile } from "node:fs/promises";
import { ticksPerSecond } from "../server/workers/supervisor/group-usage.ts";
import { median } from "./report.ts";

type Found = { parent: number; name: string; seconds: number; ended: number };

type CpuSeconds = {
  own: number;
  /** CPU time of its children that have ended. */
  ended: number;
  /** CPU time of its running descendants, by program name. */
  below: Record<string, number>;
};

export async function cpuSecondsOf(pid: number): Promise<CpuSeconds> {
  const all = new Map<number, Found>();
  for (const number of await readdir("/proc")) {
    if (!/^\d+$/.test(number)) continue;
    const stat = await readFile(`/proc/${number}/stat`, "utf8").catch(() => "");
    const [, name = "", rest = ""] = /^\d+ \((.*)\) (.*)$/s.exec(stat) ?? [];
    // State, parent, nine others, time in user and system mode, the same of children that have ended.
    const fields = rest.split(" ").map(Number);
    const [, parent = 0] = fields;
    const secondsAt = (index: number) =>
      ((fields[index] ?? 0) + (fields[index + 1] ?? 0)) / ticksPerSecond;
    all.set(Number(number), { parent, name, seconds: secondsAt(11), ended: secondsAt(13) });
  }
  const isBelow = ({ parent }: Found): boolean => {
    if (parent === pid) return true;
    const above = all.get(parent);
    return above !== undefined && isBelow(above);
  };
  const below: Record<string, number> = {};
  for (const found of all.values())
    if (isBelow(found)) below[found.name] = (below[found.name] ?? 0) + found.seconds;
  const { seconds: own = 0, ended = 0 } = all.get(pid) ?? {};
  return { own, ended, below };
}

/**
 * Measures CPU time, which is more meaningful than wall time on a shared machine: of the service or of a bare pipeline,
 * with their programs.
 */
export function watchCpu(servicePid: number) {
  const own: number[] = [];
  const bare: number[] = [];
  const during = async (pid: number, found: number[], work: () => Promise<unknown>) => {
    const before = await cpuSecondsOf(pid);
    await work();
    const after = await cpuSecondsOf(pid);
    // For a bare pipeline, this process only waits, so its own time is excluded.
    const self = pid === servicePid ? after.own - before.own : 0;
    found.push(self + after.ended - before.ended);
  };
  return {
    ofOwn: (work: () => Promise<unknown>) => during(servicePid, own, work),
    ofBare: (work: () => Promise<unknown>) => during(process.pid, bare, work),
    told: () => `processor time ${median(own).toFixed(2)} s against ${median(bare).toFixed(2)} s`,
  };
}
